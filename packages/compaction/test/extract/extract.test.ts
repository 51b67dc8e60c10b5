import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { extract } from "../../src/extract/extract.js";
import type { SummarySource } from "../../src/summarizers/summarizer.js";
import { ran, said, user } from "./talk.js";

function source(messages: readonly ContextMessage[], more: Partial<SummarySource> = {}): SummarySource {
  return { messages, kind: "history", previousSummary: null, instructions: null, ...more };
}

/** So much output that an extract of the talk is far smaller than it. */
const OUTPUT = "a line of output that nobody needs again\n".repeat(200);

/** The lines below a heading, up to the next. */
function section(text: string, heading: string): readonly string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.replace(/^#+ /, "") === heading && line.startsWith("#"));
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("#"));
  return (end === -1 ? rest : rest.slice(0, end)).filter((line) => line !== "");
}

/** A session in which a person has a lexer mended. */
const LEXER: readonly ContextMessage[] = [
  user("Make the lexer in src/lexer.ts read tabs.\nNever change the public API."),
  said("Let me look first."),
  ...ran("read", { path: "src/lexer.ts" }, OUTPUT),
  ...ran("bash", { command: "npm test 2>&1 | tail -20" }, "TypeError: x is undefined\n1 failed", { failed: true }),
  ...ran("edit", { path: "src/lexer.ts", oldText: "a", newText: "b" }, "Edited", {
    text: "The regular expression counts a tab as a word, so tabs go into a table. Now the edit:",
  }),
  ...ran("bash", { command: "npm test" }, `${OUTPUT}14 passed`),
  said("Perfect! I taught the lexer to read tabs, with a table instead of a regular expression. Let me know if that is fine."),
  user("Good. Now write the changelog."),
  ...ran("edit", { path: "CHANGELOG.md", oldText: "a", newText: "b" }, "Edited"),
  said("Done! The changelog says that tabs are read.\n\nNext steps:\n1. Tag the release\n2. Tell the users"),
  user("Publish it."),
  ...ran("bash", { command: "npm publish" }, "npm error 403 Forbidden: not allowed", { failed: true }),
];

describe("an extract of a session", () => {
  const text = extract(source(LEXER), { maxChars: 8_000 });

  test("is marked in its first line", () => {
    expect(text.split("\n")[0]).toBe("Extracted mechanically; no model wrote this.");
  });

  test("starts with the first request, then later ones, then the last one in full", () => {
    expect(section(text, "Goal")).toEqual([
      "> Make the lexer in src/lexer.ts read tabs.",
      "> Never change the public API.",
      "Then asked:",
      "- Good. Now write the changelog.",
      "Asked last:",
      "> Publish it.",
    ]);
  });

  test("has the user's rules in their words", () => {
    expect(section(text, "Constraints & Preferences")).toEqual(["- Never change the public API."]);
  });

  test("lists finished work in the model's words, and passed checks", () => {
    expect(section(text, "Done")).toEqual([
      "- [x] `npm test`: 14 passed",
      "- [x] I taught the lexer to read tabs, with a table instead of a regular expression.",
      "- [x] The changelog says that tabs are read.",
    ]);
  });

  test("lists open work and what blocks it", () => {
    expect(section(text, "In Progress")).toEqual([
      "- [ ] What was asked last was not finished at this point; the last step was [bash npm publish]",
    ]);
    expect(section(text, "Blocked")).toEqual(["- `npm publish` fails: npm error 403 Forbidden: not allowed"]);
  });

  test("lists decisions: the model's text beside a successful change", () => {
    expect(section(text, "Key Decisions")).toEqual(["- The regular expression counts a tab as a word, so tabs go into a table."]);
  });

  test("lists each error with whether it was fixed", () => {
    expect(section(text, "Errors")).toEqual(["- Fixed: `npm test`: TypeError: x is undefined"]);
  });

  test("lists the files that were changed", () => {
    expect(section(text, "Files")).toEqual(["Changed:", "- CHANGELOG.md", "- src/lexer.ts"]);
  });

  test("ends with the last state and what comes next", () => {
    expect(section(text, "Last State")[0]).toBe("> Done! The changelog says that tabs are read.");
    expect(section(text, "Next Steps")).toEqual(["1. Tag the release", "2. Tell the users"]);
  });

  test("is the same for the same source", () => {
    expect(extract(source(structuredClone(LEXER)), { maxChars: 8_000 })).toBe(text);
  });
});

