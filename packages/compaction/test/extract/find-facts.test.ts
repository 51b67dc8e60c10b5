import type { ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { FACT_LIMITS, type FactKind, findFacts } from "../../src/extract/facts.js";
import { ran, said, user } from "./talk.js";

function textsOf(kind: FactKind, messages: readonly ContextMessage[]): readonly string[] {
  return findFacts(messages)
    .filter((fact) => fact.kind === kind)
    .map(({ text }) => text);
}

describe("the last request", () => {
  test("is the last text of the user with a request", () => {
    const talk = [
      user("Fix the lexer."),
      said("Done."),
      user("Now write tests for tabs."),
      said("Written."),
      user("continue"),
      user("thanks!"),
    ];
    expect(findFacts(talk)[0]).toEqual({ kind: "request", text: "Now write tests for tabs.", at: 2 });
  });

  test.each(["/compact", "ok", "go on", "'/home/ada/Screenshot 1.png'", "…", ""])("is not %j", (text) => {
    expect(textsOf("request", [user(text)])).toEqual([]);
  });

  test("is without the code that was pasted into it", () => {
    expect(textsOf("request", [user("Why does this fail?\n```ts\nconst a = 1;\n```\nIt did not yesterday.")])).toEqual([
      "Why does this fail? It did not yesterday.",
    ]);
  });
});

describe("a rule of the user", () => {
  test.each([
    "Every public function must have a test.",
    "Never push to main.",
    "always run the linter before you commit",
    "Don't touch the lexer.",
    "Do not add dependencies.",
    "dont rename files",
    "Only use the standard library.",
    "Please avoid classes.",
    "You mustn't change the schema.",
    "Make sure the build passes.",
    "I don't care how, but it must never crash.",
  ])("is %j", (text) => {
    expect(textsOf("rule", [user(`Here is a task. ${text}`)])).toEqual([text]);
  });

  test.each([
    "I don't know why.",
    "There's only one file left.",
    "It doesn't work.",
    "I don't think the cache is right.",
    "They don't match.",
    "Do you always do that?",
    "This needs work.",
    "I must say that I like it.",
  ])("is not %j", (text) => {
    expect(textsOf("rule", [user(text)])).toEqual([]);
  });

  test("comes only from user messages, not from the model, tool output or the host", () => {
    const talk: ContextMessage[] = [
      said("You must never do that."),
      ...ran("bash", { command: "npm test" }, "must not be null"),
      { role: "custom", customType: "reminder", content: "You must be quiet." },
      user("<system-reminder>\nYou must always use the todo list.\n</system-reminder>\nFix it now."),
    ];
    expect(textsOf("rule", talk)).toEqual([]);
  });

  test("is found once, however often it occurs", () => {
    expect(textsOf("rule", [user("Never push to main."), user("never push to main.")])).toEqual(["Never push to main."]);
  });
});

describe("a file", () => {
  test.each([
    ["read", { path: "src/a.ts" }],
    ["Read", { file_path: "src/a.ts" }],
    ["mcp__files__edit_file", { path: "./src/a.ts" }],
    ["apply_patch", { input: "*** Begin Patch\n*** Update File: src/a.ts\n*** End Patch" }],
    ["shell", { command: ["apply_patch", "*** Begin Patch\n*** Add File: src/a.ts\n+x\n*** End Patch"] }],
    ["str_replace_based_edit_tool", { command: "view", path: "src/a.ts" }],
    ["view", { path: "src/a.ts:10-20" }],
    ["write", { files: ["src/a.ts"] }],
  ])("is what a call of %s names", (name, given) => {
    expect(textsOf("file", ran(name, given))).toEqual(["src/a.ts"]);
  });

  test("is a file named in a text, with or without a line number", () => {
    expect(textsOf("file", [user("Look at src/lexer.ts:14:2, and at `docs/api.md`; README.md too.")])).toEqual([
      "src/lexer.ts",
      "docs/api.md",
      "README.md",
    ]);
  });

  test.each([
    "see https://example.com/a/b.html",
    "it runs on Node.js and/or Bun",
    "version v1.2.3",
    "call theme.fg then",
    "read/write speed",
    "node_modules/left-pad/index.js",
    "pnpm-lock.yaml",
    "/tmp/out.txt",
    "1.5/2.5",
  ])("is not in %j", (text) => {
    expect(textsOf("file", [user(text)])).toEqual([]);
  });

  test("that was changed comes before those that were read or named", () => {
    const talk = [user("See a/named.ts and a/named.ts."), ...ran("read", { path: "a/read.ts" }), ...ran("edit", { path: "a/changed.ts" })];
    expect(textsOf("file", talk)).toEqual(["a/changed.ts", "a/named.ts", "a/read.ts"]);
  });

  test("has one name for its absolute path, its path in the project and its bare name", () => {
    const talk = [user("Fix lexer.ts, that is src/lexer.ts"), ...ran("edit", { path: "/home/ada/lexer/src/lexer.ts" })];
    expect(textsOf("file", talk)).toEqual(["src/lexer.ts"]);
  });

  test("that is named without folder is dropped if two paths end in it", () => {
    const talk = [...ran("edit", { path: "a/index.ts" }), ...ran("edit", { path: "b/index.ts" }), said("I changed index.ts.")];
    expect(textsOf("file", talk)).toEqual(["b/index.ts", "a/index.ts"]);
  });

  test("is not looked for in the output of tools", () => {
    expect(textsOf("file", ran("bash", { command: "npm test" }, "src/a.ts\nsrc/b.ts"))).toEqual([]);
  });
});

describe("a command", () => {
  test.each([
    ["npm test", "npm test"],
    ["cd app && npm run check 2>&1 | tail -20", "npm run check"],
    ["ls -la; make build", "make build"],
    ["FOO=1 npm test | grep -v ok", "FOO=1 npm test"],
    ['git add . && git commit -m "a && b | c"', 'git add . && git commit -m "a && b | c"'],
    ["# comment\nnpm \\\n  test", "npm test"],
    ["python - <<'EOF'\nprint(1)\nEOF", "python -"],
  ])("as %j is kept as %j", (command, kept) => {
    expect(textsOf("command", ran("bash", { command }))).toEqual([kept]);
  });

  test.each(["ls", "cat a | head", "cd x && pwd", "git status", "grep -rn foo src | wc -l", "sleep 5", ""])(
    "that only looks is none: %j",
    (command) => {
      expect(textsOf("command", ran("bash", { command }))).toEqual([]);
    },
  );

  test.each([
    ["Bash", { command: "npm test" }],
    ["shell", { command: ["bash", "-lc", "npm test"] }],
    ["run_in_terminal", { command: "npm test" }],
    ["exec_command", { cmd: "npm test" }],
    ["run_shell_command", { command: "npm test" }],
  ])("is one when %s runs it", (name, given) => {
    expect(textsOf("command", ran(name, given))).toEqual(["npm test"]);
  });

  test("that the user ran counts, unless the model was not to see it", () => {
    const run: ContextMessage = { role: "bashExecution", command: "npm test", output: "", exitCode: 0 };
    expect(textsOf("command", [run])).toEqual(["npm test"]);
    expect(findFacts([{ ...run, excludeFromContext: true }])).toEqual([]);
  });
});

describe("an error", () => {
  test("is the line of a failed result with the reason, not its stack frames", () => {
    const output = "> app test\n\nTypeError: x is undefined\n    at run (a.js:1)\n\nCommand exited with code 1";
    expect(textsOf("error", ran("bash", { command: "npm test" }, output, { failed: true }))).toEqual(["TypeError: x is undefined"]);
  });

  test("is the last line if no line has a reason", () => {
    expect(textsOf("error", ran("bash", { command: "x" }, "one\ntwo\nCommand exited with code 3", { failed: true }))).toEqual(["two"]);
  });

  test.each(["Command exited with code 1", "", "No result was recorded for this call.", "(no output)"])(
    "is not %j, which says nothing",
    (output) => {
      expect(textsOf("error", ran("bash", { command: "grep x" }, output, { failed: true }))).toEqual([]);
    },
  );

  test("is found in the output of a command whose result is no error", () => {
    const output = "src/a.ts(5,15): error TS2305: no such member\nfatal: not a repository\n0 errors";
    expect(textsOf("error", ran("bash", { command: "npm run build | tail" }, output))).toEqual([
      "src/a.ts(5,15): error TS2305: no such member",
      "fatal: not a repository",
    ]);
  });

  test("is not text of a file that was read", () => {
    expect(textsOf("error", ran("read", { path: "a.ts" }, "throw new Error: error: fatal: FAIL "))).toEqual([]);
  });

  test("is one though the lines and counts in it differ", () => {
    const talk = [3, 7].flatMap((line) => ran("bash", { command: "npm test" }, `a.ts:${line}: error: bad`, { failed: true }));
    expect(textsOf("error", talk)).toHaveLength(1);
  });
});

describe("names and numbers", () => {
  test("are names in backticks, without calls' brackets", () => {
    expect(textsOf("identifier", [said("I renamed `readAll()` to `readEach`; see `src/a.ts` and `npm run x`.")])).toEqual([
      "readAll",
      "readEach",
    ]);
  });

  test("are numbers with a unit", () => {
    const text = "It takes 42ms, 16,384 tokens and 1.5 GB; 14 tests passed, 80% of 3 and v1.2, line 7, a1s.";
    expect(textsOf("number", [said(text)])).toEqual(["42ms", "16,384 tokens", "1.5GB", "14 tests", "80%"]);
  });

  test("are not looked for in code blocks", () => {
    expect(findFacts([said("```\n`name` 42ms src/a.ts\n```")])).toEqual([]);
  });
});

describe("for any messages", () => {
  const bytes = fc.uint8Array({ minLength: 300, maxLength: 3_000 });

  test("nothing is found inside base64, wrapped or not", () => {
    fc.assert(
      fc.property(bytes, fc.constantFrom(0, 64, 76), (data, width) => {
        const line = Buffer.from(data).toString("base64");
        const text = width === 0 ? line : (line.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join("\n");
        expect(findFacts([said(text)])).toEqual([]);
        expect(findFacts([user(text)])).toEqual([]);
        expect(findFacts(ran("bash", { command: "ls" }, text, { failed: true }))).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  test("each fact is one line of well-formed text, once, from a message that is there, within the limit of its kind", () => {
    const words = fc.constantFrom(
      "must",
      "never",
      "`a b`",
      "`x`",
      "src/a.ts",
      "12 ms",
      "error: no",
      "\n",
      "\ud83d",
      "😀",
      "```",
      "# h",
      "don't",
      "\u001b[31m",
    );
    const text = fc.array(words, { maxLength: 30 }).map((parts) => parts.join(" "));
    const message = fc.oneof(
      text.map((one) => [user(one)]),
      text.map((one) => [said(one)]),
      fc.tuple(text, text, fc.boolean()).map(([command, output, failed]) => ran("bash", { command }, output, { failed })),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (given) => {
        const talk = given.flat();
        const facts = findFacts(talk);
        expect(findFacts(talk)).toEqual(facts);
        expect(new Set(facts.map(({ kind, text: one }) => `${kind} ${one}`)).size).toBe(facts.length);
        for (const { text: one, at } of facts) {
          expect(one).toMatch(/^[^\n\u0000-\u001f]+$/);
          expect(one.isWellFormed()).toBe(true);
          expect(talk[at]).toBeDefined();
        }
        for (const [kind, limit] of Object.entries(FACT_LIMITS))
          expect(facts.filter((fact) => fact.kind === kind).length).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test("there are no more of a kind than its limit", () => {
    const talk = Array.from({ length: 200 }, (_one, at) => user(`Never touch src/f${at}.ts. It has ${at} lines and \`name${at}\`.`));
    expect(textsOf("rule", talk)).toHaveLength(FACT_LIMITS.rule);
    expect(textsOf("file", talk)).toHaveLength(FACT_LIMITS.file);
    expect(textsOf("identifier", talk)).toHaveLength(FACT_LIMITS.identifier);
  });

  test.each([
    ["one letter", "a".repeat(1_000_000)],
    ["slashes", "/a".repeat(500_000)],
    ["backticks", "`".repeat(1_000_000)],
    ["digits", "1".repeat(1_000_000)],
    ["dots", "a.".repeat(500_000)],
    ["line breaks", "\n".repeat(1_000_000)],
    ["spaces", " ".repeat(1_000_000)],
    ["tags", "<system-reminder>\n".repeat(60_000)],
    ["fences", "```\n".repeat(250_000)],
    ["Chinese", "必须".repeat(500_000)],
    ["half pairs", "\ud83d".repeat(1_000_000)],
  ])("a megabyte of %s is read (work that grows with its square would pass the time limit of any test)", (_name, text) => {
    const facts = findFacts([
      user(text),
      said(text),
      ...ran("bash", { command: text }, text, { failed: true }),
      ...ran("edit", { path: text, input: text }, text),
    ]);
    expect(facts).toBeDefined();
  });
});
