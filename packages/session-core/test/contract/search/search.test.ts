import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough, importPath } from "@bough/formats";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { assistantMessage, toolResult, userMessage } from "../../../src/entry/builders.js";
import { InvalidQueryError } from "../../../src/errors/session-errors.js";
import type { SearchPage, SearchRequest } from "../../../src/port/search.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";
import { collected, openedStore, raw, storePath, tempFolder } from "../../world/stores.js";

/** A session of user messages with these texts, the first with the id e0. */
async function said(...texts: string[]) {
  const { store, session } = await grow("");
  for (const [at, text] of texts.entries()) await session.append({ ...userMessage(text), id: `e${at}` });
  return { store, session };
}

/** The ids that a search finds, the same by the scan of entries that are not indexed and by the index. */
async function found(store: Store, request: SearchRequest | string): Promise<string> {
  const asked = typeof request === "string" ? { query: request } : request;
  const ids = async () => (await store.search(asked)).hits.map(({ entryId }) => entryId ?? "title").sort();
  const scanned = await ids();
  await store.catchUpSearch();
  expect(await ids()).toEqual(scanned);
  return scanned.join(" ");
}

test("a part of a word is found also in titles and first entries of forks and imports", async () => {
  const store = await openedStore();
  const { id } = await store.createSession({ title: "First" });
  const writes = [{ kind: "entry" as const, entry: { ...userMessage("the brontosaurus"), id: "e9" } }];
  const fork = await store.forkSession(id, { title: "Pterodactyl", writes });
  const [file, target] = [join(tempFolder(), "fork.jsonl"), await openedStore()];
  writeFileSync(file, (await collected(exportBough(fork))).join(""));
  await importPath(target, file);
  for (const one of [store, target]) {
    for (const part of ["ontosaur", "terodac"]) expect((await one.search({ query: part })).hits).toHaveLength(1);
  }
});

test("a letter that separates words in the index does so in a query, of parts of words and with a mistake too", async () => {
  const { store } = await said("first \u00c5\u19b0a \u00c5\u19b0a", "\u00c5 a", "parser\u19b0lexer");
  expect(await found(store, "\u00c5\u19b0a")).toBe("e0 e1");
  expect(await found(store, "arser\u19b0lex")).toBe("e2");
  expect(await found(store, { query: "parser\u19b0lexre", relax: true })).toBe("");
});

test("a search for more words than a call on a server has arguments, and by numbers that no entry has", async () => {
  const words = Array.from({ length: 120 }, (_, at) => `w${at}`).join(" ");
  const { store } = await said(words, "other words", "漢".repeat(130));
  expect(await found(store, words)).toBe("e0");
  expect(await found(store, `"${words}"`)).toBe("e0");
  expect(await found(store, "漢".repeat(120))).toBe("e2");
  const bounds = { sinceMs: 0.5, untilMs: Number.POSITIVE_INFINITY, seqs: [1.5, 2 ** 40] };
  expect(await found(store, { query: "other", sinceMs: 0.5, untilMs: Number.POSITIVE_INFINITY })).toBe("e1");
  expect(await found(store, { query: "other", ...bounds })).toBe("");
  expect((await store.listSessions({ sinceMs: 0.5, untilMs: Number.POSITIVE_INFINITY })).items).toHaveLength(1);
});

test("a phrase that is far into a long text is found by a search of one place, too, and by each page", async () => {
  const { store, session } = await grow("");
  const far = `${"same ".repeat(20_000)} connection refused`;
  for (let at = 0; at < 3; at += 1) await session.append({ ...userMessage("connection refused"), id: `e${at}` });
  await session.append({ ...toolResult("call", far, { toolName: "bash" }), id: "far" });
  await store.catchUpSearch();
  const query = '"connection refused"';
  expect((await store.search({ query, places: ["tool"] })).hits.map(({ entryId }) => entryId)).toEqual(["far"]);
  const pages = [await store.search({ query, limit: 2 })];
  for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null)
    pages.push(await store.search({ query, limit: 2, cursor: next }));
  expect(pages.flatMap(({ hits }) => hits.map(({ entryId }) => entryId)).sort()).toEqual(["e0", "e1", "e2", "far"]);
});

