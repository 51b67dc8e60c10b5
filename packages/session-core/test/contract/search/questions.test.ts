import { describe, expect, test } from "vitest";
import { assistantMessage, toolResult, userMessage } from "../../../src/entry/builders.js";
import type { EntryInput } from "../../../src/entry/entry.js";
import { InvalidQueryError } from "../../../src/errors/session-errors.js";
import type { SearchPage, SearchRequest } from "../../../src/port/search.js";
import { createQueryFinder } from "../../../src/rules/search/query-matches.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";

/** A store with a session of these entries, named e0, e1 and so on. */
async function said(...entries: readonly (string | EntryInput)[]) {
  const { store, session } = await grow("");
  for (const [at, entry] of entries.entries())
    await session.append({ ...(typeof entry === "string" ? userMessage(entry) : entry), id: `e${at}`, createdAtMs: 1000 * (at + 1) });
  return { store, session };
}

const ranksOf = ({ hits }: SearchPage) => hits.map(({ entryId, sessionTitle, score }) => [entryId ?? `title ${sessionTitle}`, score]);

/** The page of a question: the same, with the same scores, by the scan and by the index. */
async function ask(store: Store, request: SearchRequest): Promise<SearchPage> {
  const asked = { ...request, relax: true };
  const scanned = await store.search(asked);
  await store.catchUpSearch();
  const indexed = await store.search(asked);
  expect([ranksOf(indexed), indexed.matched, indexed.total]).toEqual([ranksOf(scanned), scanned.matched, scanned.total]);
  return indexed;
}

async function answers(store: Store, query: string, request: Partial<SearchRequest> = {}): Promise<string> {
  const { hits } = await ask(store, { ...request, query });
  return hits.map(({ entryId, sessionTitle }) => entryId ?? `title ${sessionTitle}`).join(" ");
}

/** Far from all others, so that no entry is the neighbor of another one. */
const apart = (texts: readonly string[]) => texts.flatMap((text) => [text, ...Array.from({ length: 21 }, () => "…")]);
const PLACES = [0, 22, 44, 66].map((at) => `e${at}`);

