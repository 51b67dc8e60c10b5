import { describe, expect, test } from "vitest";
import { takeFirstSentence } from "../../src/summary/summarize.js";

describe("the first sentence of a summary", () => {
  test.each([
    ["## Goal\nMend the parser. It fails.", "Mend the parser."],
    ["Extracted mechanically; no model wrote this.\n\n## Goal\n- **Mend** the `parser`", "Mend the parser"],
    ["## Constraints\n- (none)\n\n## Done\n- [x] Read `src/a.ts` (v1.2 of it)! Then more", "Read src/a.ts (v1.2 of it)!"],
    ["1. Conversation Overview:\n   - The user wants tabs", "The user wants tabs"],
    ["<overview>\nAll is well\n</overview>", "All is well"],
    ["---\n> quoted\twords", "quoted words"],
    ["タブを直す。次へ", "タブを直す。"],
    ["## Only a heading", "## Only a heading"],
    ["", ""],
  ])("of %j is %j", (body, sentence) => {
    expect(takeFirstSentence(body)).toBe(sentence);
  });

  test("is cut at 200 characters, with a mark", () => {
    expect(takeFirstSentence("word ".repeat(100))).toMatch(/^(?:word )+wor?d?…$/);
    expect(takeFirstSentence("word ".repeat(100)).length).toBeLessThanOrEqual(200);
  });
});
