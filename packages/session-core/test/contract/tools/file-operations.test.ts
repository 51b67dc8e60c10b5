import { describe, expect, test } from "vitest";
import { assistantMessage, toolResult } from "../../../src/entry/builders.js";
import { fileLists } from "../../../src/tools/file-operations.js";
import type { FileTools } from "../../../src/tools/known-tools.js";
import { grow } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

type Arguments = Readonly<Record<string, unknown>>;

/** What a call of this tool is indexed as: `kind path`, in order. */
async function touched(name: string, args: Arguments, fileTools: FileTools = {}): Promise<readonly string[]> {
  const { session } = await grow("u1", { store: await openedStore({ fileTools }) });
  await session.append(assistantMessage([{ type: "toolCall", id: "c", name, arguments: { ...args } }]));
  return (await session.fileOperations()).map(({ kind, path }) => `${kind} ${path}`);
}

const PATCH =
  "*** Begin Patch\n*** Add File: new.ts\n+x\n*** Update File: old.ts\n*** Move to: moved.ts\n@@\n-a\n+b\n*** Delete File: gone.ts\n*** End Patch";
const DIFF =
  "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+x\n--- a/gone.ts\n+++ /dev/null\n";

describe("the files that a tool call touches", () => {
  test.each<[string, Arguments, readonly string[]]>([
    ["Read", { file_path: "/p/a.ts" }, ["read /p/a.ts"]],
    ["read", { path: "a.ts:10-20" }, ["read a.ts"]],
    ["read_file", { absolute_path: "/p/a.ts" }, ["read /p/a.ts"]],
    ["readFile", { filePath: "a.ts" }, ["read a.ts"]],
    ["mcp__files__read_multiple_files", { paths: ["a.ts", "b.ts"] }, ["read a.ts", "read b.ts"]],
    ["functions.read_file", { target_file: "a.ts" }, ["read a.ts"]],
    ["view", { uri: "file:///p/a.ts" }, ["read /p/a.ts"]],
    ["Write", { file_path: "a.ts", content: "path" }, ["write a.ts"]],
    ["create_file", { filename: "a.ts" }, ["write a.ts"]],
    ["Edit", { file_path: "a.ts", old_string: "x", new_string: "y" }, ["edit a.ts"]],
    ["MultiEdit", { file_path: "a.ts", edits: [{ old_string: "x" }] }, ["edit a.ts"]],
    ["multi_replace_string_in_file", { replacements: [{ filePath: "a.ts" }, { filePath: "b.ts" }] }, ["edit a.ts", "edit b.ts"]],
    ["NotebookEdit", { notebook_path: "a.ipynb" }, ["edit a.ipynb"]],
    ["str_replace_based_edit_tool", { command: "view", path: "a.ts" }, ["read a.ts"]],
    ["str_replace_based_edit_tool", { command: "create", path: "a.ts" }, ["write a.ts"]],
    ["str_replace_based_edit_tool", { command: "str_replace", path: "a.ts" }, ["edit a.ts"]],
    ["delete_file", { path: "a.ts" }, ["delete a.ts"]],
    ["move_file", { source: "a.ts", destination: "b.ts" }, ["move a.ts", "move b.ts"]],
    ["apply_patch", { input: PATCH }, ["write new.ts", "edit old.ts", "move moved.ts", "delete gone.ts"]],
    ["apply_patch", { patch: DIFF }, ["edit src/a.ts", "write new.ts", "delete gone.ts"]],
    ["shell", { command: ["apply_patch", PATCH] }, ["write new.ts", "edit old.ts", "move moved.ts", "delete gone.ts"]],
    ["bash", { command: "cat a.ts" }, []],
    ["grep", { path: "src", pattern: "x" }, []],
    ["Read", { file_path: "https://example.org/a.ts" }, []],
    ["Read", { file_path: 7 }, []],
    ["Read", { file_path: " " }, []],
    ["constructor", { path: "a.ts" }, []],
  ])("%s %j", async (name, args, expected) => {
    expect(await touched(name, args)).toEqual(expected);
  });

  test("are those of the calls inside a call too, each once", async () => {
    const uses = [
      { recipient_name: "functions.read_file", parameters: { path: "a.ts" } },
      { recipient_name: "functions.read_file", parameters: { path: "a.ts" } },
      { recipient_name: "functions.write_file", parameters: { path: "b.ts" } },
    ];
    expect(await touched("multi_tool_use.parallel", { tool_uses: uses })).toEqual(["read a.ts", "write b.ts"]);
  });

  test("are those of a host's own tools, which win over the known ones", async () => {
    const fileTools = { peek: { kind: "read", pathArguments: ["where"] }, Read: { kind: "write" } } as const;
    expect(await touched("peek", { where: "a.ts", path: "b.ts" }, fileTools)).toEqual(["read a.ts"]);
    expect(await touched("Read", { path: "a.ts" }, fileTools)).toEqual(["write a.ts"]);
  });
});

