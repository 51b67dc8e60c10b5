import { describe, expect, test } from "vitest";
import { answer, boundary, call, progress, reply, summary, text, user } from "./claude-file.js";
import { branchPoints, importLines, pathOf, payloadOf } from "./imported.js";

const before = [
  user("u1", null, "one"),
  reply("a1", "u1", "m1", [text("1")]),
  user("u2", "a1", "two"),
  reply("a2", "u2", "m2", [text("2")]),
  reply("a3", "a2", "m2", [text("2 again")]),
];
const kept = (uuids: readonly string[]) => ({ trigger: "auto", preTokens: 900, preservedMessages: { anchorUuid: "s1", uuids } });

describe("a boundary and its summary", () => {
  test("are one compaction under the last record before it, with the boundary's id", () => {
    const session = importLines([
      ...before,
      boundary("b1", "a3", { trigger: "auto", preTokens: 900, postTokens: 90, durationMs: 5 }),
      summary("s1", "b1"),
      user("u3", "s1", "three"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
    expect(payloadOf(session, "b1")).toEqual({
      type: "compaction",
      summary: "what was done",
      firstKeptEntryId: null,
      tokensBefore: 900,
      tokensAfter: 90,
      trigger: "threshold",
      compactMetadata: { durationMs: 5 },
    });
    expect(session.problems).toEqual([]);
  });

  test("are found although a hook's report stands between them", () => {
    const session = importLines([...before, boundary("b1", "a3"), progress("p1", "b1"), summary("s1", "p1"), user("u3", "s1", "three")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "p1", "u3"]);
  });

  test("belong together although the summary names no parent", () => {
    const session = importLines([...before, boundary("b1", "a3"), summary("s1", null), user("u3", "s1", "three")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
    expect(payloadOf(session, "b1")).toMatchObject({ type: "compaction", summary: "what was done" });
  });

  test("say `manual` where a person asked for it", () => {
    const session = importLines([...before, boundary("b1", "a3", { trigger: "manual" }), summary("s1", "b1")]);
    expect(payloadOf(session, "b1")).toMatchObject({ trigger: "manual" });
  });

  test("go to the end of the conversation where no parent is named, with a problem where it is not there", () => {
    const unnamed = importLines([...before, boundary("b1", null), summary("s1", "b1")]);
    expect(pathOf(unnamed).slice(-2)).toEqual(["a2", "b1"]);
    expect(unnamed.problems).toEqual([]);
    const lost = importLines([...before, boundary("b1", "elsewhere"), summary("s1", "b1")]);
    expect(pathOf(lost).slice(-2)).toEqual(["a2", "b1"]);
    expect(lost.problems).toMatchObject([{ code: "missing-parent", line: 6 }]);
  });

  test("without its summary, a boundary is kept as it is, and reported", () => {
    const session = importLines([...before, boundary("b1", "a3"), user("u3", "b1", "three")]);
    expect(payloadOf(session, "b1")).toMatchObject({ type: "foreign", originalType: "system/compact_boundary" });
    expect(session.problems).toMatchObject([{ code: "invalid-record", line: 6 }]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
  });

  test("without its boundary, a summary is a compaction under its parent", () => {
    const session = importLines([...before, summary("s1", "a3"), user("u3", "s1", "three")]);
    expect(payloadOf(session, "s1")).toEqual({ type: "compaction", summary: "what was done", firstKeptEntryId: null });
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "s1", "u3"]);
  });
});

describe("what a compaction kept word for word", () => {
  test("is named by its first entry, found through the lines of a reply", () => {
    const session = importLines([...before, boundary("b1", "a3", kept(["a3"])), summary("s1", "b1")]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: "a2", compactMetadata: { preservedMessages: { uuids: ["a3"] } } });
  });

  test("may be told by its two ends", () => {
    const segment = { trigger: "auto", preservedSegment: { headUuid: "u2", anchorUuid: "s1", tailUuid: "a3" } };
    expect(payloadOf(importLines([...before, boundary("b1", "a3", segment), summary("s1", "b1")]), "b1")).toMatchObject({
      firstKeptEntryId: "u2",
    });
  });

  test("is listed if there are others between: all entries of these records, and no others", () => {
    const results = user("r1", "a3", [answer("c1"), text("and")]);
    const called = [...before, reply("a4", "a3", "m2", [call("c1")]), results, user("u3", "r1", "three")];
    const session = importLines([...called, boundary("b1", "u3", kept(["u1", "a2", "r1"])), summary("s1", "b1")]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: "u1", keptEntryIds: [null, "u1", "a2", "r1", "2:r1"] });
  });

  test("comes before the summary if it is the beginning of the conversation, whose rest was summarized", () => {
    for (const metadata of [
      { preservedMessages: { anchorUuid: "b1", uuids: ["u1", "a1"] } },
      { preservedSegment: { headUuid: "u1", anchorUuid: "b1", tailUuid: "a1" } },
    ])
      for (const under of ["a1", "a3"]) {
        const session = importLines([...before, boundary("b1", under, metadata), summary("s1", "b1"), user("u3", "s1", "three")]);
        expect(pathOf(session)).toEqual([...(under === "a1" ? ["u1", "a1"] : ["u1", "a1", "u2", "a2"]), "b1", "u3"]);
        expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: "u1", keptEntryIds: ["u1", "a1", null] });
      }
  });

  test("may be written again with new parents: the copies add nothing, and what hangs on them follows the compaction", () => {
    const again = [user("u2", "s1", "two"), reply("a2", "u2", "m2", [text("2")]), reply("a3", "a2", "m2", [text("2 again")])];
    const session = importLines([
      ...before,
      boundary("b1", "a3", kept(["u2", "a2", "a3"])),
      summary("s1", "b1"),
      ...again,
      user("u3", "a3", "three"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: "u2" });
    expect(branchPoints(session).size).toBe(0);
  });

  test("may be written again without being listed", () => {
    const session = importLines([...before, boundary("b1", "a3"), summary("s1", "b1"), user("u2", "s1", "two"), user("u3", "u2", "three")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
  });

  test("may be followed without being written again", () => {
    const session = importLines([
      ...before,
      boundary("b1", "a3", kept(["u2", "a2", "a3"])),
      summary("s1", "b1"),
      user("u3", "a3", "three"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3"]);
  });

  test("is on the path also where the boundary names a record before it", () => {
    const session = importLines([...before, boundary("b1", "a1", kept(["u2", "a3"])), summary("s1", "b1")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1"]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: "u2" });
  });

  test("follows it in a fork that was made after the compaction, which is no problem", () => {
    const fork = [boundary("b1", "a3", kept(["u2", "a3"])), summary("s1", "b1"), ...before.slice(2, 3), user("u3", "u2", "three")];
    const session = importLines(fork.map((line) => (line.uuid === "u2" ? { ...line, parentUuid: "s1" } : line)));
    expect(pathOf(session)).toEqual(["b1", "u2", "u3"]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: null });
    expect(session.problems).toEqual([]);
    expect(importLines(fork.slice(0, 2)).problems).toMatchObject([{ code: "missing-parent" }, { code: "missing-kept-entry" }]);
  });

  test("is nothing, with a problem, where it is on another branch", () => {
    const session = importLines([...before, user("u9", "a1", "other"), boundary("b1", "u9", kept(["u2", "a3"])), summary("s1", "b1")]);
    expect(payloadOf(session, "b1")).toMatchObject({ firstKeptEntryId: null });
    expect(session.problems).toMatchObject([{ code: "missing-kept-entry", line: 7 }]);
  });

  test("is the record itself also in a second compaction that kept it again", () => {
    const session = importLines([
      ...before,
      boundary("b1", "a3", kept(["u2", "a3"])),
      summary("s1", "b1"),
      user("u3", "a3", "three"),
      boundary("b2", "u3", kept(["a3", "u3"])),
      summary("s2", "b2"),
      user("u4", "s2", "four"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "b1", "u3", "b2", "u4"]);
    expect(payloadOf(session, "b2")).toMatchObject({ firstKeptEntryId: "a2" });
  });
});

describe("a compaction that Anthropic's API wrote inside a reply", () => {
  const block = { type: "compaction", content: "They fixed the parser.", signature: "EqQB==" };
  const lines = [...before, user("u3", "a3", "three"), reply("a4", "u3", "m4", [block, text("4")]), user("u4", "a4", "four")];

  test("is a compaction entry with its block, and the reply is below it", () => {
    const session = importLines(lines);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "u3", "a4", "2:a4", "u4"]);
    expect(payloadOf(session, "a4")).toMatchObject({
      type: "compaction",
      summary: block.content,
      firstKeptEntryId: null,
      details: { native: { provider: "anthropic", items: [block], readable: true } },
    });
    expect(payloadOf(session, "2:a4")).toMatchObject({ message: { role: "assistant", content: [{ type: "text", text: "4" }] } });
    expect(session.problems).toEqual([]);
  });

  test("that failed changes nothing", () => {
    const session = importLines([...before, user("u3", "a3", "three"), reply("a4", "u3", "m4", [{ ...block, content: null }, text("4")])]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2", "u3", "a4"]);
    expect(payloadOf(session, "a4")).toMatchObject({ type: "message" });
  });

  test("is kept in the boundary that an export writes", () => {
    const native = { provider: "anthropic", model: "claude-opus-5-5", items: [block], readable: true };
    const session = importLines([...before, boundary("b1", "a3", { trigger: "manual", native }), summary("s1", "b1")]);
    expect(payloadOf(session, "b1")).toMatchObject({ summary: "what was done", details: { native } });
  });
});
