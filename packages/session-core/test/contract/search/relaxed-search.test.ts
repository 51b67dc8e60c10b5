import { describe, expect, test } from "vitest";
import { assistantMessage, toolResult, userMessage } from "../../../src/entry/builders.js";
import { InvalidQueryError } from "../../../src/errors/session-errors.js";
import type { SearchRequest } from "../../../src/port/search.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";

async function said(...texts: string[]) {
  const { store, session } = await grow("");
  for (const [at, text] of texts.entries()) await session.append({ ...userMessage(text), id: `e${at}` });
  return { store, session };
}

/** What a search finds, the same by the scan and by the index. */
async function found(store: Store, request: SearchRequest) {
  const scanned = await store.search(request);
  await store.catchUpSearch();
  const indexed = await store.search(request);
  const ids = (page: typeof scanned) => page.hits.map(({ entryId }) => entryId).sort();
  expect([ids(indexed), indexed.matched, indexed.total]).toEqual([ids(scanned), scanned.matched, scanned.total]);
  return { ids: ids(indexed).join(" "), matched: indexed.matched };
}

describe("a relaxed search", () => {
  const texts = ["the lexer fails on tabs", "tabs and spaces", "the parser works on spaces", "a lexer of words"];

  test.each<[string, string, string, object]>([
    ["all the words, if an entry has them", "lexer tabs", "e0", { kind: "all" }],
    ["most of them", "parser works tomorrow", "e2", { kind: "some", words: 2, of: 3 }],
    ["a letter exchanged with the next", "lexre tabs", "e0", { kind: "spelling", typed: "lexre", found: ["lexer"] }],
    ["a letter missing", "lxer", "e0 e3", { kind: "spelling", typed: "lxer", found: ["lexer"] }],
    ["a letter too many", "parserr", "e2", { kind: "spelling", typed: "parserr", found: ["parser"] }],
    ["a wrong letter", "spazes", "e1 e2", { kind: "spelling", typed: "spazes", found: ["spaces"] }],
    ["some of them, if nothing else", "parser tomorrow", "e2", { kind: "some", words: 1, of: 2 }],
    ["nothing, if no word is there", "unicorn", "", { kind: "all" }],
  ])("finds %s", async (_what, query, ids, matched) => {
    const { store } = await said(...texts);
    expect(await found(store, { query, relax: true })).toEqual({ ids, matched });
  });

  test("is not one that nobody asked for", async () => {
    const { store } = await said(...texts);
    expect(await found(store, { query: "parser tomorrow" })).toEqual({ ids: "", matched: { kind: "all" } });
  });

  test.each([
    ["Cyrillic", "лексер ломается", "лексор", "лексер"],
    ["Greek", "η λέξη εδώ", "λέξι", "λέξη"],
  ])("knows the letters of %s", async (_script, text, query, word) => {
    const { store } = await said(text);
    expect(await found(store, { query, relax: true })).toEqual({ ids: "e0", matched: { kind: "spelling", typed: query, found: [word] } });
  });

  test("does not name a word that only an entry has which the user kept private, or another session", async () => {
    const { store, session } = await said("the zebre runs");
    const command = { role: "bashExecution", command: "echo zebra", output: "zebra", excludeFromContext: true } as const;
    await session.append({ type: "message", message: command });
    await (await store.createSession()).append(userMessage("a zebro elsewhere"));
    const matched = { kind: "spelling", typed: "zebrq", found: ["zebre"] };
    expect(await found(store, { query: "zebrq", relax: true, sessionId: session.id })).toEqual({ ids: "e0", matched });
  });

  test("goes on, page by page, with the attempt that found something", async () => {
    const { store, session } = await said(...Array.from({ length: 7 }, (_, at) => `the lexer number ${at}`));
    await store.catchUpSearch(3);
    const ids: (string | null)[] = [];
    let cursor: string | undefined;
    do {
      const page = await session.search({ query: "lexer parser compiler", relax: true, limit: 2, cursor });
      expect(page.matched).toEqual({ kind: "some", words: 1, of: 3 });
      ids.push(...page.hits.map(({ entryId }) => entryId));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(ids.sort()).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "e6"]);
  });
});

describe("a search without words", () => {
  test("lists what meets the other conditions, the newest first, page by page", async () => {
    const { store, session } = await said("one", "two", "three");
    await session.append({ ...assistantMessage("reply"), id: "a" });
    await session.append({ ...toolResult("c", "output"), id: "r" });
    const first = await session.search({ query: "", roles: ["user"], limit: 2 });
    expect(first.hits.map(({ entryId, snippet }) => [entryId, snippet])).toEqual([
      ["e2", "three"],
      ["e1", "two"],
    ]);
    expect(first.total).toBe(3);
    const second = await session.search({ query: "", roles: ["user"], limit: 2, cursor: first.next ?? "" });
    expect([second.hits.map(({ entryId }) => entryId), second.next]).toEqual([["e0"], null]);
    expect((await store.search({ query: " ", types: ["message"] })).total).toBe(5);
  });

  test("and without other conditions has nothing to look for", async () => {
    const { store } = await said("one");
    await expect(store.search({ query: "" })).rejects.toThrow(InvalidQueryError);
  });
});

describe("what a user kept out of the conversation", () => {
  const request = { query: "zebra" };

  async function withSecret() {
    const { store, session } = await said("zebra for all");
    const command = { role: "bashExecution", command: "echo zebra", output: "zebra" } as const;
    await session.append({ type: "message", message: { ...command, excludeFromContext: true }, id: "secret" });
    await session.append({ type: "message", message: command, id: "shown" });
    return { store, session };
  }

  test("is found only by who asks for it, and then marked", async () => {
    const { store } = await withSecret();
    expect((await found(store, request)).ids).toBe("e0 shown");
    expect((await found(store, { ...request, includePrivate: true })).ids).toBe("e0 secret shown");
    const { hits } = await store.search({ ...request, includePrivate: true });
    expect(hits.filter(({ isPrivate }) => isPrivate).map(({ entryId }) => entryId)).toEqual(["secret"]);
  });

  test("is not counted, not found by a mistake, not listed without words", async () => {
    const { store, session } = await withSecret();
    expect((await store.search(request)).total).toBe(2);
    expect((await found(store, { query: "echo zebar", relax: true })).ids).toBe("shown");
    expect((await session.search({ query: "", roles: ["bashExecution"] })).hits.map(({ entryId }) => entryId)).toEqual(["shown"]);
  });

  test("stays so in a fork, and packed", async () => {
    const { store, session } = await withSecret();
    const fork = await store.forkSession(session.id, { title: null });
    await store.pack();
    const ids = async (sessionId: string) => (await store.search({ ...request, sessionId })).hits.map(({ entryId }) => entryId).sort();
    expect(await ids(fork.id)).toEqual(["e0", "shown"]);
    expect(await ids(session.id)).toEqual(["e0", "shown"]);
  });
});