describe("the file operations of a path", () => {
  const call = (id: string, name: string, path: string) => assistantMessage([{ type: "toolCall", id, name, arguments: { path } }]);

  async function worked() {
    const { store, session } = await grow("u1");
    await session.append({ ...call("c1", "read", "read.ts"), id: "a1" });
    await session.append({ ...toolResult("c1", "text"), id: "r1" });
    await session.append({ ...call("c2", "edit", "failed.ts"), id: "a2" });
    await session.append({ ...toolResult("c2", "no such text", { isError: true }), id: "r2" });
    await session.append({ ...call("c3", "write", "pending.ts"), id: "a3" });
    return { store, session };
  }

  test("say what became of each: done, failed, or unknown where no result is there", async () => {
    const { session } = await worked();
    expect((await session.fileOperations()).map(({ path, outcome, entryId }) => [path, outcome, entryId])).toEqual([
      ["read.ts", "done", "a1"],
      ["failed.ts", "failed", "a2"],
      ["pending.ts", "unknown", "a3"],
    ]);
  });

  test("as two lists count a failed one as not done, and what was changed not as read", async () => {
    const { session } = await worked();
    await session.append(call("c4", "read", "pending.ts"));
    expect(fileLists(await session.fileOperations())).toEqual({ readFiles: ["read.ts"], modifiedFiles: ["pending.ts"] });
  });

  test("are those of a range of it, both ends included", async () => {
    const { session } = await worked();
    const paths = async (range: object) => (await session.fileOperations(range)).map(({ path, outcome }) => `${path} ${outcome}`);
    expect(await paths({ fromId: "a2", toId: "a2" })).toEqual(["failed.ts unknown"]);
    expect(await paths({ fromId: "r1" })).toEqual(["failed.ts failed", "pending.ts unknown"]);
    await session.moveLeaf("u1");
    await expect(session.fileOperations({ fromId: "a1" })).rejects.toMatchObject({ code: "INVALID_REFERENCE", field: "fromId" });
  });

  test("are of its branch only: a call may fail on one and be done on another", async () => {
    const { session } = await worked();
    await session.moveLeaf("a2");
    await session.append({ ...toolResult("c2", "ok"), id: "r3" });
    await session.append({ ...call("c5", "write", "other.ts"), id: "a5" });
    const outcomes = async (toId: string) => (await session.fileOperations({ toId })).map(({ path, outcome }) => `${path} ${outcome}`);
    expect(await outcomes("a5")).toEqual(["read.ts done", "failed.ts done", "other.ts unknown"]);
    expect(await outcomes("a3")).toEqual(["read.ts done", "failed.ts failed", "pending.ts unknown"]);
  });

  test("go by the first result after the call, where a later reply gives the same id again", async () => {
    const { session } = await grow("u1");
    await session.append(call("call_1", "write", "done.ts"));
    await session.append(toolResult("call_1", "ok"));
    await session.append(call("call_1", "write", "failed.ts"));
    await session.append(toolResult("call_1", "no", { isError: true }));
    await session.append(call("call_1", "write", "pending.ts"));
    const outcomes = (await session.fileOperations()).map(({ path, outcome }) => `${path} ${outcome}`);
    expect(outcomes).toEqual(["done.ts done", "failed.ts failed", "pending.ts unknown"]);
  });

  test("have the nested calls that a result reports as done", async () => {
    const { session } = await grow("k1");
    const calls = [
      { name: "read", arguments: { path: "a.ts" }, status: "ok" },
      { name: "write", arguments: { path: "b.ts" }, status: "error" },
    ];
    const result = { role: "toolResult", toolCallId: "k1", content: "x", isError: true, nestedCalls: { calls } } as const;
    await session.append({ type: "message", message: result, id: "r1" });
    expect(await session.fileOperations()).toMatchObject([
      { path: "a.ts", kind: "read", outcome: "done", entryId: "r1", toolCallId: "k1" },
    ]);
  });

  test("have what the host did for the user, which is no call of the model", async () => {
    const { session } = await grow("k1");
    const calls = [{ name: "Read", arguments: { file_path: "notes.txt" }, status: "ok" }];
    const mention = { role: "custom", customType: "mention", content: "the notes", display: false, nestedCalls: { calls } } as const;
    await session.append({ type: "message", message: mention, id: "m1" });
    const operations = await session.fileOperations();
    expect(operations).toMatchObject([{ path: "notes.txt", kind: "read", outcome: "done", entryId: "m1", toolCallId: "" }]);
    expect(fileLists(operations)).toEqual({ readFiles: ["notes.txt"], modifiedFiles: [] });
    expect((await session.search({ query: "notes", path: "notes.txt" })).hits.map(({ entryId }) => entryId)).toEqual(["m1"]);
  });

  test("are none before the first entry", async () => {
    const { session } = await grow("");
    expect(await session.fileOperations()).toEqual([]);
  });
});

