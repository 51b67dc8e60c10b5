import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { oneLine } from "../../src/text/one-line.js";

/** Words, the mark of a cut, white space, control and direction characters, a lone surrogate, letters and signs beyond ASCII. */
const piece = fc.constantFrom(
  "a",
  "word",
  "…",
  " ",
  "  ",
  "\n",
  "\r\n",
  "\t",
  "\u0000",
  "\u007f",
  "\u00a0",
  "\u202e",
  "\ud800",
  "ß",
  "漢",
  "🌳",
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

/** Every run of white space and of control and direction characters is one space; the rest is at most `max` code units long. */
function defined(given: string, max: number): string {
  const line = given
    .replace(/[\s\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069]+/gu, " ")
    .trim()
    .toWellFormed();
  if (line.length <= max) return line;
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]/.test(line.slice(max - 2, max));
  return `${line.slice(0, isPair ? max - 2 : max - 1).trimEnd()}…`;
}

test("a text is on one line, however much of it is there already", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 80 }), (given, max) => {
      const line = oneLine(given, max);
      expect(line).toBe(defined(given, max));
      expect(oneLine(line, max)).toBe(line);
    }),
    { numRuns: runs(500) },
  );
});
