import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { userMessage } from "../../../src/entry/builders.js";
import type { EntryInput } from "../../../src/entry/entry.js";
import type { SearchHit, SearchPage } from "../../../src/port/search.js";
import { openStore } from "../../../src/store/open-store.js";
import { grow } from "../../world/grow.js";
import { lastingPlace, openedStore } from "../../world/stores.js";

// Beside plain words: escapes of JSON, accents in two forms, letters of several cases, characters that are newer than the tokenizer's Unicode.
const NASTY = [
  "İstanbul",
  "ısı",
  "straße",
  "ΣΊΣΥΦΟΣ",
  "файл",
  "e\u0301t\u0301",
  'a"b',
  "a\\nb",
  "\\u0041",
  "\u001b[1m",
  "🤖ab",
  "\ud800x",
  "K9",
  "ไทย",
];
const WORDS = [
  ...NASTY,
  "tab",
  "tabs",
  "Tabs",
  "café",
  "cafe",
  "数据",
  "据",
  "src/a.ts",
  "a",
  "ts",
  "x9",
  "Über",
  "—",
  "C++",
  "👍",
  "--tab",
  "tab()",
  "contabs",
  "a->tab",
  "тест",
  "Тест",
  "데이터",
];
const text = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 7 })
  .chain((words) => fc.constantFrom(words.join(" "), words.join(", "), words.join("\n")));
const term = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom("ab", "tabs", "ont", "bs", "afe", "stan", "bs()", "->ta", "+", "тес"),
  fc.constantFrom(...WORDS).map((word) => `${word}*`),
  fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => `"${words.join(" ")}"`),
);
const query = fc.array(term, { minLength: 1, maxLength: 3 }).map((terms) => terms.join(" "));

// The accents that the search ignores: those of Latin letters.
const plain = (given: string) =>
  given
    .replace(/[\p{Script=Latin}]\p{M}*/gu, (letter) => letter.normalize("NFD").replace(/\p{M}/gu, ""))
    .toLowerCase()
    .replaceAll("ς", "σ");

/** The words of a text: runs of letters and digits; each character of a script without spaces is one. */
function wordsOf(given: string): readonly string[] {
  return plain(given).match(/[\p{Script=Han}\p{Script=Hangul}]|(?:(?![\p{Script=Han}\p{Script=Hangul}])[\p{L}\p{N}])+/gu) ?? [];
}

const LONE_WORD = /^[\p{L}\p{N}\p{M}]+$/u;

/** What the documentation of a search says, as a scan. */
function fits(given: string, asked: string): boolean {
  const parts = [...asked.matchAll(/"([^"]*)"(\*?)|"([^"]+)$|(\S+)/g)].map(([, phrase, star, open, bare = ""]) => ({
    text: (phrase ?? open ?? bare).replace(/(?<=[\p{L}\p{N}])\*$/u, ""),
    isQuoted: phrase !== undefined || open !== undefined,
    isStart: star === "*" || open !== undefined || (phrase === undefined && /[\p{L}\p{N}]\*$/u.test(bare)),
  }));
  const isQuestion = new Set(parts.map((part) => JSON.stringify(part))).size > 3;
  return parts.every(({ text, isQuoted, isStart }) => {
    const isPlain = (isQuoted ? text.trim().split(/\s+/) : [text]).every((word) => LONE_WORD.test(word));
    if (!isPlain) return hasLiteral(given, text);
    const row = wordsOf(text);
    const [word = "", ...more] = row;
    const isPart = !isQuoted && !isStart && !isQuestion && more.length === 0 && [...word].length > 1;
    return isPart
      ? wordsOf(given).some((one) => (word.length > 2 ? one.includes(word) : one.startsWith(word)))
      : hasWords(given, row, isStart);
  });
}

function hasLiteral(given: string, literal: string): boolean {
  const pieces = plain(literal.trim()).split(/\s+/);
  const pattern = pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
  return new RegExp(pattern).test(plain(given));
}