describe("the calls of a store that name a path", () => {
  const write = (id: string, path: string) => assistantMessage([{ type: "toolCall", id, name: "write", arguments: { path, content: id } }]);

  test("come from all sessions and branches, oldest first, with the directory that the path resolves against", async () => {
    const store = await openedStore();
    const one = await store.createSession({ cwd: "/p" });
    const other = await store.createSession({ cwd: "/p/src" });
    await one.append({ ...write("c1", "src/a.ts"), id: "w1", createdAtMs: 30 });
    await one.moveLeaf(null);
    await one.append({ ...write("c2", "/p/src/a.ts"), id: "w2", createdAtMs: 10 });
    await other.append({ ...write("c3", "a.ts"), id: "w3", createdAtMs: 20 });
    await other.append({ ...write("c4", "ba.ts"), id: "w4", createdAtMs: 40 });
    const touches = await store.fileTouches(["/p/src/a.ts", "src/a.ts", "a.ts"]);
    expect(touches).toEqual([
      { sessionId: one.id, cwd: "/p", entryId: "w2", toolCallId: "c2", kind: "write", path: "/p/src/a.ts", createdAtMs: 10, isCopy: false },
      { sessionId: other.id, cwd: "/p/src", entryId: "w3", toolCallId: "c3", kind: "write", path: "a.ts", createdAtMs: 20, isCopy: false },
      { sessionId: one.id, cwd: "/p", entryId: "w1", toolCallId: "c1", kind: "write", path: "src/a.ts", createdAtMs: 30, isCopy: false },
    ]);
    expect(await store.fileTouches([])).toEqual([]);
  });

  test("say which of them a fork copied", async () => {
    const store = await openedStore();
    const session = await store.createSession({ cwd: "/p" });
    await session.append(write("c1", 'a "b".ts'));
    await store.forkSession(session.id);
    expect((await store.fileTouches(['a "b".ts'])).map(({ isCopy }) => isCopy)).toEqual([false, true]);
  });

  test("do not take what was imported for a copy", async () => {
    const store = await openedStore();
    const records = [{ kind: "entry" as const, line: 1, id: "e1", parentId: null, createdAtMs: 10, payload: write("c1", "a.ts") }];
    const importAs = (sessionId: string) =>
      store.importSession({ header: { sessionId, kind: "conversation" }, records: () => records }, { format: "x", path: `/${sessionId}` });
    await importAs("one");
    expect((await store.fileTouches(["a.ts"])).map(({ isCopy }) => isCopy)).toEqual([false]);
    await importAs("two");
    expect((await store.fileTouches(["a.ts"])).map(({ isCopy }) => isCopy)).toEqual([false, true]);
  });

  test("begin with the original, also where a copy of it came before", async () => {
    const store = await openedStore();
    const records = [{ kind: "entry" as const, line: 1, id: "e1", parentId: null, createdAtMs: 10, payload: write("c1", "a.ts") }];
    for (const [sessionId, createdAtMs] of [["copy", 2] as const, ["first", 1] as const])
      await store.importSession(
        { header: { sessionId, kind: "conversation", createdAtMs }, records: () => records },
        { format: "x", path: `/${sessionId}` },
      );
    expect((await store.fileTouches(["a.ts"])).map(({ sessionId }) => sessionId)).toEqual(["first", "copy"]);
  });
});
