import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { foldText, toIndexedText } from "../../src/rules/search/fold.js";
import { matchAll } from "../../src/rules/search/matching.js";
import type { WordsTerm } from "../../src/rules/search/search-terms.js";
import { createMatcher, FoldedText } from "../../src/rules/search/term-matcher.js";
import { createPrefilter, termPattern } from "../../src/rules/search/term-pattern.js";
import { ftsExpression } from "../../src/sqlite/search/search-query.js";

/** An index as the store has it, without a store. */
function emptyIndex() {
  const file = new Database(":memory:");
  onTestFinished(() => void file.close());
  file.exec("CREATE VIRTUAL TABLE entry_text USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2')");
  file.exec("CREATE VIRTUAL TABLE word USING fts5vocab(entry_text, instance)");
  const insert = file.prepare("INSERT INTO entry_text (rowid, body) VALUES (?, ?)");
  const count = file.prepare<[string], number>("SELECT count(*) FROM entry_text WHERE entry_text MATCH ?").pluck();
  return {
    fill: file.transaction((texts: Iterable<readonly [number, string]>) => {
      for (const [at, text] of texts) insert.run(at, toIndexedText(text));
    }),
    words(): ReadonlyMap<number, ReadonlySet<string>> {
      const rows = file.prepare<[], { doc: number; term: string }>("SELECT doc, term FROM word").all();
      const found = new Map<number, Set<string>>();
      for (const { doc, term } of rows) found.set(doc, (found.get(doc) ?? new Set()).add(term));
      return found;
    },
    finds(terms: readonly WordsTerm[], text: string): boolean {
      file.exec("DELETE FROM entry_text");
      insert.run(1, toIndexedText(text));
      return count.get(ftsExpression(matchAll(terms))) === 1;
    },
  };
}

function scanFinds(terms: readonly WordsTerm[], text: string): boolean {
  return terms.every((term) => new RegExp(termPattern(term), "u").test(foldText(text)));
}

const word = (words: string): WordsTerm => ({ kind: "words", words, prefix: false, reach: "whole" });

/** All characters that are assigned or may be, of the large uniform blocks one in 37. */
function* characters(): Generator<readonly [number, string]> {
  for (let code = 1; code < 0x32000; code += code > 0x3500 && code < 0xd700 && code % 256 > 2 ? 37 : 1) {
    if (code < 0xd800 || code > 0xdfff) yield [code, String.fromCodePoint(code)];
  }
}

describe("the scan and the index", () => {
  test("agree on every character: which are letters, and which are equal", () => {
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
      if (String(found) !== String(expected)) differing.push(`U+${code.toString(16)}: ${found} instead of ${expected}`);
    }
    expect(differing).toEqual([]);
  });

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

test("a phrase whose words are millions of symbols apart does not stop the scan of a text", () => {
  const text = new FoldedText(`first ${"😀".repeat(4_700_000)} second`);
  const phrase = createMatcher(word("first second"));
  expect(() => phrase.visit(text, () => true)).not.toThrow();
});

describe("the prefilter", () => {
  test("lets pass whatever a character of the same folding is asked for", () => {
    const missed: string[] = [];
    for (const [code, character] of characters()) {
      const letters = foldText(character);
      if (!/[\p{L}\p{N}\p{Co}]/u.test(letters)) continue;
      if (!createPrefilter(matchAll([word(letters)]))(character)) missed.push(`U+${code.toString(16)}`);
    }
    expect(missed).toEqual([]);
  });

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
