import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { piFormat } from "../../src/pi/format.js";
import { entriesOf, folder, HEADER, problemsOf, sessionIn, user, write } from "./pi-files.js";

const header = (id: string) => ({ ...HEADER, id });

/** A session with a subagent that started another one, and a broken file beside them. */
function sessionWithSubagents(): string {
  const root = folder();
  write(join(root, "s", "Explore.jsonl"), [header("child"), user("x", null)]);
  write(join(root, "s", "Explore", "Deeper.jsonl"), [header("grandchild"), user("y", null)]);
  write(join(root, "s", "broken.jsonl"), ["no JSON"]);
  write(join(root, "s", "1.bash.log"), ["no session"]);
  return write(join(root, "s.jsonl"), [header("parent"), user("a", null)]);
}

describe("the sessions of an oh-my-pi file", () => {
  test("are its own and those of its subagents, each after the one that started it", () => {
    const sessions = [...piFormat.sessions(sessionWithSubagents())];
    expect(sessions.map((session) => [session.header.sessionId, session.header.kind, session.header.parent?.sessionId])).toEqual([
      ["parent", "conversation", undefined],
      ["child", "subagent", "parent"],
      ["grandchild", "subagent", "child"],
    ]);
    expect(sessions.map((session) => entriesOf(session.records()).map(({ id }) => id))).toEqual([["a"], ["x"], ["y"]]);
  });

  test("report a subagent's file that cannot be read, in the session that started it", () => {
    const path = sessionWithSubagents();
    const broken = join(path.replace(".jsonl", ""), "broken.jsonl");
    expect(problemsOf(sessionIn(path).records())).toMatchObject([{ code: "unreadable-file", path: broken, line: null }]);
  });

  test("are still two when a copied file has its parent's id", () => {
    const root = folder();
    write(join(root, "s", "copy.jsonl"), [header("same")]);
    const ids = [...piFormat.sessions(write(join(root, "s.jsonl"), [header("same")]))].map((session) => session.header.sessionId);
    expect(new Set(ids).size).toBe(2);
  });
});

test("a subagent's file read on its own knows the session that started it", () => {
  const path = join(sessionWithSubagents().replace(".jsonl", ""), "Explore.jsonl");
  expect(sessionIn(path).header).toMatchObject({ sessionId: "child", kind: "subagent", parent: { sessionId: "parent" } });
});
