// The entries of the session that `looks.mjs` draws beside the fixtures: each type, role and block, and each way to call a tool.

const AT = Date.UTC(2026, 0, 5, 12);
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PATCH = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-old\n+new\n*** End Patch";
const UNIFIED = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n same\n-old\n+new";

const many = (lines) => Array.from({ length: lines }, (_, at) => `line ${at + 1}`).join("\n");

const TODOS = [
  { content: "Read the lexer", status: "completed" },
  { content: "Keep *tabs*", status: "in_progress", activeForm: "Keeping tabs" },
  { content: "Add a test", status: "pending" },
];

/** Calls, and the results of some of them: text, `error` for a failure. */
const CALLS = [
  ["edit", { path: "/home/ada/app/src/a.ts", oldText: "a\nb\nc", newText: "a\nB\nc" }, "done"],
  ["Edit", { file_path: "/home/ada/app/src/a.ts", old_string: "", new_string: "x\n", replace_all: true }, "done"],
  ["Edit", { file_path: "src/a.ts", old_string: many(30), new_string: `${many(30)}\n${many(30)}` }, "done"],
  ["Edit", { file_path: "src/a.ts", old_string: "same", new_string: "same" }, "error"],
  [
    "MultiEdit",
    {
      file_path: "a.ts",
      edits: [
        { old_string: "a", new_string: "b" },
        { old_string: "c", new_string: "d", replace_all: true },
      ],
    },
    "done",
  ],
  ["Write", { file_path: "src/new.py", content: "one\n  two\n" }, "written"],
  ["Write", { file_path: "src/empty.py", content: "" }, "written"],
  ["write", { path: `src/${"deep/".repeat(40)}a.ts`, content: many(80) }, "written"],
  ["bash", { command: "cd /home/ada/app && npm test -- --run lexer", timeout: 60 }, many(40)],
  ["bash", { command: "ls", description: "List files" }, ""],
  ["bash", { command: `node -e '${many(70)}'`, description: "" }, "error"],
  ["shell", { command: ["bash", "-lc", "ls -l"], workdir: "/home/ada/app" }, "a.ts"],
  ["shell", { command: ["apply_patch", PATCH] }, "done"],
  ["exec_command", { cmd: "git diff", yield_time_ms: 100 }, UNIFIED],
  ["run_thing", { command: "do it", path: "/tmp/x" }, "ok"],
  ["apply_patch", { input: PATCH }, "done"],
  ["edit_file", { path: "a.ts", diff: "@@ -1 +1 @@\n-a\n+b" }, "done"],
  [
    "read",
    { path: "/home/ada/app/src/a.ts", offset: 10, limit: 20 },
    "    10→const a = 1;\n    11→const b = 2;\n\n<system-reminder>\nBe careful.\n</system-reminder>",
  ],
  ["Read", { file_path: `/home/ada/app/${"long/".repeat(30)}b.rs` }, "1\tfn main() {}\n2\t// end"],
  ["view", { path: "a.ts", view_range: [1, 5] }, "x"],
  ["grep", { pattern: "tab", path: "/home/ada/app/src", glob: "*.ts", output_mode: "content" }, "src/a.ts:1: tab"],
  ["Glob", { pattern: "**/*.ts" }, "a.ts\nb.ts"],
  ["TodoWrite", { todos: TODOS }, "Todos have been modified"],
  ["TodoWrite", { todos: TODOS }, "error"],
  [
    "update_plan",
    {
      explanation: "First the lexer",
      plan: [
        { step: "Lexer", status: "completed" },
        { step: "Parser", status: "pending" },
      ],
    },
    "Plan updated",
  ],
  ["update_plan", { plan: "no list" }, "error"],
  [
    "mcp__db__query",
    { sql: "SELECT *\nFROM t", limit: 5, deep: { a: [1, null, true] }, nothing: null, empty: "", missing: undefined },
    "[]",
  ],
  ["mcp__empty", {}, "fine"],
  ["WebFetch", { url: "https://example.org/<b>", prompt: "What is *this*?" }, "A page"],
  ["Task", { description: "Look", prompt: "Find the lexer.\nThen say where.", subagent_type: "explore" }, "Found."],
  ["str_replace_based_edit_tool", { command: "create", path: "a.md", file_text: "# Title\n" }, "done"],
  ["move", { source: "a.ts", destination: "b.ts" }, "moved"],
  ["delete_file", { path: "gone.ts" }, "deleted"],
  ["odd", { path: null, file_path: 7, oldText: "a", newText: null, edits: ["x", null], command: { a: 1 }, content: [] }, "odd"],
];

