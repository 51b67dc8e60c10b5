import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { previewOf } from "../../src/entry/text.js";
import { oneLine, shorten } from "../../src/text/one-line.js";

const note = "<branch-note>\nThe user went back.\n</branch-note>";

describe("the preview of a summary", () => {
  test.each([
    [`${note}\n\n## Goal\nTabs in the lexer`, "Tabs in the lexer"],
    ["## Goal\nTabs", "Tabs"],
    [note, "<branch-note> The user went back. </branch-note>"],
    ["<b>not ours</c> text", "<b>not ours</c> text"],
  ])("%j is %j", (summary, preview) => {
    expect(previewOf({ type: "branch_summary", summary, fromId: null })).toBe(preview);
  });

  test("of a compaction is its title where it has one", () => {
    expect(previewOf({ type: "compaction", title: "The lexer", summary: note, firstKeptEntryId: null })).toBe("The lexer");
  });
});

test("one line of a text is the start of its line without a limit", () => {
  const piece = fc.constantFrom("word", " ", "   ", "\n", "\t", "\u0007", "é", "😀", "\ud83d", "\u202e", "longer-word-than-others");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (pieces, max) => {
      const text = pieces.join("").slice(0, max * 4 + 200);
      expect(oneLine(text, max)).toBe(shorten(oneLine(text, text.length + 1), max));
    }),
    { numRuns: runs(3000) },
  );
});

test("one line of an ASCII text is the same as inside a text with other characters", () => {
  const ascii = fc.string({ unit: fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)), maxLength: 60 });
  fc.assert(
    fc.property(ascii, fc.integer({ min: 1, max: 40 }), (text, max) => {
      expect(`é${oneLine(`x${text}`, max)}`).toBe(oneLine(`éx${text}`, max + 1));
    }),
    { numRuns: runs(2000) },
  );
});
