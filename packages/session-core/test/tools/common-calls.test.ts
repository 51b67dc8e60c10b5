import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CommonCall, readCommonCall, type ToolAgent, writeCommonCall } from "../../../formats/src/transfer/common-calls.js";

const CWD = "/home/ada/parser";
const call = (name: string, args: object) => ({ name, arguments: { ...args } });

/** The calls of three programs for one call of another one; null: it has no tool for it. */
function forAll(name: string, args: object): readonly unknown[] {
  const common = readCommonCall(call(name, args));
  if (common === undefined) return [];
  return (["pi", "claude", "codex"] as const).map((agent) => {
    const written = writeCommonCall(common, agent, CWD);
    return written === undefined ? null : [written.name, written.arguments];
  });
}

describe("a call of a tool that most agents have is written for another one", () => {
  test("reading a file, with lines and an absolute path", () => {
    expect(forAll("read_file", { path: "src/a.ts", offset: 10, limit: 5 })).toEqual([
      ["read", { path: "src/a.ts", offset: 10, limit: 5 }],
      ["Read", { file_path: "/home/ada/parser/src/a.ts", offset: 10, limit: 5 }],
      ["exec_command", { cmd: "sed -n '10,14p' src/a.ts" }],
    ]);
    expect(forAll("view", { path: "it's.md" }).at(-1)).toEqual(["exec_command", { cmd: "cat 'it'\\''s.md'" }]);
  });

  test("writing a file", () => {
    expect(forAll("Write", { file_path: "/tmp/a.ts", content: "a\nb\n" })).toEqual([
      ["write", { path: "/tmp/a.ts", content: "a\nb\n" }],
      ["Write", { file_path: "/tmp/a.ts", content: "a\nb\n" }],
      ["apply_patch", { input: "*** Begin Patch\n*** Add File: /tmp/a.ts\n+a\n+b\n*** End Patch" }],
    ]);
  });

  test("one edit, several edits, and an edit of each occurrence", () => {
    expect(forAll("replace", { file_path: "/a.ts", old_string: "x", new_string: "y" })).toEqual([
      ["edit", { path: "/a.ts", edits: [{ oldText: "x", newText: "y" }] }],
      ["Edit", { file_path: "/a.ts", old_string: "x", new_string: "y" }],
      ["apply_patch", { input: "*** Begin Patch\n*** Update File: /a.ts\n@@\n-x\n+y\n*** End Patch" }],
    ]);
    const edits = [
      { oldText: "x", newText: "y" },
      { oldText: "p", newText: "" },
    ];
    expect(forAll("edit", { path: "/a.ts", edits })).toEqual([
      ["edit", { path: "/a.ts", edits }],
      [
        "MultiEdit",
        {
          file_path: "/a.ts",
          edits: [
            { old_string: "x", new_string: "y" },
            { old_string: "p", new_string: "" },
          ],
        },
      ],
      ["apply_patch", { input: "*** Begin Patch\n*** Update File: /a.ts\n@@\n-x\n+y\n@@\n-p\n*** End Patch" }],
    ]);
    expect(forAll("Edit", { file_path: "/a.ts", old_string: "x", new_string: "y", replace_all: true })).toEqual([
      null,
      ["Edit", { file_path: "/a.ts", old_string: "x", new_string: "y", replace_all: true }],
      null,
    ]);
  });

  test("a patch of Codex that adds or changes one file", () => {
    const update = "*** Begin Patch\n*** Update File: a.ts\n@@ function f\n keep\n-old\n+new\n*** End Patch";
    expect(forAll("apply_patch", { input: update }).slice(0, 2)).toEqual([
      ["edit", { path: "a.ts", edits: [{ oldText: "keep\nold", newText: "keep\nnew" }] }],
      ["Edit", { file_path: "/home/ada/parser/a.ts", old_string: "keep\nold", new_string: "keep\nnew" }],
    ]);
    const add = "*** Begin Patch\n*** Add File: a.ts\n+one\n*** End Patch";
    expect(forAll("apply_patch", { input: add })[0]).toEqual(["write", { path: "a.ts", content: "one\n" }]);
    const two = "*** Begin Patch\n*** Delete File: a.ts\n*** End Patch";
    expect(forAll("apply_patch", { input: two })).toEqual([]);
  });

  test("a shell command, without the shell that Codex names, and in its folder", () => {
    expect(forAll("shell", { command: ["bash", "-lc", "npm test"], workdir: CWD })).toEqual([
      ["bash", { command: "npm test" }],
      ["Bash", { command: "npm test" }],
      ["exec_command", { cmd: "npm test" }],
    ]);
    expect(forAll("exec_command", { cmd: "ls", workdir: "/srv" }).slice(0, 2)).toEqual([
      ["bash", { command: "cd /srv && ls" }],
      ["Bash", { command: "cd /srv && ls" }],
    ]);
  });

  test("searches and lists of files", () => {
    expect(forAll("Grep", { pattern: "a b", path: "src", glob: "*.ts", "-i": true, output_mode: "content" })).toEqual([
      ["grep", { pattern: "a b", path: "src", glob: "*.ts", ignoreCase: true }],
      ["Grep", { pattern: "a b", path: "src", glob: "*.ts", "-i": true, output_mode: "content" }],
      ["exec_command", { cmd: "rg -n -i -g '*.ts' -e 'a b' src" }],
    ]);
    expect(forAll("Grep", { pattern: "x" }).at(-1)).toEqual(["exec_command", { cmd: "rg -l -e x" }]);
    expect(forAll("glob", { pattern: "**/*.ts" })).toEqual([
      ["find", { pattern: "**/*.ts" }],
      ["Glob", { pattern: "**/*.ts" }],
      ["exec_command", { cmd: "rg --files -g '**/*.ts'" }],
    ]);
    expect(forAll("list_directory", { dir_path: "src" })).toEqual([
      ["ls", { path: "src" }],
      ["Bash", { command: "ls src" }],
      ["exec_command", { cmd: "ls src" }],
    ]);
  });

  test("a plan, which pi does not have", () => {
    expect(forAll("update_plan", { plan: [{ step: "mend", status: "in_progress" }] })).toEqual([
      null,
      ["TodoWrite", { todos: [{ content: "mend", status: "in_progress", activeForm: "mend" }] }],
      ["update_plan", { plan: [{ step: "mend", status: "in_progress" }] }],
    ]);
  });
});

