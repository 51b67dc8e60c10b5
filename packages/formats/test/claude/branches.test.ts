import { describe, expect, test } from "vitest";
import { call, progress, reply, result, side, system, text, user } from "./claude-file.js";
import { branchPoints, importLines, pathOf } from "./imported.js";

const turn = [user("u1", null, "one"), reply("a1", "u1", "m1", [text("1")])];

describe("a branch of the imported tree is what a person made", () => {
  test("a rewind: another prompt at an earlier point", () => {
    const session = importLines([
      ...turn,
      user("u2", "a1", "two"),
      reply("a2", "u2", "m2", [text("2")]),
      user("u3", "a1", "other"),
      reply("a3", "u3", "m3", [text("3")]),
    ]);
    expect([...branchPoints(session)]).toEqual([["a1", ["u2", "u3"]]]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u3", "a3"]);
  });

  test("a rewind to the very beginning", () => {
    const session = importLines([side("queue-operation"), ...turn, user("u2", null, "again")]);
    const top = session.entries[0]?.id ?? "";
    expect([...branchPoints(session)]).toEqual([[top, ["u1", "u2"]]]);
  });

  test("a reply that was tried again", () => {
    const session = importLines([...turn, reply("b1", "u1", "m2", [text("better")])]);
    expect([...branchPoints(session)]).toEqual([["u1", ["a1", "b1"]]]);
  });

  test("a rewind that begins with a hook's report or a slash command", () => {
    const session = importLines([
      ...turn,
      user("u2", "a1", "two"),
      progress("p1", "a1"),
      user("u3", "p1", "three"),
      user("c1", "a1", "<command-name>/model</command-name>"),
      user("u4", "c1", "four"),
    ]);
    expect([...branchPoints(session)]).toEqual([["a1", ["u2", "p1", "c1"]]]);
    expect(pathOf(session)).toEqual(["u1", "a1", "c1", "u4"]);
  });

  test("a rewind to before a slash command that the conversation went on from", () => {
    const session = importLines([
      ...turn,
      user("c1", "a1", "<command-name>/init</command-name>"),
      reply("a2", "c1", "m2", [text("2")]),
      user("u3", "a1", "three"),
    ]);
    expect([...branchPoints(session)]).toEqual([["a1", ["c1", "u3"]]]);
  });
});

describe("what is no step of the conversation makes no branch", () => {
  test("reports of hooks beside a result stand on the path, in the order of the file", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [call("c1")]),
      progress("p1", "a1"),
      result("r1", "a1", "c1"),
      progress("p2", "r1"),
      progress("p3", "r1"),
      reply("a2", "r1", "m2", [text("done")]),
      progress("p4", "r1"),
    ]);
    expect(branchPoints(session).size).toBe(0);
    expect(pathOf(session)).toEqual(["u1", "a1", "p1", "r1", "p2", "p3", "a2", "p4"]);
  });

  test("side records stand at the end of the conversation so far", () => {
    const session = importLines([...turn, side("last-prompt", { lastPrompt: "one" }), user("u2", "a1", "two")]);
    expect(branchPoints(session).size).toBe(0);
    expect(session.entries.map(({ payload }) => payload.type)).toEqual(["message", "message", "foreign", "message"]);
  });

  test("a slash command that nothing came of is passed by", () => {
    const session = importLines([...turn, user("c1", "a1", "<command-name>/cost</command-name>"), user("u2", "a1", "two")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "c1", "u2"]);
  });

  test("noise before the first prompt is no beginning of its own", () => {
    const session = importLines([progress("p1", null), system("s1", null, "session_start"), user("u1", null, "hi")]);
    expect(pathOf(session)).toEqual(["p1", "s1", "u1"]);
  });

  test("a report that comes late for a branch that was left goes to that branch, and the leaf stays", () => {
    const session = importLines([...turn, user("u2", "a1", "two"), user("u3", "a1", "three"), progress("p1", "u2")]);
    expect(pathOf(session, "p1")).toEqual(["u1", "a1", "u2", "p1"]);
    expect(session.records.at(-1)).toEqual({ kind: "leaf", name: "main", entryId: "u3" });
    expect(pathOf(session)).toEqual(["u1", "a1", "u3"]);
  });

  test("it is kept whole as a foreign entry named after its type", () => {
    const line = system("s1", "a1", "turn_duration", { durationMs: 7 });
    const hook = { ...progress("h1", "s1"), type: "attachment", attachment: { type: "hook_success" } };
    const session = importLines([...turn, line, hook]);
    expect(session.entries.slice(2).map(({ payload }) => payload)).toEqual([
      { type: "foreign", originalType: "system/turn_duration", raw: line },
      { type: "foreign", originalType: "attachment/hook_success", raw: hook },
    ]);
  });
});

test("the last entry of the file is the leaf, and no leaf is named for it", () => {
  const session = importLines([...turn, side("mode", { mode: "normal" })]);
  expect(session.records.some(({ kind }) => kind === "leaf")).toBe(false);
});