test("a search by path takes any path", async () => {
  const { store, session } = await grow("");
  const calls = ["docs/\u{1f4c4}.md", "a\0b/x.md", "\ud800/x.md", 'q"uo\\te/x.md'];
  for (const [at, path] of calls.entries())
    await session.append({ ...assistantMessage([{ type: "toolCall", id: `c${at}`, name: "read", arguments: { path } }]), id: `e${at}` });
  const byPath = async (path: string) => found(store, { query: "read", path });
  expect(await byPath("\u{1f4c4}.md")).toBe("e0");
  expect(await byPath("x.md")).toMatch(/e2 e3$/);
  expect(await byPath('q"uo\\te/x.md')).toBe("e3");
});

describe("a search", () => {
  test.each([
    ["a word", "parser", "e0 e1"],
    ["all of several words, in any order", "tabs parser", "e0"],
    ["words in a row", '"the parser"', "e0 e1"],
    ["no words out of their row", '"parser the"', ""],
    ["a beginning", "pars*", "e0 e1 e2"],
    ["a part of a word", "arser", "e0 e1"],
    ["no part of a word in quotation marks", '"arser"', ""],
    ["a beginning of the last word of a row", '"the pars"*', "e0 e1"],
    ["whatever the case", "PARSER", "e0 e1"],
    ["nothing that is an operator", "parser NOT tabs OR (", ""],
  ])("finds %s", async (_what, query, ids) => {
    const { store } = await said("Why does the parser fail on tabs?", "The parser works", "Parsing is hard");
    expect(await found(store, query)).toBe(ids);
  });

  test.each([
    ["café", "e0 e1"],
    ["cafe", "e0 e1"],
    ["CAFÉ", "e0 e1"],
    ["strasse", ""],
    ["uber", "e2"],
  ])("takes no account of accents: %s", async (query, ids) => {
    const { store } = await said("un café noir", "un cafe\u0301 noir", "Über die Straße");
    expect(await found(store, query)).toBe(ids);
  });

  test.each([
    ["数据", "e0 e3"],
    ["数据库", "e0"],
    ["库数", ""],
    ["データ", "e1"],
    ["검색", "e2"],
    ["parser数据", "e3"],
  ])("finds %s inside a sentence written without spaces", async (query, ids) => {
    const { store } = await said("修复数据库的错误", "このデータを読む", "전체검색기능", "fix parser数据 now");
    expect(await found(store, query)).toBe(ids);
  });

  test.each(["src/a.ts", "a.ts", '"src/a.ts"', "./src/a.ts"])("finds the file name %s, and no other of its words", async (query) => {
    const { store } = await said("see src/a.ts", "see src/b.ts", "a file, ts");
    const ids = await found(store, query);
    expect(ids.split(" ")).toContain("e0");
    expect(ids).not.toContain("e1");
  });

  test.each(["", "  ", '""', "*"])("for %j has nothing to look for", async (query) => {
    const { store } = await said("text");
    await expect(store.search({ query })).rejects.toThrow(InvalidQueryError);
  });

  test.each(['"unclosed', "a AND", "NEAR(", "col:x", "-x", "^x", "{x", "x'y", "\0x", "\ud83dx", "a\\b"])(
    "for %j is no syntax error",
    async (query) => {
      const { store } = await said("text");
      expect((await store.search({ query })).hits).toEqual([]);
    },
  );

  test("looks into texts, thoughts, arguments, tool output, commands, summaries and their files; not into what only hosts read", async () => {
    const { store, session } = await grow("");
    const call = { type: "toolCall", id: "c", name: "grep", arguments: { pattern: "inarguments", deep: [{ x: "indeep" }] } } as const;
    const reply = [{ type: "thinking", thinking: "inthought", thinkingSignature: "insignature" } as const, call];
    await session.append({ ...assistantMessage(reply), id: "reply" });
    await session.append({ ...toolResult("c", "inoutput", { details: { x: "indetails" } }), id: "result" });
    await session.append({ type: "message", message: { role: "bashExecution", command: "incommand", output: "inshell" }, id: "bash" });
    const files = { readFiles: ["infiles.ts"], modifiedFiles: [] };
    await session.append({ type: "compaction", summary: "insummary", firstKeptEntryId: null, details: files, id: "compaction" });
    await session.append({ type: "branch_summary", summary: "inbranch", fromId: null, id: "branch" });
    await session.append({ type: "custom_message", customType: "t", content: "innote", id: "note" });
    await session.append({ type: "custom", customType: "t", data: "indata" });
    await session.append({ type: "foreign", originalType: "t", raw: "inforeign" });
    const places = {
      inthought: "reply",
      inarguments: "reply",
      indeep: "reply",
      grep: "reply",
      inoutput: "result",
      incommand: "bash",
      inshell: "bash",
      insummary: "compaction",
      infiles: "compaction",
      inbranch: "branch",
      innote: "note",
      indetails: "",
      indata: "",
      inforeign: "",
      insignature: "",
    };
    for (const [query, id] of Object.entries(places)) expect([query, await found(store, query)]).toEqual([query, id]);
  });

  test("finds titles first, also after a rename and no longer by the old one", async () => {
    const { store, session } = await grow("", { session: { title: "Lexer rewrite" } });
    await session.append({ ...userMessage("the lexer"), id: "e0" });
    expect((await store.search({ query: "lexer" })).hits.map(({ type }) => type)).toEqual(["title", "message"]);
    await store.renameSession(session.id, "Tokens");
    expect(await found(store, "lexer")).toBe("e0");
    expect(await found(store, "tokens")).toBe("title");
    await store.renameSession(session.id, null);
    expect(await found(store, "tokens")).toBe("");
  });

  test("narrows to a session, roles, types, a directory, a time and a file", async () => {
    const { store, session } = await grow("", { session: { cwd: "/one" } });
    await session.append({ ...userMessage("needle"), id: "u", createdAtMs: 1_000 });
    const call = { type: "toolCall", id: "c", name: "edit", arguments: { path: "/project/src/needle.ts" } } as const;
    await session.append({ ...assistantMessage([call]), id: "a", createdAtMs: 2_000 });
    await session.append({ type: "compaction", summary: "needle", firstKeptEntryId: null, id: "c", createdAtMs: 3_000 });
    const { session: other } = await grow("", { store, session: { cwd: "/two", title: "needle", createdAtMs: 500 } });
    await other.append({ ...userMessage("needle"), id: "o", createdAtMs: 4_000 });
    const query = "needle";
    expect(await found(store, { query })).toBe("a c o title u");
    expect(await found(store, { query, sessionId: session.id })).toBe("a c u");
    expect(await found(store, { query, cwd: "/two" })).toBe("o title");
    expect(await found(store, { query, roles: ["user"] })).toBe("o u");
    expect(await found(store, { query, types: ["compaction"] })).toBe("c");
    expect(await found(store, { query, sinceMs: 2_000, untilMs: 4_000 })).toBe("a c");
    expect(await found(store, { query, untilMs: 1_000 })).toBe("title");
    for (const path of ["/project/src/needle.ts", "src/needle.ts", "needle.ts", "./needle.ts"])
      expect(await found(store, { query, path })).toBe("a");
    expect(await found(store, { query, path: "eedle.ts" })).toBe("");
    await expect(store.search({ query, sessionId: "nobody" })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("ranks what says more of it first, and the newest first where that is equal", async () => {
    const { store } = await said("needle", `needle ${"hay ".repeat(200)}`, "needle");
    const { hits } = await store.search({ query: "needle" });
    expect(hits.map(({ entryId }) => entryId)).toEqual(["e2", "e0", "e1"]);
  });

  test("comes in pages that give every hit once, and tells how many there are", async () => {
    const { store } = await said(...Array.from({ length: 7 }, () => "needle"));
    await grow("", { store, session: { title: "needle" } });
    const seen: (string | null)[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await store.search({ query: "needle", limit: 3, cursor: cursor ?? undefined });
      expect(page.total).toBe(8);
      seen.push(...page.hits.map(({ entryId }) => entryId));
      cursor = page.next;
    }
    expect(seen).toEqual([null, "e6", "e5", "e4", "e3", "e2", "e1", "e0"]);
  });

  test("comes in pages where everything is of a time before 1970, too", async () => {
    const { store, session } = await grow("");
    for (const at of [-30, -20, -10]) await session.append({ ...userMessage("needle"), id: `e${-at}`, createdAtMs: at });
    for (const request of [{ query: "needle" }, { query: "", types: ["message"] as const }]) {
      const ids: (string | null)[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { hits, next }: SearchPage = await store.search({ ...request, limit: 2, cursor });
        ids.push(...hits.map(({ entryId }) => entryId));
        cursor = next;
      }
      expect(ids).toEqual(["e10", "e20", "e30"]);
    }
  });

  test("is complete at once: what was appended a moment ago is found", async () => {
    const { store, session } = await said("first");
    expect(await found(store, "first")).toBe("e0");
    await session.append({ ...userMessage("second"), id: "e1" });
    expect(await found(store, "second")).toBe("e1");
    expect(await store.catchUpSearch()).toBe(0);
  });
});

describe("a snippet", () => {
  test("is empty for titles, too, where none are asked for", async () => {
    const { store } = await grow("u1", { session: { title: "needle" } });
    expect((await store.search({ query: "needle", snippets: false })).hits).toMatchObject([{ type: "title", snippet: "", matches: [] }]);
    expect((await store.search({ query: "what is a needle?", relax: true, snippets: false })).hits).toMatchObject([{ snippet: "" }]);
    expect((await store.search({ query: "needle" })).hits).toMatchObject([{ snippet: "needle", matches: [[0, 6]] }]);
  });

  test("shows the surroundings of the first match and where the matches are", async () => {
    const { store } = await said(`${"hay ".repeat(100)}the Needle here, needles not, NEEDLE again ${"hay ".repeat(100)}`);
    const [hit] = (await store.search({ query: "needle" })).hits;
    expect(hit?.snippet.startsWith("…")).toBe(true);
    expect(hit?.matches.map(([start, end]) => hit.snippet.slice(start, end))).toEqual(["Needle", "needle", "NEEDLE"]);
    expect(hit?.snippet.length).toBeLessThanOrEqual(165);
  });

  test.each([
    ["caf\u00e9", "Ein Caf\u00e9 noir", ["Caf\u00e9"]],
    ["\u6570\u636e", "\u4fee\u590d\u6570\u636e\u5e93", ["\u6570\u636e"]],
    ["src/a.ts", "see src/a.ts now", ["src/a.ts"]],
    ["pars*", "Parsing, parsed", ["Pars", "pars"]],
    ['"b c"', "a b  c", ["b c"]],
    ["x", "\u{1f600}\u{1f600} x \u0130x x", ["x", "x"]],
  ])("of %s marks exactly what matched", async (query, text, marked) => {
    const { store } = await said(text);
    const [hit] = (await store.search({ query })).hits;
    expect(hit?.matches.map(([start, end]) => hit.snippet.slice(start, end))).toEqual(marked);
  });

  test("is one line without control characters", async () => {
    const { store } = await said("a\u001b[31m\nneedle\u0007\r\nb\u202e");
    const [hit] = (await store.search({ query: "needle" })).hits;
    expect(hit?.snippet).toBe("a [31m needle b");
  });
});

describe("a search of entries that are not indexed", () => {
  const many = (count: number, text: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => ({ kind: "entry", entry: { ...userMessage(text(at)), id: `e${at}` } }) as const);

  test("finds all of them without indexing them first", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    await session.write(many(3000, (at) => `needle word${at}`));
    const writer = new Database(path);
    onTestFinished(() => void writer.close());
    writer.exec("BEGIN IMMEDIATE");
    expect(await store.search({ query: "needle" })).toMatchObject({ total: 3000 });
    expect(await store.search({ query: "word2999 needle" })).toMatchObject({ total: 1, hits: [{ entryId: "e2999" }] });
    writer.exec("COMMIT");
  });

  test("puts them among the others by rank: the one that says more of it first, and the newest first where that is equal", async () => {
    const { store, session } = await grow("");
    await session.write(many(20, (at) => (at % 2 === 0 ? `needle ${"hay ".repeat(30)}` : "hay")));
    await store.catchUpSearch();
    await session.append({ ...userMessage("needle needle in the hay"), id: "best" });
    await session.append({ ...userMessage(`needle ${"hay ".repeat(30)}`), id: "newest" });
    await session.append({ ...userMessage(`needle ${"hay ".repeat(3000)}`), id: "worst" });
    const { hits } = await store.search({ query: "needle" });
    const ids = hits.map(({ entryId }) => entryId);
    expect(ids).toEqual(["best", "newest", "e18", "e16", "e14", "e12", "e10", "e8", "e6", "e4", "e2", "e0", "worst"]);
  });

  test("gives every hit once on its pages, also when they are indexed in between and others are appended", async () => {
    const { store, session } = await grow("", { session: { title: "needle" } });
    await session.write(many(50, () => "needle"));
    await store.catchUpSearch(20);
    const seen: (string | null)[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.search({ query: "needle", limit: 7, cursor });
      expect(page.total).toBe(51);
      seen.push(...page.hits.map(({ entryId }) => entryId));
      cursor = page.next;
      await session.append(userMessage("needle"));
      await store.catchUpSearch(10);
    }
    expect(seen.length).toBe(51);
    expect(new Set(seen).size).toBe(51);
  });

  test("finds no entry of a session that is deleted between two pages", async () => {
    const { store, session } = await grow("");
    await session.write(many(10, () => "needle"));
    const { session: other } = await grow("", { store });
    await other.append(userMessage("needle"));
    const first = await store.search({ query: "needle", limit: 1 });
    await store.deleteSession(session.id);
    const rest = await store.search({ query: "needle", limit: 100, cursor: first.next ?? undefined });
    expect(rest.hits.filter(({ sessionId }) => sessionId === session.id)).toEqual([]);
  });

  test.each(["index", "scan"])("reads what is packed, and shows the preview of what is damaged: %s", async (how) => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    await session.append({ ...userMessage("a damaged needle"), id: "damaged" });
    const { session: other } = await grow("", { store });
    await other.append({ ...userMessage("a needle"), id: "whole" });
    await store.pack();
    if (how === "index") await store.catchUpSearch();
    expect((await store.search({ query: "needle" })).total).toBe(2);
    const again = await openedStore({ path });
    raw(path, (file) => file.exec("UPDATE payload_block SET data = zeroblob(length(data)) WHERE session_seq = 1"));
    const { hits } = await again.search({ query: "needle" });
    if (how === "scan") expect(hits.map(({ entryId }) => entryId)).toEqual(["whole"]);
    else
      expect(hits.map(({ entryId, snippet }) => [entryId, snippet])).toEqual([
        ["whole", "a needle"],
        ["damaged", "a damaged needle"],
      ]);
  });

  test("finds what is at the end of large payloads, in rows and in blocks", async () => {
    const { store } = await said("needle", `${"hay ".repeat(50_000)}needle`, "hay");
    expect((await store.search({ query: "needle" })).total).toBe(2);
    await store.pack();
    expect(await found(store, "needle")).toBe("e0 e1");
  });

  test("finds nothing in a payload that is no JSON", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    await session.append({ ...userMessage("needle"), id: "e0" });
    await session.append({ ...userMessage("needle"), id: "e1" });
    raw(path, (file) => file.exec("UPDATE payload SET json = '{needle' WHERE entry_seq = 1"));
    expect(await found(store, "needle")).toBe("e1");
    await store.catchUpSearch();
    expect(await found(store, "needle")).toBe("e1");
  });

  test("is not asked of a store without a match", async () => {
    const store = await openedStore();
    expect(await store.search({ query: "x" })).toEqual({ hits: [], total: 0, matched: { kind: "all" }, unclosedQuote: null, next: null });
  });
});