function hasWords(given: string, row: readonly string[], isStart: boolean): boolean {
  const words = wordsOf(given);
  return words.some((_, start) =>
    row.every((word, at) => {
      const here = words[start + at];
      return here === word || (isStart && at === row.length - 1 && here?.startsWith(word) === true);
    }),
  );
}

/** A command of a user, which is in the context unless it is private. */
const command = (id: string, text: string, isPrivate: boolean): EntryInput => ({
  id,
  type: "message",
  message: { role: "bashExecution", command: text, output: "", excludeFromContext: isPrivate },
});

const isAskable = (asked: string) => asked.replace(/["*\s]/g, "") !== "";

describe("any search", () => {
  test("finds exactly what a scan of the texts finds", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 12 }), query.filter(isAskable), async (texts, asked) => {
        const { session } = await grow("", { store });
        await session.write(texts.map((given, at) => ({ kind: "entry", entry: { ...userMessage(given), id: `e${at}` } }) as const));
        const { hits, total } = await store.search({ query: asked, sessionId: session.id, limit: 100 });
        const expected = texts.flatMap((given, at) => (fits(given, asked) ? [`e${at}`] : []));
        expect(hits.map(({ entryId }) => entryId).sort()).toEqual(expected.sort());
        expect(total).toBe(expected.length);
      }),
      { numRuns: runs(150) },
    );
  });

  test("finds the same where the index has all, some or none of the entries, private or not, with all words, some or a mistake", async () => {
    const given = fc.record({ text, isPrivate: fc.boolean() });
    const conditions = fc.record({ relax: fc.boolean(), includePrivate: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(given, { minLength: 1, maxLength: 8 }),
        query.filter(isAskable),
        conditions,
        fc.nat(8),
        async (entries, asked, conditions, indexed) => {
          const place = lastingPlace();
          const store = await openStore({ ...place, durability: "normal" });
          const { session } = await grow("", { store });
          await session.write(
            entries.map(({ text, isPrivate }, at) => ({ kind: "entry", entry: command(`e${at}`, text, isPrivate) }) as const),
          );
          await store.catchUpSearch(indexed);
          const reader = await openStore({ ...place, mode: "read-only" });
          const request = { query: asked, limit: 100, ...conditions };
          const some = await reader.search(request);
          await reader.close();
          expect(await store.catchUpSearch()).toBe(0);
          const all = await store.search(request);
          await store.close();
          const ids = ({ hits }: SearchPage) => hits.map(({ entryId }) => entryId).sort();
          expect(ids(some)).toEqual(ids(all));
          expect([some.total, some.matched.kind]).toEqual([all.total, all.matched.kind]);
          const isHidden = ({ isPrivate }: SearchHit) => isPrivate && !conditions.includePrivate;
          expect(all.hits.filter(isHidden)).toEqual([]);
          if (conditions.relax) return;
          const expected = entries.flatMap(({ text, isPrivate }, at) =>
            fits(text, asked) && (conditions.includePrivate || !isPrivate) ? [`e${at}`] : [],
          );
          expect(ids(all)).toEqual(expected.sort());
        },
      ),
      { numRuns: runs(80) },
    );
  });

  test("marks in each snippet only what is in it, in order and apart", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.array(text, { minLength: 1, maxLength: 3 }),
        async (noise, texts) => {
          const { session } = await grow("", { store });
          await session.append(userMessage(`${noise} ${texts.join(noise)} needle ${noise}`));
          for (const { snippet, matches } of (await store.search({ query: "needle", sessionId: session.id })).hits) {
            let end = 0;
            for (const [from, to] of matches) {
              expect(from).toBeGreaterThanOrEqual(end);
              expect(plain(snippet.slice(from, to))).toBe("needle");
              end = to;
            }
            expect(snippet.isWellFormed()).toBe(true);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });
});