describe("what is no finished work", () => {
  const worked = (...replies: readonly string[]) =>
    replies.flatMap((reply, at) => [
      user(`Mend part ${at} of the lexer.`),
      ...ran("edit", { path: `src/${at}.ts`, oldText: "a", newText: "b" }, OUTPUT),
      said(reply),
    ]);

  test.each([
    "👍🎉",
    "👍 Done!",
    "✅",
    "You typed ls, so its files are listed.",
    "You ran the tests and they pass.",
    "you asked for a table.",
  ])("%s", (reply) => {
    const text = extract(source(worked("The table has tabs.", reply, "The tests cover tabs.")), { maxChars: 8_000 });
    expect(section(text, "Done")).toEqual(["- [x] The table has tabs.", "- [x] The tests cover tabs."]);
  });

  test("a sentence that only contains an emoji or the word is", () => {
    const replies = ["🎉 The table has tabs.", "The prompt shows what you typed."];
    expect(section(extract(source(worked(...replies)), { maxChars: 8_000 }), "Done")).toEqual(replies.map((reply) => `- [x] ${reply}`));
  });

  test.each(["👍", "🙏🎉", "thanks!", "ok"])("and no request: %s", (answer) => {
    const text = extract(source([...worked("The table has tabs."), user(answer), said("Good night.")]), { maxChars: 8_000 });
    expect(section(text, "Goal")).toEqual(["> Mend part 0 of the lexer."]);
  });
});

describe("code", () => {
  test("in an earlier summary is inline code line by line, so that no cut opens a block", () => {
    const previousSummary = "The API is:\n\n```ts\nexport function lex(text) {\n  return `x`;\n}\n```\n\nAll tests pass.";
    const text = extract(source(LEXER, { previousSummary }), { maxChars: 8_000 });
    const lines = ["The API is:", "`export function lex(text) {`", "return `x`;", "`}`", "All tests pass."];
    expect(section(text, "Earlier Summary")).toEqual(lines);
    expect(section(extract(source([], { previousSummary: text }), { maxChars: 8_000 }), "Earlier Summary")).toEqual(lines);
  });

  test("that a person pasted without a word is a request, quoted as inline code", () => {
    const pasted = "```\nTypeError: x is undefined\n    at src/lexer.ts:3\n```";
    const text = extract(source([...LEXER, user(pasted)]), { maxChars: 8_000 });
    expect(section(text, "Goal").slice(-3)).toEqual(["Asked last:", "> `TypeError: x is undefined`", "> `at src/lexer.ts:3`"]);
  });

  test("beside words is left out of a request", () => {
    const text = extract(source([...LEXER, user("Mend this:\n```\nlet x\n```\nand keep its name.")]), { maxChars: 8_000 });
    expect(section(text, "Goal").slice(-2)).toEqual(["> Mend this:", "> and keep its name."]);
  });
});

describe("a list that the agent keeps of its work", () => {
  const todos = (states: readonly string[]) => states.map((status, at) => ({ content: `Step ${at + 1}`, status }));
  const talk = (name: string, given: Record<string, unknown>) => [user("Do it all."), ...ran(name, given, OUTPUT)];

  test.each<[string, Record<string, unknown>]>([
    ["TodoWrite", { todos: todos(["completed", "in_progress", "pending"]) }],
    [
      "update_plan",
      {
        explanation: "x",
        plan: [
          { step: "Step 1", status: "completed" },
          { step: "Step 2", status: "in_progress" },
          { step: "Step 3", status: "pending" },
        ],
      },
    ],
    [
      "manage_todo_list",
      {
        todoList: [
          { title: "Step 1", status: "completed" },
          { title: "Step 2", status: "in-progress" },
          { title: "Step 3", status: "not-started" },
        ],
      },
    ],
  ])("with %s says what is done and what is open", (name, given) => {
    const text = extract(source(talk(name, given)), { maxChars: 4_000 });
    expect(section(text, "Done")).toEqual(["- [x] Step 1"]);
    expect(section(text, "In Progress")).toEqual(expect.arrayContaining(["- [ ] Step 2 (being done)", "- [ ] Step 3"]));
  });

  test("counts as it was last", () => {
    const text = extract(
      source([...talk("TodoWrite", { todos: todos(["pending"]) }), ...ran("TodoWrite", { todos: todos(["completed"]) })]),
      {
        maxChars: 4_000,
      },
    );
    expect(section(text, "Done")).toEqual(["- [x] Step 1"]);
    expect(text).not.toContain("- [ ] Step 1");
  });
});

