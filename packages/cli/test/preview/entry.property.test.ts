import { assistantMessage, type Entry, type EntryInput, openStore, systemMessage, toolResult, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { entryPreview } from "../../src/preview/entry.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { drawn, inStyle } from "./drawn.js";

beforeAll(loadExactWidths);

const AT = new Date(2025, 10, 21, 12).getTime();

/** An entry as the store gives it back. */
async function stored(input: EntryInput, ...before: readonly EntryInput[]): Promise<Entry> {
  const store = await openStore({ path: ":memory:" });
  try {
    const session = await store.createSession({ id: "a-session" });
    for (const one of before) await session.append(one);
    await session.append({ id: "an-entry", createdAtMs: AT, ...input });
    return await session.entry("an-entry");
  } finally {
    await store.close();
  }
}

async function texts(input: EntryInput, width = 80): Promise<string> {
  return drawn(entryPreview({ entry: await stored(input) }, width), width);
}

function call(name: string, args: Record<string, unknown>): EntryInput {
  return assistantMessage([{ type: "toolCall", id: "call-1", name, arguments: args }]);
}

const REPLY = assistantMessage(
  [
    { type: "thinking", thinking: "The tab is dropped\nin the lexer." },
    { type: "text", text: "I will **fix** the lexer:\n\n- keep tabs\n- add a test" },
    { type: "toolCall", id: "call-1", name: "edit", arguments: { path: "src/lexer.ts", oldText: "a\nb\nc", newText: "a\nB\nc", note: 1 } },
    { type: "toolCall", id: "call-2", name: "bash", arguments: { command: "npm test -- --run lexer", timeout: 60 } },
  ],
  {
    provider: "acme",
    model: "large-1",
    usage: { input: 12_000, output: 340, cacheRead: 9000, cost: { total: 0.0123 } },
    stopReason: "toolUse",
  },
);

describe("a preview", () => {
  test.each([40, 80, 120])("shows a reply in full at %i columns", async (width) => {
    const lines = entryPreview({ entry: await stored(REPLY), label: "first try", tokens: 412 }, width);
    expect(drawn(lines, width)).toMatchSnapshot();
    expect(inStyle(lines, "added")).toEqual(["+B"]);
    expect(inStyle(lines, "removed")).toEqual(["-b"]);
    expect(inStyle(lines, "dim")).toContain("The tab is dropped");
  });

  test.each([40, 80, 120])("shows a compaction with its range at %i columns", async (width) => {
    const summary: EntryInput = {
      type: "compaction",
      summary: "## Goal\n\nKeep **tabs**.",
      firstKeptEntryId: "kept",
      tokensBefore: 120_000,
      tokensAfter: 9000,
      trigger: "threshold",
      details: { readFiles: ["src/lexer.ts", "src/parser.ts"], modifiedFiles: ["src/lexer.ts"] },
      ...{
        covers: { fromEntryId: "kept", toEntryId: "kept", entries: 40, messages: 31 },
        fidelity: { score: 0.934, total: 61 },
        method: "normal",
      },
    };
    const entry = await stored(summary, { ...userMessage("hello"), id: "kept" });
    expect(drawn(entryPreview({ entry }, width), width)).toMatchSnapshot();
  });

  test("shows a branch summary with its branch, and ignores invalid fields", async () => {
    const text = await texts({
      type: "branch_summary",
      summary: "Tried `a`.",
      fromId: null,
      details: { readFiles: "no list" },
      ...{ covers: 7, fidelity: { score: "x" } },
    });
    expect(text).toMatchInlineSnapshot(`
      "
      branch summary  an-entry  2025-11-21 12:00
      branch tip: (unknown)

      Tried a.
      "
    `);
  });

  test("shows a summary without the fields that Bough adds to its own", async () => {
    const input: EntryInput = { type: "compaction", summary: "Short.", firstKeptEntryId: null, tokensBefore: 500 };
    expect(await texts(input)).toContain("tokens: 500 → ?\n\nShort.");
  });

  test("shows tool output verbatim, with its indentation", async () => {
    const text = await texts(toolResult("call-1", "  if (*a*) {\n\tb\n\n# no heading", { toolName: "read", isError: true }), 40);
    expect(text).toMatchInlineSnapshot(`
      "
      tool result  an-entry  2025-11-21 12:00
      tool: read
      call: call-1

      (error)
        if (*a*) {
          b

      # no heading
      "
    `);
  });

  test("shows written files as text, several edits as diffs, and commands given as words", async () => {
    expect(await texts(call("Write", { file_path: "a.ts", content: "one\n  two\n" }))).toContain("[Write a.ts]\none\n  two\n");
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "d", replace_all: true },
    ];
    expect(await texts(call("MultiEdit", { file_path: "a.ts", edits }))).toMatchInlineSnapshot(`
      "
      assistant  an-entry  2025-11-21 12:00

      [MultiEdit a.ts]
      edit 1 of 2
      -a
      +b
      edit 2 of 2
      -c
      +d
      {
        "edits": [
          {},
          {
            "replace_all": true
          }
        ]
      }
      "
    `);
    expect(await texts(call("shell", { command: ["bash", "-lc", "ls"] }))).toContain("\n$ ls\n");
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch";
    expect(inStyle(entryPreview({ entry: await stored(call("apply_patch", { input: patch })) }, 80), "added")).toEqual(["+b"]);
  });

  test("shows the list of a planning tool as a list, with what the call says beside it", async () => {
    const plan = [
      { step: "Lexer", status: "completed" },
      { step: "Parser", status: "in_progress" },
      { step: "Tests", status: "pending" },
    ];
    const lines = entryPreview({ entry: await stored(call("update_plan", { plan, explanation: "As agreed" })) }, 80);
    expect(drawn(lines, 80)).toContain('[x] Lexer\n[>] Parser\n[ ] Tests\n{\n  "explanation": "As agreed"\n}\n');
    expect(inStyle(lines, "dim")).toContain("[x] Lexer");
  });

  test("hides no argument, of whatever type it is", async () => {
    const odd = { path: null, file_path: 7, oldText: "a", newText: null, edits: ["x", null], command: { a: 1 }, content: [] };
    for (const name of ["edit", "write", "bash", "read", "MultiEdit", ""]) {
      const text = await texts(call(name, odd));
      // The title says the text of `oldText`.
      for (const key of Object.keys(odd).filter((one) => one !== "oldText")) expect(text).toContain(`"${key}"`);
    }
  });

  test("shows a long path in full, also where the heading shortens it", async () => {
    const path = `src/${"deep/".repeat(30)}a.ts`;
    for (const name of ["read", "edit", "write"])
      expect((await texts(call(name, { path, oldText: "a", newText: "b", content: "c" }), 300)).split(path)).toHaveLength(2);
  });

  test("has text for every type of entry", async () => {
    const inputs: readonly EntryInput[] = [
      systemMessage("Be careful."),
      userMessage(""),
      userMessage([{ type: "image", data: "AAAA", mimeType: "image/png" }]),
      { type: "message", message: { role: "bashExecution", command: "ls", output: "a\n b", exitCode: 1, excludeFromContext: true } },
      { type: "message", message: { role: "custom", customType: "note", content: "noted" } },
      { type: "model_change", provider: "acme", modelId: "large-1" },
      { type: "thinking_level_change", thinkingLevel: null },
      { type: "custom_message", customType: "hint", content: "read *this*" },
      { type: "custom", customType: "state", data: { a: [1] } },
      { type: "foreign", originalType: "odd", raw: { b: "c" } },
    ];
    const previews: string[] = [];
    for (const input of inputs) previews.push(await texts(input, 60));
    expect(previews.join("---")).toMatchSnapshot();
  });

  test("shows the replacement of a context edit, or that it omits an entry", async () => {
    const target = { ...userMessage("hello"), id: "target" };
    const replaced = await stored(
      { type: "context_edit", targetId: "target", replacement: { content: [{ type: "text", text: "**short**" }] } },
      target,
    );
    expect(drawn(entryPreview({ entry: replaced }, 60), 60)).toContain("replaces in the context: target\n\nshort\n");
    const omitted = await stored({ type: "context_edit", targetId: "target", replacement: null }, target);
    expect(drawn(entryPreview({ entry: omitted }, 60), 60)).toContain("leaves out of the context: target\n");
  });

  test("of a megabyte ends after 2,000 lines, with the number of the others and the command that prints them", async () => {
    const entry = await stored(toolResult("call-1", "some line of output\n".repeat(50_000)));
    const lines = entryPreview({ entry, sessionId: "a-session" }, 80);
    expect(lines).toHaveLength(2001);
    expect(textOfLine(lines.at(-1) ?? [])).toBe("(about 48,003 more lines; all: bough show a-session an-entry)");
  });

  test("of any text and any arguments fits and never fails", async () => {
    const entry = await stored(REPLY);
    if (entry.type !== "message") throw new TypeError("a reply is a message");
    const text = fc.string({ unit: "binary", maxLength: 200 });
    fc.assert(
      fc.property(
        text,
        fc.dictionary(fc.constantFrom("path", "oldText", "newText", "edits", "command", "content", "x"), fc.oneof(text, fc.jsonValue())),
        fc.integer({ min: 2, max: 60 }),
        (text, given, width) => {
          const args: Record<string, unknown> = given;
          const message = {
            role: "assistant" as const,
            content: [
              { type: "text" as const, text },
              { type: "toolCall" as const, id: text, name: "edit", arguments: args },
            ],
          };
          for (const line of entryPreview({ entry: { ...entry, message }, label: text }, width))
            expect(lineWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
