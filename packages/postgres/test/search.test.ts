import { openStore, type Store, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { grants } from "../src/open.js";
import { ownServer, withUrl } from "./server.js";

// What only a store on a server has: limits of a tsvector, row-level security, an extension that may be missing, ranks of the newest only.
// The terms and conditions of a search are tested on every engine (test/search).

const server = ownServer();

/** A session with these texts as user messages e0, e1, … */
async function said(store: Store, ...texts: string[]) {
  const session = await store.createSession();
  await session.write(texts.map((text, at) => ({ kind: "entry", entry: { ...userMessage(text), id: `e${at}` } }) as const));
  return session;
}

async function found(store: Store, query: string): Promise<string> {
  const { hits, total } = await store.search({ query, limit: 100 });
  expect(hits).toHaveLength(total);
  return hits
    .map(({ entryId }) => entryId)
    .sort()
    .join(" ");
}

describe("a text that is larger than a tsvector can be", () => {
  test.each([
    ["a phrase after 16,383 words", `${"hay straw ".repeat(10_000)} sharp needle`, '"sharp needle"', '"needle sharp"'],
    ["a phrase of words that occur more than 255 times", `${"sharp hay ".repeat(300)} sharp needle`, '"sharp needle"', '"needle sharp"'],
    ["a word after a megabyte of different words", `${differentWords(70_000)} needlework`, "needlework", "needlewort"],
    ["a word of 1,900 letters", "ж".repeat(1900), "ж".repeat(1900), `${"ж".repeat(10)}x`],
  ])("is found by %s", async (_what, text, query, other) => {
    const store = await openStore({ url: await server.newDatabase() });
    await said(store, text, "another text, sharp");
    expect(await found(store, query)).toBe("e0");
    expect(await found(store, other)).toBe("");
    await store.close();
  });
});

/** Words of about 16 letters, all different. */
function differentWords(count: number): string {
  const letters = (at: number) => at.toString(26).replace(/[0-9]/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
  return Array.from({ length: count }, (_, at) => `differentword${letters(at)}`).join(" ");
}

describe("a part of a word", () => {
  test("is found without the extension pg_trgm", async () => {
    const url = await server.newDatabase();
    const store = await openStore({ url });
    expect(await server.run("SELECT indexname FROM pg_indexes WHERE indexname = 'word_parts'", url)).toHaveLength(1);
    await server.run("DROP EXTENSION pg_trgm CASCADE", url);
    await said(store, "userMessageText", "a message");
    expect(await found(store, "ssage")).toBe("e0 e1");
    await store.close();
  });

  test("is listed once for all writers, and by each writer once", async () => {
    const url = await server.newDatabase();
    const [one, other] = [await openStore({ url }), await openStore({ url })];
    await said(one, "lexer of tabs");
    await said(one, "lexer of tabs");
    await said(other, "tabs lexer parser");
    expect(await server.run("SELECT word FROM bough.word ORDER BY word", url)).toEqual(
      ["lexer", "parser", "tabs"].map((word) => ({ word })),
    );
    await Promise.all([one.close(), other.close()]);
  });
});

describe("a role under row-level security", () => {
  test("finds what the owner finds of its tenant, by the index, and nothing of others", async () => {
    const url = await server.newDatabase();
    const owners = await Promise.all(["a", "b"].map((tenant) => openStore({ url, tenant })));
    for (const [at, store] of owners.entries()) {
      const session = await store.createSession({ title: `Needles of ${at}` });
      await session.write(
        ["needle", "sharp needles", "src/needle.ts"].map((text) => ({ kind: "entry", entry: userMessage(`${text} ${at}`) })),
      );
    }
    await server.run("CREATE ROLE searcher LOGIN PASSWORD 'of-the-role'");
    for (const statement of grants({ role: "searcher", access: "read" })) await server.run(statement, url);
    const role = withUrl(url, { username: "searcher", password: "of-the-role" });
    const store = await openStore({ url: role, tenant: "b", mode: "read-only" });
    for (const query of ["needle", "eedl", '"sharp needles"', "needle.ts", "/needle \\d/", "sharp 1", "1", "0"]) {
      expect([query, await store.search({ query })]).toEqual([query, await owners[1]?.search({ query })]);
    }
    expect((await store.search({ query: "needle" })).total).toBe(4);
    const raw = "SELECT count(*)::int AS rows FROM bough.entries_with(ARRAY['needle'::tsquery, $$'1'$$::tsquery])";
    expect(await server.run(raw, role)).toEqual([{ rows: 0 }]);
    await Promise.all([...owners, store].map((each) => each.close()));
  });
});

describe("hits with whole words", () => {
  test("are ranked by how often and in how short a text the words occur", async () => {
    const store = await openStore({ url: await server.newDatabase() });
    await said(store, `needle ${"hay ".repeat(50)}`, "needle needle needle", `needle ${"hay ".repeat(9)}`, "needle needle hay");
    const { hits } = await store.search({ query: "needle" });
    expect(hits.map(({ entryId }) => entryId)).toEqual(["e1", "e3", "e2", "e0"]);
    await store.close();
  });

  test("are on the pages once each, also those that are too old to be ranked and those that are added in between", async () => {
    const store = await openStore({ url: await server.newDatabase() });
    const texts = Array.from({ length: 1200 }, (_, at) => (at % 3 === 0 ? "needles" : "a needle"));
    const session = await said(store, ...texts);
    const ids: (string | null)[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.search({ query: "needle", limit: 250, cursor, snippets: false });
      expect(page.total).toBe(1200);
      ids.push(...page.hits.map(({ entryId }) => entryId));
      cursor = page.next ?? undefined;
      await session.append({ ...userMessage("needle"), createdAtMs: Date.now() + 1000 });
    } while (cursor !== undefined);
    expect(new Set(ids)).toEqual(new Set(texts.map((_, at) => `e${at}`)));
    expect(ids).toHaveLength(1200);
    expect(ids.slice(800).every((id) => Number(id?.slice(1)) % 3 === 0)).toBe(true);
    await store.close();
  });
});
