import { describe, expect, test } from "vitest";
import { reply, side, text, user } from "./claude-file.js";
import { importLines } from "./imported.js";

const turn = [user("u1", null, "one"), reply("a1", "u1", "m1", [text("1")])];
const custom = (customTitle: string) => side("custom-title", { customTitle });
const ai = (aiTitle: string) => side("ai-title", { aiTitle });
const summary = (title: string, leafUuid: string) => ({ type: "summary", summary: title, leafUuid });

describe("the title of a session", () => {
  test.each([
    ["the one a person gave last", [custom("mine"), ai("its"), custom("mine too")], "mine too", "user"],
    ["the one a model proposed last", [ai("first"), ai("second"), summary("sum", "a1")], "second", "auto"],
    ["a summary of a record in this file, which may come before it", [summary("sum", "a1")], "sum", "auto"],
  ] as const)("is %s", (_, sides, title, source) => {
    const session = importLines([...sides, ...turn]);
    expect(session.header.title).toBe(title);
    expect(session.records.at(-1)).toEqual({ kind: "title", title, source });
    expect(session.entries).toHaveLength(2);
  });

  test("may have a uuid, as the Agent SDK writes it", () => {
    const session = importLines([...turn, { ...custom("mine"), uuid: "t1", timestamp: "2026-01-01T00:00:00.000Z" }]);
    expect([session.header.title, session.entries.length]).toEqual(["mine", 2]);
  });

  test("is not a summary of another session, which is kept as it is", () => {
    const session = importLines([...turn, summary("other", "not-here")]);
    expect(session.header.title).toBe(undefined);
    expect(session.entries.at(-1)?.payload).toMatchObject({ type: "foreign", originalType: "summary", raw: { summary: "other" } });
  });
});

test("a tag is a value of the session", () => {
  const session = importLines([...turn, side("tag", { tag: "release" })]);
  expect(session.records.at(-1)).toEqual({ kind: "value", key: "claude.tag", value: "release" });
});

describe("every other record without a uuid", () => {
  test("is a foreign entry at its place in the file, with the time of the record before it", () => {
    const session = importLines([side("queue-operation", { operation: "enqueue" }), ...turn, side("mode", { mode: "plan" })]);
    expect(session.entries.map(({ payload }) => (payload.type === "foreign" ? payload.originalType : payload.type))).toEqual([
      "queue-operation",
      "message",
      "message",
      "mode",
    ]);
    expect(session.entries[0]?.createdAtMs).toBe(session.header.createdAtMs);
    expect(session.entries[3]?.createdAtMs).toBe(session.entries[2]?.createdAtMs);
    expect(session.entries[0]?.id).toMatch(/^[0-9a-f]{12}$/);
  });

  test("is reported where it does not say what it is", () => {
    const session = importLines([...turn, { sessionId: "x" }]);
    expect(session.problems).toMatchObject([{ code: "invalid-record", line: 3 }]);
    expect(session.entries.at(-1)?.payload).toMatchObject({ type: "foreign", originalType: "unknown" });
  });
});
