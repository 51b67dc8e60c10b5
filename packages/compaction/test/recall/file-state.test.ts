import { assistantMessage, type Session, toolResult } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { recallFile } from "../../src/recall/file-state.js";
import { grown } from "../world/session.js";

let calls = 0;

/** Appends a call and its result. */
async function run(session: Session, name: string, args: Record<string, unknown>, output = "ok", isError = false): Promise<string> {
  calls += 1;
  const id = `call${calls}`;
  const reply = await session.append({ ...assistantMessage([{ type: "toolCall", id, name, arguments: args }]), id: `k${calls}` });
  await session.append(toolResult(id, output, { toolName: name, isError }));
  return reply.id;
}

async function started() {
  calls = 0;
  return (await grown("u1")).session;
}

describe("the state in which a file was left", () => {
  test("is its last write with the edits after it", async () => {
    const session = await started();
    await run(session, "write", { path: "/p/src/a.ts", content: "old" });
    await run(session, "write", { path: "/p/src/a.ts", content: "let a = 1;\nlet b = 2;\n" });
    await run(session, "edit", { path: "/p/src/a.ts", old_string: "a = 1", new_string: "a = 7" });
    const { text, data } = await recallFile(session, { path: "src/a.ts" });
    expect(data).toMatchObject({ path: "/p/src/a.ts", state: "known", content: "let a = 7;\nlet b = 2;\n", entryIds: ["k2", "k3"] });
    expect(text).toContain("1: let a = 7;\n2: let b = 2;");
  });

  test("at an earlier entry is the one of then", async () => {
    const session = await started();
    const first = await run(session, "write", { path: "a.ts", content: "one" });
    await run(session, "write", { path: "a.ts", content: "two" });
    expect((await recallFile(session, { path: "a.ts", at: first })).data.content).toBe("one");
  });

  test("is what a read of all of it shows, without line numbers", async () => {
    const session = await started();
    await run(session, "read", { path: "a.ts" }, "     1\tone\n     2\ttwo");
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "known", content: "one\ntwo" });
  });

  test.each([
    ["a part that was read", { path: "a.ts", offset: 10 }, "two"],
    ["a read that was cut", { path: "a.ts" }, "two\n[truncated]"],
  ])("is not %s", async (_what, args, output) => {
    const session = await started();
    await run(session, "read", args, output);
    const { data, text } = await recallFile(session, { path: "a.ts" });
    expect(data).toMatchObject({ state: "unknown", content: null });
    expect(text).toContain("its text is not known");
  });

  const mention = (message: object) => ({
    type: "message" as const,
    message: {
      role: "custom" as const,
      customType: "mention",
      content: [],
      nestedCalls: { calls: [{ name: "read", arguments: { path: "/p/a.ts" }, status: "ok" }] },
      ...message,
    },
  });
  const attached = (startLine: number) => ({
    details: { type: "file", content: { type: "text", file: { content: "one\ntwo", startLine, numLines: 2, totalLines: 2 } } },
  });

  test.each([
    ["Claude Code", attached(1)],
    ["oh-my-pi", { content: [{ type: "text", text: '<file path="/p/a.ts">\none\ntwo\n</file>' }] }],
  ])("is that of a file that the user mentioned, which %s read for the model", async (_agent, message) => {
    const session = await started();
    const { id } = await session.append(mention(message));
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "known", content: "one\ntwo", entryIds: [id] });
    await run(session, "edit", { path: "/p/a.ts", old_string: "two", new_string: "three" });
    expect((await recallFile(session, { path: "a.ts" })).data.content).toBe("one\nthree");
  });

  test.each([
    ["lines of a file", attached(4)],
    ["a file that is not in the message", { content: [{ type: "text", text: '<file path="/p/b.ts">\none\n</file>' }] }],
  ])("is not known from %s that the user mentioned", async (_what, message) => {
    const session = await started();
    await session.append(mention(message));
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "unknown", content: null });
  });

  test("is not changed by a call that failed", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one" });
    await run(session, "edit", { path: "a.ts", old_string: "one", new_string: "two" }, "no such text", true);
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "known", content: "one" });
  });

  test("is said to be outdated after an edit that does not fit", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one" });
    await run(session, "edit", { path: "a.ts", old_string: "three", new_string: "four" });
    const { data, text } = await recallFile(session, { path: "a.ts" });
    expect(data).toMatchObject({ state: "outdated", content: "one" });
    expect(text).toContain("[k2] edits a text that is not in the known one.");
  });

  test("includes patches of Codex and of git, insertions and appended text", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one\ntwo\nthree\n" });
    await run(session, "apply_patch", { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n one\n-two\n+2\n*** End Patch" });
    await run(session, "patch", { patch: "--- a/a.ts\n+++ b/a.ts\n@@ -3 +3 @@\n-three\n+3\n" });
    await run(session, "str_replace_editor", { command: "insert", path: "a.ts", insert_line: 0, new_str: "zero" });
    await run(session, "WriteFile", { path: "a.ts", content: "four\n", mode: "append" });
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "known", content: "zero\none\n2\n3\nfour\n" });
  });

  test("follows a file that was moved, and says that it is gone from its old place", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one\ntwo\n" });
    const patch = "*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@\n-two\n+2\n*** End Patch";
    await run(session, "apply_patch", { input: patch });
    await run(session, "move_file", { source: "b.ts", destination: "c.ts" });
    expect((await recallFile(session, { path: "c.ts" })).data).toMatchObject({ state: "known", content: "one\n2\n" });
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "deleted", content: null });
  });

  test("keeps the line breaks of the file when an edit has others", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one\r\ntwo\r\nthree\r\n" });
    await run(session, "edit", { path: "a.ts", old_string: "one\ntwo", new_string: "1\n2" });
    expect((await recallFile(session, { path: "a.ts" })).data.content).toBe("1\r\n2\r\nthree\r\n");
  });

  test("of many edits names the first entry and the last ones", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "v0;" });
    for (let at = 0; at < 30; at += 1) await run(session, "edit", { path: "a.ts", oldText: `v${at};`, newText: `v${at + 1};` });
    const { text, data } = await recallFile(session, { path: "a.ts" });
    expect(data.content).toBe("v30;");
    expect(data.entryIds).toHaveLength(31);
    expect(text).toContain(`(from ${data.entryIds[0]}, 21 more, ${data.entryIds[22]}, `);
  });

  test("names the shell commands that may have changed it", async () => {
    const session = await started();
    await run(session, "write", { path: "src/a.ts", content: "one" });
    await run(session, "bash", { command: "npm test" });
    await run(session, "bash", { command: "sed -i s/one/two/ src/a.ts" });
    expect((await recallFile(session, { path: "a.ts" })).text).toContain(
      "2 shell commands ran since and may have changed it; k3 names it.",
    );
  });

  test("survives any number of moves to and fro", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one" });
    for (let at = 0; at < 60; at += 1) {
      const [source, destination] = at % 2 === 0 ? ["a.ts", "b.ts"] : ["b.ts", "a.ts"];
      await run(session, "move_file", { source, destination });
    }
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "known", content: "one" });
    expect((await recallFile(session, { path: "b.ts" })).data).toMatchObject({ state: "deleted", content: null });
  });

  test("after it was deleted is nothing", async () => {
    const session = await started();
    await run(session, "write", { path: "a.ts", content: "one" });
    await run(session, "delete_file", { path: "a.ts" });
    expect((await recallFile(session, { path: "a.ts" })).data).toMatchObject({ state: "deleted", content: null });
  });

  test("of a name that two files have is asked back", async () => {
    const session = await started();
    await run(session, "write", { path: "x/a.ts", content: "one" });
    await run(session, "write", { path: "y/a.ts", content: "two" });
    expect((await recallFile(session, { path: "a.ts" })).text).toBe("Several files end in a.ts: x/a.ts, y/a.ts. Name one of them.");
    expect((await recallFile(session, { path: "y/a.ts" })).data.content).toBe("two");
  });

  test("of a file that no call names is not invented", async () => {
    const session = await started();
    expect((await recallFile(session, { path: "b.ts" })).text).toContain("No call on this path names the file b.ts.");
  });

  test("comes in pieces and by lines", async () => {
    const session = await started();
    const content = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join("\n");
    await run(session, "write", { path: "a.ts", content });
    expect((await recallFile(session, { path: "a.ts", lines: "99-" })).text).toMatch(/\n99: line 99\n100: line 100$/);
    const first = await recallFile(session, { path: "a.ts" }, { maxChars: 300 });
    expect(first.data.next).not.toBe(null);
    expect((await recallFile(session, { path: "a.ts", offset: first.data.next ?? 0 })).text).toContain("100: line 100");
  });
});