describe("a question", () => {
  test.each<[string, readonly string[], string, readonly number[]]>([
    ["finds other forms of its words", ["we travelled to Rome", "a recipe"], "when did you travel to Rome?", [0]],
    ["finds irregular forms", ["I wrote the parser", "the lexer"], "who writes the parser?", [0]],
    ["in German", ["Die Rechnungen wurden gelöscht", "Die Belege"], "Wann wurde die Rechnung gelöscht?", [0]],
    ["in French", ["Les réservations sont annulées", "la table"], "Pourquoi annuler une réservation ?", [0]],
    ["in Spanish", ["Los proveedores reciben avisos", "la tienda"], "¿Cuándo recibe un proveedor el aviso?", [0]],
    ["needs only some of its words", ["the footer is dim", "something else"], "why was the dim colour chosen by them?", [0]],
    ["does not count stop words", ["what did you do with it and why", "the changelog"], "what did you do with the changelog?", [1]],
    ["weighs rare words more", ["theme theme", "theme of nord", "theme", "nord"], "which theme crashed in nord?", [1, 3, 0, 2]],
    [
      "weighs words that stand together more",
      ["lexer of a language with many a word and then, after all of these words here, at the very end, tabs", "lexer tabs are here"],
      "does the lexer know tabs?",
      [1, 0],
    ],
    ["of equal answers takes the newest first", ["the lexer fails", "the lexer fails"], "why did the lexer fail?", [1, 0]],
    ["finds a name as it is typed", ["see src/lexer.ts", "lexer and src ts"], "what is in src/lexer.ts now?", [0]],
    ["leaves numbers and identifiers as they are", ["userMessages 404", "userMessage 405"], "where is userMessages 404 used?", [0]],
    ["takes a word with a mistake where no entry has the word", ["the lexer fails", "the parser"], "why does the lexre fail?", [0]],
  ])("%s", async (_what, texts, query, expected) => {
    const { store } = await said(...apart(texts));
    expect(await answers(store, query)).toBe(expected.map((at) => PLACES[at]).join(" "));
  });

  test("weighs what the person said more than a reply, and a reply more than the output of a tool", async () => {
    const filler = Array.from({ length: 21 }, () => userMessage("…"));
    const { store } = await said(
      toolResult("call", "the lexer fails"),
      ...filler,
      userMessage("the lexer fails"),
      ...filler,
      assistantMessage("the lexer fails"),
    );
    expect(await answers(store, "why does the lexer fail?")).toBe("e22 e44 e0");
  });

  test("weighs the words of the entries around", async () => {
    const { store } = await said("the lexer", "it fails on tabs", ...Array.from({ length: 30 }, () => "…"), "it fails on spaces");
    expect(await answers(store, "where does the lexer fail?")).toBe("e0 e1 e32");
  });

  test("weighs the words before and after on the branch, not those that other branches have at the same depth", async () => {
    const { store, session } = await said("start", "the lexer", "it fails");
    await session.moveLeaf("e0");
    for (const [at, text] of ["cooking", "it fails"].entries())
      await session.append({ ...userMessage(text), id: `other${at}`, createdAtMs: 9000 + at });
    expect(await answers(store, "why does the lexer fail?")).toBe("e1 e2 other1");
    // Entries of branches that grew in turns, and two first entries.
    await session.moveLeaf("e2");
    await session.append({ ...userMessage("the heron"), id: "heron", createdAtMs: 9500 });
    await session.moveLeaf("other1");
    await session.append({ ...userMessage("a stork"), id: "stork", createdAtMs: 9600 });
    await session.moveLeaf(null);
    for (const [at, text] of ["first", "second", "third", "it fails"].entries())
      await session.append({ ...userMessage(text), id: `late${at}`, createdAtMs: 9700 });
    expect(await answers(store, "where does the heron fail?")).toBe("heron e2 late3 other1");
  });

  test("finds the title that has its words, and the entries of a session with them before others", async () => {
    const { store, session } = await said("it fails");
    await store.renameSession(session.id, "The lexers");
    const other = await store.createSession({ title: "Cooking" });
    await other.append({ ...userMessage("it fails"), id: "o0", createdAtMs: 9000 });
    expect(await answers(store, "why does the lexer fail?")).toBe("e0 o0");
    expect(await answers(store, "which are our lexers?")).toBe("title The lexers");
  });

  test("has the same scores on every engine", async () => {
    const { store } = await said("the lexer fails on tabs", "tabs and spaces", assistantMessage("the lexer works"), "a lexer of words");
    const { hits } = await ask(store, { query: "why does the lexer fail on tabs?" });
    expect(hits.map(({ entryId, score }) => [entryId, score])).toMatchInlineSnapshot(`
      [
        [
          "e0",
          0.696200916,
        ],
        [
          "e1",
          0.408361691,
        ],
        [
          "e2",
          0.197403602,
        ],
        [
          "e3",
          0.180865144,
        ],
      ]
    `);
  });

  test("is one with a question mark, or of more than three words", async () => {
    const { store } = await said("the lexer fails", "tabs");
    const kinds = ["lexer fails", "lexer unicorns?", "lexer on three unicorns", 'the "lexer fails" on tabs', "the lexer fails on tab*"].map(
      async (query) => (await store.search({ query, relax: true })).matched.kind,
    );
    expect(await Promise.all(kinds)).toEqual(["all", "ranked", "ranked", "some", "some"]);
  });

  test("asks for all of its words without `relax`", async () => {
    const { store } = await said("the lexer fails");
    expect((await store.search({ query: "why did the lexer fail" })).total).toBe(0);
  });

  test("meets the conditions of the request", async () => {
    const { store, session } = await said(
      "why the lexer fails",
      assistantMessage("the lexer fails here:\n```\nfail()\n```"),
      toolResult("call", "lexer failed"),
    );
    const other = await store.createSession();
    await other.append({ ...userMessage("the lexer fails"), id: "o0" });
    const query = "where does the lexer fail?";
    expect(await answers(store, query, { roles: ["assistant"] })).toBe("e1");
    expect(await answers(store, query, { sessionId: other.id })).toBe("o0");
    expect(await answers(store, query, { sessionId: session.id, places: ["code"] })).toBe("e1");
    expect(await answers(store, query, { sessionId: session.id, untilMs: 1500 })).toBe("e0");
  });

  test("does not find, count or correct by what the user kept private", async () => {
    const { store, session } = await said("nothing here");
    const command = { role: "bashExecution", command: "echo zebra", output: "zebra", excludeFromContext: true } as const;
    await session.append({ type: "message", message: command });
    const page = await ask(store, { query: "where does the zebra run?" });
    expect([page.hits, page.total]).toEqual([[], 0]);
    expect((await ask(store, { query: "where does the zebra run?", includePrivate: true })).total).toBe(1);
  });

  test("gives each hit once on its pages", async () => {
    const { store } = await said(...Array.from({ length: 25 }, (_, at) => `the lexer fails ${"again ".repeat(at % 7)}`));
    const request = { query: "why does the lexer fail?", relax: true, limit: 4 };
    const found: (string | null)[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.search({ ...request, cursor });
      found.push(...page.hits.map(({ entryId }) => entryId));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect([found.length, new Set(found).size]).toEqual([25, 25]);
  });

  test("of more equal entries than are ranked takes those with the newest dates, whatever order they came in", async () => {
    const { store, session } = await grow("");
    const entries = Array.from({ length: 620 }, (_, at) => ({
      ...userMessage("the lexer fails"),
      id: `e${at}`,
      createdAtMs: 1000 * (620 - at),
    }));
    const secret = {
      type: "message",
      message: { role: "bashExecution", command: "the lexer fails", output: "", excludeFromContext: true },
    } as const;
    await session.write([...entries, { ...secret, createdAtMs: 1_000_000 }].map((entry) => ({ kind: "entry", entry })));
    const { hits, total } = await ask(store, { query: "why does the lexer fail?", limit: 1000 });
    expect(total).toBe(600);
    expect(new Set(hits.map(({ entryId }) => entryId))).toEqual(new Set(entries.slice(0, 600).map(({ id }) => id)));
  });

  test("marks its words in the snippet, in any form", async () => {
    const { store } = await said("yesterday the lexers failed on tabs");
    const [hit] = (await ask(store, { query: "why does a lexer fail?" })).hits;
    expect(hit?.matches.map(([start, end]) => hit.snippet.slice(start, end))).toEqual(["lexers", "failed"]);
    const places = createQueryFinder("why does a lexer fail?", { kind: "ranked", misspelt: [] }).find("lexers failed", 9);
    expect(places).toEqual([
      { start: 0, end: 6, term: 0 },
      { start: 7, end: 13, term: 1 },
    ]);
  });

  test.each([
    ["only stop words", "what is it that you do?"],
    ["a script without spaces", "为什么 词法 分析 失败 了？"],
    ["Cyrillic", "почему лексер падает на табах?"],
    ["marks only", "? ? ! … ?"],
    ["two thousand characters", "why lexer ".repeat(199)],
    ["words of one letter", "a b c d e f g h"],
    ["what FTS5 reads as operators", "NOT lexer OR NEAR( AND *?"],
    ["a lone surrogate", "why \ud800 the lexer fails?"],
  ])("of %s has an answer or none", async (_what, query) => {
    const { store } = await said("what is it that you do with 词法", "the lexer fails", "почему лексер падает");
    expect((await store.search({ query, relax: true })).hits.length).toBeLessThanOrEqual(3);
  });

  test("of ten thousand words is refused with one line", async () => {
    const { store } = await said("the lexer fails");
    await expect(store.search({ query: "why does it fail ".repeat(2_500), relax: true })).rejects.toThrow(InvalidQueryError);
  });
});
