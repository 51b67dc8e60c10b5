import { describe, expect, test } from "vitest";
import { answer, call, progress, reply, result, text, user } from "./claude-file.js";
import { branchPoints, importLines, messageOf, pathOf } from "./imported.js";

const asked = user("u1", null, "go");
const batch = [
  asked,
  reply("a1", "u1", "m1", [call("c1")]),
  reply("a2", "a1", "m1", [call("c2", "Grep")]),
  reply("a3", "a2", "m1", [call("c3")]),
];

describe("results of parallel calls", () => {
  test("follow one another, whichever line of the reply they hang on", () => {
    const session = importLines([
      ...batch,
      result("r1", "a1", "c1"),
      result("r2", "a2", "c2"),
      result("r3", "a3", "c3"),
      reply("b1", "r3", "m2", [text("done")]),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "r2", "r3", "b1"]);
  });

  test.each(["r1", "r2", "a1", "a3"])("all come before what follows, also when that hangs on %s", (parent) => {
    const lines = [...batch, result("r3", "a3", "c3"), result("r1", "a1", "c1"), progress("p1", "r1"), result("r2", "a2", "c2")];
    const session = importLines([...lines, user("u2", parent, "and now")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r3", "r1", "p1", "r2", "u2"]);
  });

  test("that come late go to the end, and make no branch", () => {
    const session = importLines([...batch, result("r1", "a1", "c1"), user("u2", "r1", "stop"), result("r2", "a2", "c2")]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "u2", "r2"]);
  });

  test("a second answer to a call is a branch: no path has both", () => {
    const session = importLines([
      asked,
      reply("a1", "u1", "m1", [call("c1")]),
      result("r1", "a1", "c1"),
      result("r9", "a1", "c1"),
      reply("b1", "r9", "m2", [text("ok")]),
    ]);
    expect([...branchPoints(session)]).toEqual([["a1", ["r1", "r9"]]]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r9", "b1"]);
  });
});

describe("a record with results", () => {
  test("gives one entry for each, named after its tool, with the structured result at the first", () => {
    const record = user("r1", "a3", [answer("c1"), { ...answer("c2"), is_error: true }], { toolUseResult: { stdout: "x" } });
    const session = importLines([...batch, record, reply("b1", "r1", "m2", [text("ok")])]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "2:r1", "b1"]);
    expect(messageOf(session, "r1")).toEqual({
      role: "toolResult",
      toolCallId: "c1",
      toolName: "Read",
      content: "c1 done",
      isError: false,
      details: { stdout: "x" },
    });
    expect(messageOf(session, "2:r1")).toEqual({
      role: "toolResult",
      toolCallId: "c2",
      toolName: "Grep",
      content: "c2 done",
      isError: true,
    });
  });

  test("keeps the text and the images beside them, after them", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    const session = importLines([...batch, user("r1", "a1", [text("use tabs"), answer("c1"), image])]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "2:r1"]);
    expect(messageOf(session, "2:r1")).toEqual({
      role: "user",
      content: [
        { type: "text", text: "use tabs" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
    });
  });

  test("takes blocks, a text or nothing as content", () => {
    const record = user("r1", "a3", [
      answer("c1", [text("x"), { type: "tool_reference", tool_name: "T" }]),
      answer("c2", null),
      answer("c3", ""),
    ]);
    const session = importLines([...batch, record]);
    expect(messageOf(session, "r1").content).toEqual([
      { type: "text", text: "x" },
      { type: "foreign", originalType: "tool_reference", raw: { type: "tool_reference", tool_name: "T" } },
    ]);
    expect(messageOf(session, "2:r1").content).toEqual([]);
    expect(messageOf(session, "3:r1").content).toBe("");
  });

  test("names no tool when the call is not in the file", () => {
    expect(messageOf(importLines([asked, result("r1", "u1", "gone")]), "r1")).not.toHaveProperty("toolName");
  });
});

test("an output that names no call is visible, below the reply whose call has no id", () => {
  const bare = { type: "tool_use", name: "Bash", input: { command: "ls" } };
  const session = importLines([
    user("u1", null, "go"),
    reply("a1", "u1", "m1", [text("I look."), bare]),
    user("r1", "a1", [{ type: "tool_result", content: "a.txt" }], { isMeta: true }),
    reply("a2", "r1", "m2", [text("done")]),
  ]);
  expect(pathOf(session)).toEqual(["u1", "a1", "r1", "a2"]);
  expect(messageOf(session, "r1")).toEqual({ role: "custom", customType: "claude.output", display: true, content: "a.txt" });
});