function message(message) {
  return { type: "message", message };
}

function callEntries() {
  return CALLS.flatMap(([name, args, output], at) => {
    const id = `call-${at}`;
    const call = { type: "toolCall", id, name, arguments: JSON.parse(JSON.stringify(args)) };
    const isError = output === "error";
    return [
      message({ role: "assistant", content: [call], stopReason: "toolUse" }),
      message({ role: "toolResult", toolCallId: id, toolName: name, content: isError ? "It failed:\nno such file" : output, isError }),
    ];
  });
}

const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const file = { type: "file", mediaType: "application/pdf", filename: "plan.pdf", data: "JVBERi0xLjQK" };
const link = { type: "file", mediaType: "text/plain", url: "https://example.org/a.txt" };
const foreign = { type: "foreign", originalType: "audio", raw: { type: "audio", seconds: 3 } };
const text = (words) => ({ type: "text", text: words });

/** The entries, in the order in which they are appended; each has an id and a time. */
export function craftedEntries() {
  const inputs = [
    message({ role: "system", content: "You are *careful*.\nUse <b>tabs</b>." }),
    message({ role: "system", content: [text("One."), text("Two.")] }),
    message({
      role: "user",
      content: "# Fix the lexer\n\n- keep `tabs`\n\n```ts\nconst a = 1;\n```\n<b>html</b> and [a link](javascript:x)",
    }),
    { type: "model_change", provider: "acme", modelId: "large-1" },
    { type: "model_change", modelId: "small-1" },
    { type: "thinking_level_change", thinkingLevel: "high" },
    { type: "thinking_level_change", thinkingLevel: null },
    message({
      role: "assistant",
      provider: "acme",
      model: "large-1",
      content: [
        { type: "thinking", thinking: "The tab is dropped\nin the *lexer*." },
        text("I will **fix** the lexer:\n\n- keep tabs"),
        { type: "toolCall", id: "two-1", name: "bash", arguments: { command: "ls" } },
        { type: "toolCall", id: "two-2", name: "read", arguments: { path: "a.ts" } },
      ],
      usage: { input: 12_000, output: 340, cacheRead: 9000, cacheWrite: 20, cost: { total: 0.0123 } },
      stopReason: "toolUse",
    }),
    message({
      role: "toolResult",
      toolCallId: "two-2",
      toolName: "read",
      content: [text("const a = 1;"), image, text("more\n")],
      isError: false,
    }),
    message({ role: "toolResult", toolCallId: "two-1", toolName: "bash", content: [image], isError: false }),
    message({
      role: "assistant",
      content: [{ type: "thinking", thinking: "", redacted: true }, text(""), image, file, link, foreign],
      stopReason: "stop",
    }),
    message({ role: "assistant", content: [text("I start")], stopReason: "aborted" }),
    message({
      role: "assistant",
      content: [{ type: "toolCall", id: "open", name: "bash", arguments: { command: "sleep 9" } }],
      stopReason: "error",
      errorMessage: "Overloaded <now>",
    }),
    message({ role: "assistant", content: [], stopReason: "error", errorMessage: "  " }),
    message({
      role: "assistant",
      content: [{ type: "toolCall", id: "lost", name: "bash", arguments: { command: "true" } }],
      stopReason: "toolUse",
    }),
    message({ role: "user", content: [text("See these:"), image, file, link, foreign] }),
    message({ role: "assistant", content: [text("A long answer that was cut")], stopReason: "length" }),
    message({
      role: "toolResult",
      toolCallId: "stray",
      toolName: "grep",
      content: `${many(30)}\n<system-reminder>\nx\n</system-reminder>`,
      isError: true,
    }),
    message({ role: "toolResult", toolCallId: "stray-2", content: "", isError: false }),
    message({ role: "toolResult", toolCallId: "stray-3", content: [file, foreign], isError: false }),
    message({ role: "bashExecution", command: "npm test", output: many(40), exitCode: 1 }),
    message({ role: "bashExecution", command: `git diff\n# ${"long ".repeat(60)}`, output: UNIFIED, exitCode: 0, truncated: true }),
    message({ role: "bashExecution", command: "sleep 9", output: "", exitCode: null, cancelled: true }),
    message({ role: "bashExecution", command: "cat ~/.netrc", output: "nothing", excludeFromContext: true }),
    message({ role: "custom", customType: "note", content: "A *note* of the host", display: true }),
    message({ role: "custom", customType: "hidden", content: [text("A reminder"), image], display: false }),
    message({
      role: "custom",
      customType: "claude.command",
      content: "<command-name>/init</command-name>\n<command-args>fast</command-args>",
    }),
    message({ role: "custom", customType: "claude.bash", content: "<bash-input>ls</bash-input>" }),
    message({ role: "user", content: '<skill name="review" location="x">\nRead all of it.\n</skill>\n\nsrc' }),
    { type: "custom_message", customType: "ext.note", content: "Line 1\nLine 2\n\nLine 4\nLine 5\nLine 6" },
    { type: "custom_message", customType: "ext.hidden", content: [text("hidden"), image], display: false },
    { type: "custom", customType: "ext.state", data: { a: [1, 2], b: null } },
    { type: "custom", customType: "ext.none" },
    { type: "foreign", originalType: "mystery", raw: { type: "mystery", x: 1 } },
    ...callEntries(),
    message({ role: "user", content: "Go on" }),
  ];
  const entries = inputs.map((input, at) => ({ id: `e${at}`, createdAtMs: AT + at * 60_000, ...input }));
  const after = [
    { type: "context_edit", targetId: "e2", replacement: null },
    { type: "context_edit", targetId: "e2", replacement: { content: "Another *text*" } },
    { type: "context_edit", targetId: "e2", replacement: { content: [text("Block one"), text("Block two")] } },
    { type: "context_edit", targetId: "e2", replacement: { content: [text("Block"), image] } },
    {
      type: "compaction",
      summary:
        "## Goal\n\nKeep **tabs**.\n\n<modified-files>\nsrc/lexer.ts\n</modified-files>\n\n<read-files>\n- src/parser.ts\n</read-files>",
      firstKeptEntryId: `e${entries.length - 1}`,
      tokensBefore: 120_000,
      tokensAfter: 9000,
      trigger: "threshold",
      title: "Tabs",
      instructions: "Keep the file names",
      usage: { input: 100, output: 20 },
      details: { readFiles: ["src/lexer.ts", "src/parser.ts"], modifiedFiles: ["src/lexer.ts"] },
      covers: { fromEntryId: "e0", toEntryId: "e9", entries: 10, messages: 7 },
      fidelity: { score: 0.934, total: 61 },
      method: "normal",
    },
    { type: "compaction", summary: "Short.\n\n<read-files>\na.ts\nb.ts\n</read-files>", firstKeptEntryId: null, tokensBefore: 500 },
    { type: "compaction", summary: "", firstKeptEntryId: null },
    {
      type: "branch_summary",
      summary: "<branch-note>\nFor the model.\n</branch-note>\n\nTried `a`.",
      fromId: "e3",
      details: { modifiedFiles: ["a.ts", "", 7] },
    },
    { type: "branch_summary", summary: "Tried b.", fromId: null, details: { readFiles: "no list" } },
  ];
  return [...entries, ...after.map((input, at) => ({ id: `f${at}`, createdAtMs: AT + (entries.length + at) * 60_000, ...input }))];
}
