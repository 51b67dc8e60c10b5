import { expect, test } from "vitest";
import { foldText } from "../../src/rules/search/fold.js";
import { matchAll } from "../../src/rules/search/matching.js";
import type { WordsTerm } from "../../src/rules/search/search-terms.js";
import { createMatcher, FoldedText } from "../../src/rules/search/term-matcher.js";
import { createPrefilter, termPattern } from "../../src/rules/search/term-pattern.js";
import { emptyIndex } from "./words-of-index.js";

const word = (words: string): WordsTerm => ({ kind: "words", words, prefix: false, reach: "whole" });

/** All characters that are assigned or may be, of the large uniform blocks one in 37. */
function* characters(): Generator<readonly [number, string]> {
  for (let code = 1; code < 0x32000; code += code > 0x3500 && code < 0xd700 && code % 256 > 2 ? 37 : 1) {
    if (code < 0xd800 || code > 0xdfff) yield [code, String.fromCodePoint(code)];
  }
}

test("the scan and the index agree on every character: which are letters, and which are equal", () => {
  const index = emptyIndex();
  index.fill([...characters()].map(([code, character]) => [code, `q${character}x`] as const));
  const words = index.words();
  const [q, x, qx] = ["q", "x", "qx"].map((each) => new RegExp(termPattern(word(each)), "u"));
  const differing: string[] = [];
  for (const [code, character] of characters()) {
    const indexed = words.get(code) ?? new Set();
    const text = foldText(`q${character}x`);
    const found = [q, x, qx].map((pattern) => pattern?.test(text));
    const expected = ["q", "x", "qx"].map((each) => indexed.has(each));
    // A character that neither separates nor is ignored is a letter; the index has it as the scan folds it.
    if (!found.includes(true)) expected.push(...(indexed.has(text) ? [] : [true]));
    if (String(found) !== String(expected)) differing.push(`U+${code.toString(16)}: ${found} instead of ${expected}`);
  }
  expect(differing).toEqual([]);
});

test("the prefilter lets pass whatever a character of the same folding is asked for", () => {
  const missed: string[] = [];
  for (const [code, character] of characters()) {
    const letters = foldText(character);
    if (!/[\p{L}\p{N}\p{Co}]/u.test(letters)) continue;
    if (!createPrefilter(matchAll([word(letters)]))(character)) missed.push(`U+${code.toString(16)}`);
  }
  expect(missed).toEqual([]);
});

test("a phrase whose words are millions of symbols apart does not stop the scan of a text", () => {
  const text = new FoldedText(`first ${"😀".repeat(4_700_000)} second`);
  const phrase = createMatcher(word("first second"));
  expect(() => phrase.visit(text, () => true)).not.toThrow();
});
