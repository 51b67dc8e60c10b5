import { describe, expect, test } from "vitest";
import { answer, call, fileOf, type Line, progress, reply, sidechain, text, user } from "./claude-file.js";
import { branchPoints, importAll, importLines, pathOf } from "./imported.js";

const without = (line: Line, name: string): Line => Object.fromEntries(Object.entries(line).filter(([key]) => key !== name));

const lines = [
  user("u1", null, "one"),
  progress("p1", null),
  reply("a1", null, "m1", [text("1")]),
  reply("a2", null, "m1", [call("c1")]),
  user("u2", null, [answer("c1")]),
  reply("a3", null, "m2", [text("done")]),
];

describe("a file in which no record has a parent", () => {
  test.each([
    ["null", lines],
    ["missing", [lines[0] ?? {}, ...lines.slice(1).map((line) => without(line, "parentUuid"))]],
  ])("(%s) is one line of entries, and one problem", (_, given) => {
    const session = importLines(given);
    expect(pathOf(session)).toEqual(["u1", "p1", "a1", "u2", "a3"]);
    expect(branchPoints(session)).toEqual(new Map());
    expect(session.problems).toMatchObject([
      { code: "missing-parent", line: null, message: expect.stringContaining("replies without a parent") },
    ]);
  });

  test("is in order of time; a record without a time follows the one before it in the file", () => {
    const [u1, , a1, a2, u2, a3] = lines;
    const session = importLines([a3, u2, without(user("x", null, "no time"), "timestamp"), u1, a1, a2].map((line) => line ?? {}));
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "x", "a3"]);
    expect(session.entries.map(({ line }) => line)).toEqual([4, 5, 2, 3, 1]);
    expect(session.missing).toEqual([]);
  });

  test("and that Claude Code went on with later, is still one line", () => {
    const session = importLines([
      ...lines,
      user("u3", "a3", "more"),
      reply("a4", "u3", "m3", [text("yes")]),
      reply("a5", "u3", "m4", [text("again")]),
    ]);
    expect(pathOf(session, "a4")).toEqual(["u1", "p1", "a1", "u2", "a3", "u3", "a4"]);
    expect(branchPoints(session)).toEqual(new Map([["u3", ["a4", "a5"]]]));
  });

  test("keeps its bad lines, and agents as sessions of their own", () => {
    const agent = [sidechain(user("s1", null, "look"), "x7"), sidechain(reply("s2", null, "m9", [text("found")]), "x7")];
    const [conversation, inline] = importAll(fileOf([...lines, ...agent, "{broken"]));
    expect(conversation && pathOf(conversation)).toEqual(["u1", "p1", "a1", "u2", "a3"]);
    expect(conversation?.problems).toMatchObject([{ code: "missing-parent" }, { code: "malformed-line", line: 9 }]);
    expect(inline && pathOf(inline)).toEqual(["s1", "s2"]);
  });
});

test("a reply that is the first record of a session needs no parent", () => {
  const session = importLines([reply("a1", null, "m1", [text("1")]), user("u2", "a1", "two"), user("u3", null, "again")]);
  expect(branchPoints(session)).toEqual(new Map([[null, ["a1", "u3"]]]));
  expect(session.problems).toEqual([]);
});

test("prompts that were typed again before any reply stay branches", () => {
  const session = importLines([user("u1", null, "one"), user("u2", null, "two")]);
  expect(branchPoints(session)).toEqual(new Map([[null, ["u1", "u2"]]]));
  expect(session.problems).toEqual([]);
});
