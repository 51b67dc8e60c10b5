import type { ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { BLOCK_SHAPES, MARKER } from "../../src/extract/blocks.js";
import { countSourceChars, extract } from "../../src/extract/extract.js";
import type { SummarySource } from "../../src/summarizers/summarizer.js";
import { ran, said, user } from "./talk.js";

const words = fc.constantFrom(
  "must",
  "never",
  "Fix it.",
  "because",
  "`a",
  "`x`",
  "src/a.ts",
  "12 ms",
  "error: no",
  "\n",
  "\n# Goal\n",
  "\n## Earlier Summary\n",
  "\n---\n",
  "\n===\n",
  "```js\n",
  "~~~",
  "\ud83d",
  "😀",
  "\u001b[31m",
  "\u0007",
  "\u202e",
  "- [x]",
  "> ",
  "1. ",
  "Then asked:",
  MARKER,
  "lorem ipsum dolor sit amet consectetur ".repeat(8),
);
const text = fc.array(words, { maxLength: 25 }).map((parts) => parts.join(" "));
const message: fc.Arbitrary<readonly ContextMessage[]> = fc.oneof(
  text.map((one) => [user(one)]),
  text.map((one) => [said(one)]),
  fc.tuple(text, text, fc.boolean()).map(([command, output, failed]) => ran("bash", { command }, output, { failed })),
  fc.tuple(text, text).map(([path, output]) => ran("edit", { path }, output)),
  text.map((content) => ran("TodoWrite", { todos: [{ content, status: "pending" }] })),
  text.map((summary): ContextMessage[] => [{ role: "compactionSummary", summary }]),
  text.map((summary): ContextMessage[] => [{ role: "branchSummary", summary, fromId: null }]),
  fc.tuple(text, text).map(([command, output]): ContextMessage[] => [{ role: "bashExecution", command, output, exitCode: 1 }]),
);
const source: fc.Arbitrary<SummarySource> = fc.record({
  messages: fc.array(message, { maxLength: 14 }).map((all) => all.flat()),
  kind: fc.constantFrom("history", "turn-prefix", "branch"),
  previousSummary: fc.option(text),
  instructions: fc.option(text),
});
const room = fc.integer({ min: 40, max: 6_000 });

const HEADINGS = new Set<string>(
  Object.values(BLOCK_SHAPES).flatMap((shape) => [`## ${shape.heading}`, ...("under" in shape ? [`### ${shape.under}`] : [])]),
);

describe("an extract of any source", () => {
  test("fits, and is smaller than its source unless that is a sentence or two", () => {
    fc.assert(
      fc.property(source, room, (given, maxChars) => {
        const made = extract(given, { maxChars });
        expect(made.length).toBeLessThanOrEqual(maxChars);
        if (countSourceChars(given) >= 300) expect(made.length).toBeLessThan(countSourceChars(given));
      }),
      { numRuns: runs(300) },
    );
  });

  test("is well-formed Markdown: no lone surrogate, no control character, no foreign heading, no open code", () => {
    fc.assert(
      fc.property(source, room, (given, maxChars) => {
        const made = extract(given, { maxChars });
        expect(made.isWellFormed()).toBe(true);
        expect(made).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        expect(made).not.toMatch(/^\s*(?:[->]\s+)*(?:```|~~~)/m);
        // A line of dashes makes a heading of the line above it.
        expect(made).not.toMatch(/\S[^\n]*\n {0,3}(?:=+|-+)[ \t]*$/m);
        const headings = made.split("\n").filter((line) => /^\s{0,3}(?:[->]\s+)*#{1,6}\s/.test(line));
        for (const heading of headings) expect(HEADINGS).toContain(heading);
        expect(new Set(headings).size).toBe(headings.length);
      }),
      { numRuns: runs(300) },
    );
  });

  test("can be carried on: the next one fits too and keeps the goal", () => {
    fc.assert(
      fc.property(source, fc.integer({ min: 600, max: 4_000 }), (given, maxChars) => {
        const first = extract(given, { maxChars });
        const goal = /^## Goal\n\n(> .*)$/m.exec(first)?.[1];
        const next = extract(
          { ...given, messages: ran("bash", { command: "ls" }, "x".repeat(4_000)), previousSummary: first },
          { maxChars },
        );
        expect(next.length).toBeLessThanOrEqual(maxChars);
        if (goal !== undefined && first.startsWith(MARKER)) expect(next).toContain(goal);
      }),
      { numRuns: runs(300) },
    );
  });
});
