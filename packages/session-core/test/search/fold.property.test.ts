import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { foldText } from "../../src/rules/search/fold.js";
import { matchAll } from "../../src/rules/search/matching.js";
import type { WordsTerm } from "../../src/rules/search/search-terms.js";
import { createPrefilter, termPattern } from "../../src/rules/search/term-pattern.js";
import { emptyIndex } from "./words-of-index.js";

function scanFinds(terms: readonly WordsTerm[], text: string): boolean {
  return terms.every((term) => new RegExp(termPattern(term), "u").test(foldText(text)));
}

const word = (words: string): WordsTerm => ({ kind: "words", words, prefix: false, reach: "whole" });

describe("the scan and the index", () => {
  test("agree on any text made of what makes trouble", () => {
    const index = emptyIndex();
    fc.assert(
      fc.property(nastyText(), fc.array(nastyTerm(), { minLength: 1, maxLength: 3 }), (text, terms) => {
        expect(scanFinds(terms, text)).toBe(index.finds(terms, text));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe("the prefilter", () => {
  test("lets pass any JSON whose text matches", () => {
    fc.assert(
      fc.property(nastyText(), fc.array(nastyTerm(), { minLength: 1, maxLength: 3 }), fc.boolean(), (text, terms, isEscaped) => {
        const json = JSON.stringify({ message: { role: "user", content: text } });
        const given = isEscaped ? json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`) : json;
        expect(JSON.parse(given)).toEqual(JSON.parse(json));
        if (scanFinds(terms, text)) expect(createPrefilter(matchAll(terms))(given)).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    ["a word that is not there", "needle", '{"content":"hay"}', false],
    ["a word after an escaped line break", "needle", '{"content":"hay\\nneedle"}', true],
    ["one word of two", '"needle thread"', '{"content":"needle"}', false],
    ["control characters, which are escaped", "needle", '{"content":"\\u001b[31m hay"}', false],
    ["accents that are characters of their own", "résumé", '{"content":"RE\u0301SUME\u0301"}'.normalize("NFD"), true],
    ["an escaped letter", "needle", '{"content":"\\u006eeedle"}', true],
  ])("of %s", (_what, query, json, expected) => {
    expect(createPrefilter(matchAll([word(query)]))(json)).toBe(expected);
  });

  test("of a long query is as short as a pattern can be", () => {
    const long = word(`${"é".repeat(900)} ${Array.from({ length: 300 }, (_, at) => `w${at}`).join(" ")}`);
    expect(createPrefilter(matchAll([long]))(JSON.stringify(long.words))).toBe(true);
  });
});

const PIECES = [
  ..."aeiksßıİIſKÅåéñÑøØąüдйЙёςσΣάβϐ数据データ한국ไทยĳǆ",
  ..."e\u0301\u0308\u0305\u200d\u0000\u001b\n\t\"\\/{}:,.-_'0९½²",
  "\ud83d",
  "\udc00",
  "🤖",
  "👩‍💻",
  "𐐀",
  "𐐨",
  "𝒜",
  "\ue000",
  "u0041",
  "nad",
  "et",
  "e\u0301t",
  " ",
  " ",
];

function nastyText() {
  return fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(""));
}

function nastyTerm() {
  return fc
    .record({
      words: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
      prefix: fc.boolean(),
      kind: fc.constant("words" as const),
      reach: fc.constant("whole" as const),
    })
    .filter(({ words }) => /[\p{L}\p{N}\p{Co}]/u.test(foldText(words)));
}