test("opencode takes absolute paths, and several edits as a patch", () => {
  const inOpencode = (name: string, args: object) => {
    const common = readCommonCall(call(name, args));
    const written = common && writeCommonCall(common, "opencode", CWD);
    return written && [written.name, written.arguments];
  };
  expect(inOpencode("Read", { file_path: "a.ts", limit: 5 })).toEqual(["read", { filePath: "/home/ada/parser/a.ts", limit: 5 }]);
  const edit = { file_path: "/a.ts", old_string: "x", new_string: "y" };
  expect(inOpencode("Edit", { ...edit, replace_all: true })).toEqual([
    "edit",
    { filePath: "/a.ts", oldString: "x", newString: "y", replaceAll: true },
  ]);
  const edits = [
    { oldText: "x", newText: "y" },
    { oldText: "p", newText: "q" },
  ];
  expect(inOpencode("edit", { path: "a.ts", edits })).toEqual([
    "apply_patch",
    { patchText: "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n@@\n-p\n+q\n*** End Patch" },
  ]);
  expect(inOpencode("exec_command", { cmd: "make", workdir: "/tmp" })).toEqual([
    "bash",
    { command: "make", description: "make", workdir: "/tmp" },
  ]);
  expect(inOpencode("update_plan", { plan: [{ step: "mend", status: "completed" }] })).toEqual([
    "todowrite",
    { todos: [{ content: "mend", status: "completed", priority: "medium" }] },
  ]);
});

