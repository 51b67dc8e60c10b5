import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fileOf, progress, reply, text, user } from "./claude-file.js";
import { branchPoints, importAll, importLines, messageOf, pathOf } from "./imported.js";

const turn = [user("u1", null, "one"), reply("a1", "u1", "m1", [text("1")])];

describe("a line that holds no record", () => {
  test("is a problem with its number, and the rest is read", () => {
    const session = importLines([...turn, "{broken", "[1]", user("u2", "a1", "two")]);
    expect(session.problems).toMatchObject([
      { code: "malformed-line", line: 3 },
      { code: "malformed-line", line: 4 },
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2"]);
  });

  test("is torn where the file ends in it", () => {
    const path = fileOf(turn);
    appendFileSync(path, '{"type":"user","uu');
    expect(importAll(path)[0]?.problems).toMatchObject([{ code: "torn-line", line: 3 }]);
  });
});

describe("a parent that is not before its child", () => {
  test.each([
    ["is not in the file", user("u2", "gone", "two"), "gone"],
    ["is the record itself", user("u2", "u2", "two"), "u2"],
    ["comes later", user("u2", "u3", "two"), "u3"],
  ])("because it %s is passed on as it stands, for the writer to report", (_, line, parent) => {
    const session = importLines([...turn, line, user("u3", "u2", "three")]);
    expect(session.missing).toEqual([parent]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "u3"]);
  });
});

describe("two records with one uuid", () => {
  test("are one where they say the same", () => {
    const session = importLines([...turn, turn[0] ?? {}, turn[1] ?? {}, user("u2", "a1", "two")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2"]);
    expect(session.problems).toEqual([]);
  });

  test("are two where they do not: the later one gets an id of its own", () => {
    const session = importLines([...turn, user("u1", null, "something else"), user("u2", "u1", "two")]);
    expect(session.problems).toMatchObject([{ code: "duplicate-id", line: 3 }]);
    const [own = ""] = [...(branchPoints(session).get(null) ?? [])].slice(1);
    expect(messageOf(session, own).content).toBe("something else");
    expect(pathOf(session)).toEqual([own, "u2"]);
  });
});

test("a uuid that cannot be an id is replaced, for its children too", () => {
  const session = importLines([user("has spaces", null, "one"), user("u2", "has spaces", "two")]);
  expect(session.missing).toEqual([]);
  expect(pathOf(session)).toHaveLength(2);
});

test.each([
  ["user", { ...progress("x1", "a1"), type: "user" }],
  ["assistant", { ...progress("x1", "a1"), type: "assistant" }],
])("a %s record without a message is kept as it is, and reported", (type, line) => {
  const session = importLines([...turn, line]);
  expect(session.problems).toMatchObject([{ code: "invalid-record", line: 3 }]);
  expect(session.entries.at(-1)?.payload).toMatchObject({ type: "foreign", originalType: type });
});

test("times that run backwards are kept", () => {
  const session = importLines([...turn, { ...user("u2", "a1", "two"), timestamp: "2020-01-01T00:00:00Z" }]);
  expect(session.entries.at(-1)?.createdAtMs).toBe(Date.UTC(2020, 0, 1));
});

test("a text may hold any line separator but LF", () => {
  expect(messageOf(importLines([user("u1", null, "a\u2028b\u2029c")]), "u1").content).toBe("a\u2028b\u2029c");
});