describe("what a command came to", () => {
  const errors = (...messages: readonly ContextMessage[]) => {
    const text = extract(source([user("Go."), ...messages, user("And now something else, please."), said(OUTPUT)]), { maxChars: 6_000 });
    return section(text, "Errors");
  };
  const failing = ran("bash", { command: "make" }, "make: *** error: no rule", { failed: true });

  test("is not fixed as far as anybody saw, when it did not run well again", () => {
    expect(errors(...failing)).toEqual(["- Not seen fixed: `make`: make: *** error: no rule"]);
  });

  test("is fixed when it ran well later, also as a part of another command", () => {
    expect(errors(...failing, ...ran("bash", { command: "npm i && make" }, "ok"))).toEqual(["- Fixed: `make`: make: *** error: no rule"]);
  });

  test("is an error if its output has one, although a pipe hid the exit code", () => {
    expect(errors(...ran("bash", { command: "make | tail" }, "fatal: no rule"))).toEqual(["- Not seen fixed: `make`: fatal: no rule"]);
  });

  test("is not worth a word where an edit failed and then worked", () => {
    const edit = (failed: boolean) => ran("edit", { path: "a.ts" }, failed ? "error: text not found" : "Edited", { failed });
    expect(errors(...edit(true), ...edit(false))).toEqual([]);
    expect(errors(...edit(true))).toEqual(["- Not seen fixed: edit: error: text not found"]);
  });
});

describe("the kinds of a source", () => {
  test("are named in the first line", () => {
    const first = (kind: SummarySource["kind"]) => extract(source(LEXER, { kind }), { maxChars: 4_000 }).split("\n")[0];
    expect(first("turn-prefix")).toContain("the start of a turn");
    expect(first("branch")).toContain("a branch of the conversation that was left");
  });

  test("make no unfinished request of a turn whose end is kept", () => {
    expect(extract(source(LEXER, { kind: "turn-prefix" }), { maxChars: 4_000 })).not.toContain("not finished");
  });

  test("may have no user in them: a host spoke for the person", () => {
    const talk: ContextMessage[] = [
      { role: "custom", customType: "meta", content: "<command-name>/init</command-name>" },
      { role: "custom", customType: "prompt", content: "Please write a CLAUDE.md for this code base." },
      said(OUTPUT),
    ];
    expect(section(extract(source(talk), { maxChars: 2_000 }), "Goal")).toEqual(["> Please write a CLAUDE.md for this code base."]);
  });
});

describe("the user's focus", () => {
  test("has room before what else there is", () => {
    const talk = Array.from({ length: 60 }, (_one, at) => [
      user(`Please do the task number ${at} of my long list.`),
      ...ran("edit", { path: `src/${at}.ts` }, "Edited"),
      said(at === 5 ? "The parser was rewritten by hand." : `The thing with the number ${at} was finished as planned.`),
    ]).flat();
    const narrow = { maxChars: 1_200 };
    expect(extract(source(talk), narrow)).not.toContain("The parser was rewritten");
    expect(extract(source(talk, { instructions: "what happened to the parser?" }), narrow)).toContain("The parser was rewritten");
  });
});

describe("little room", () => {
  test.each([40, 100, 200, 400, 1_000])("of %i characters contains the first and the last request", (maxChars) => {
    const text = extract(source(LEXER), { maxChars });
    expect(text.length).toBeLessThanOrEqual(maxChars);
    expect(text).toContain("Make");
    expect(text).toContain("Publish");
  });

  test("has the number of omitted lines", () => {
    const talk = Array.from({ length: 100 }, (_one, at) => [
      user(`Please change file number ${at} for me.`),
      said(`File ${at} is changed.`),
    ]).flat();
    expect(extract(source(talk), { maxChars: 2_000 })).toMatch(/- \(\d+ more left out\)/);
  });

  test("is no reason to grow: a source of a sentence is returned as it is, on one line", () => {
    expect(extract(source([user("Fix\nthe lexer.")]), { maxChars: 8_000 })).toBe("Fix the lexer.");
    expect(extract(source([user("Fix it."), said("Done.")]), { maxChars: 8_000 })).toBe("User: Fix it. Assistant: Done.");
  });

  test("is given by a source of nothing", () => {
    expect(extract(source([]), { maxChars: 8_000 })).toBe("");
  });
});