test.each([
  ["Antigravity", "replace_file_content", { TargetFile: "/a.ts", TargetContent: "x", ReplacementContent: "y" }],
  [
    "Antigravity, several",
    "multi_replace_file_content",
    { TargetFile: "/a.ts", ReplacementChunks: [{ TargetContent: "x", ReplacementContent: "y", AllowMultiple: false }] },
  ],
  ["Kimi Code", "Edit", { path: "/a.ts", old_string: "x", new_string: "y" }],
  ["Kimi Code before version 2", "StrReplaceFile", { path: "/a.ts", edit: { old: "x", new: "y" } }],
  ["Droid", "Edit", { file_path: "/a.ts", old_str: "x", new_str: "y" }],
  ["Droid, several", "MultiEdit", { file_path: "/a.ts", changes: [{ old_str: "x", new_str: "y" }] }],
  ["Grok Build", "search_replace", { file_path: "/a.ts", old_string: "x", new_string: "y" }],
  ["Qwen Code", "edit", { file_path: "/a.ts", old_string: "x", new_string: "y" }],
])("an edit of %s is one", (_, name, args) => {
  const edits = [{ before: "x", after: "y", all: false }];
  expect(readCommonCall(call(name, args))).toEqual({ kind: "edit", path: "/a.ts", edits });
});

test("a plan of Droid is a text with an item a line", () => {
  const todos = "1. [completed] Read it\n2. [in_progress] Mend it\n3. [pending] Test it";
  expect(readCommonCall(call("TodoWrite", { todos }))).toEqual({
    kind: "plan",
    todos: [
      { text: "Read it", state: "done" },
      { text: "Mend it", state: "doing" },
      { text: "Test it", state: "open" },
    ],
  });
  expect(readCommonCall(call("TodoWrite", { todos: "no list" }))).toBeUndefined();
});

test.each([
  ["an MCP server", "mcp__files__read_file", { path: "a.ts" }],
  ["several files", "read_many_files", { paths: ["a.ts", "b.ts"] }],
  ["a notebook", "NotebookEdit", { notebook_path: "a.ipynb", new_source: "x" }],
  ["edits of several files", "multi_replace_string_in_file", { replacements: [{ filePath: "a", oldString: "x", newString: "y" }] }],
  ["unknown arguments", "read", { target: 1 }],
  ["an unknown tool", "Skill", { command: "pdf" }],
])("a call of %s has no counterpart", (_, name, args) => {
  expect(readCommonCall(call(name, args))).toBeUndefined();
});

test("what is written for pi or Claude Code says the same when it is read again", () => {
  const word = fc.stringMatching(/^[a-z][a-z .'"$\n]{0,12}$/);
  const path = fc.stringMatching(/^\/[a-z]{1,8}\.ts$/);
  const edit = fc.record({ before: word, after: word, all: fc.constant(false) });
  const common: fc.Arbitrary<CommonCall> = fc.oneof(
    fc.record({
      kind: fc.constant("read" as const),
      path,
      offset: fc.integer({ min: 1, max: 99 }),
      limit: fc.integer({ min: 1, max: 99 }),
    }),
    fc.record({ kind: fc.constant("write" as const), path, content: word }),
    fc.record({ kind: fc.constant("edit" as const), path, edits: fc.array(edit, { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant("shell" as const), command: word }),
    fc.record({
      kind: fc.constant("grep" as const),
      pattern: word,
      path,
      glob: word,
      ignoreCase: fc.boolean(),
      onlyFiles: fc.constant(false),
    }),
    fc.record({ kind: fc.constant("glob" as const), pattern: word, path }),
  );
  fc.assert(
    fc.property(common, fc.constantFrom<ToolAgent>("pi", "claude"), (given, agent) => {
      const written = writeCommonCall(given, agent, CWD);
      expect(written && readCommonCall(written)).toEqual(given);
    }),
  );
});
