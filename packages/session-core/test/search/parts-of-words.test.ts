import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { assistantMessage, toolResult, userMessage } from "../../src/entry/builders.js";
import { InvalidExpressionError, SlowExpressionError } from "../../src/errors/session-errors.js";
import type { SearchRequest } from "../../src/port/search.js";
import type { Store } from "../../src/store/store.js";
import { grow } from "../world/grow.js";
import { takeBackTo4, takeBackTo5 } from "../world/old-stores.js";
import { openedStore, raw, storePath } from "../world/stores.js";

/** A store in a file with one session of user messages, the first with the id e0. */
async function said(...texts: string[]) {
  const path = storePath();
  const store = await openedStore({ path });
  const { session } = await grow("", { store });
  for (const [at, text] of texts.entries()) await session.append({ ...userMessage(text), id: `e${at}` });
  return { path, store, session };
}

/** The ids in the order of the hits, the same by the scan and by the index. */
async function ranked(store: Store, request: SearchRequest | string): Promise<string> {
  const asked = typeof request === "string" ? { query: request } : request;
  const ids = async () => (await store.search(asked)).hits.map(({ entryId }) => entryId ?? "title").join(" ");
  const scanned = await ids();
  await store.catchUpSearch();
  expect(await ids()).toBe(scanned);
  return scanned;
}

const words = (path: string) => raw(path, (file) => file.prepare<[], string>("SELECT word FROM word ORDER BY word").pluck().all());

describe("a search for a part of a word", () => {
  test("ranks whole words first, then starts of words, then other parts; the newest of these first", async () => {
    const { store } = await said("a skiptext", "texts", "text", "userTextBox", "textual", "text text");
    expect(await ranked(store, "text")).toBe("e5 e2 e4 e1 e3 e0");
    expect(await ranked(store, '"text"')).toBe("e5 e2");
  });

  test("takes the least close of its words", async () => {
    const { store } = await said("skipping texts", "skipping text", "skip text", "skip context");
    expect(await ranked(store, "skip text")).toBe("e2 e1 e0 e3");
  });

  test("gives each hit once on its pages, whole words and parts", async () => {
    const { store } = await said(...Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? "needle" : "needles")));
    await store.catchUpSearch(5);
    const seen: (string | null)[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.search({ query: "needle", limit: 2, cursor });
      expect(page.total).toBe(9);
      seen.push(...page.hits.map(({ entryId }) => entryId));
      cursor = page.next;
    }
    expect(seen.join(" ")).toBe("e8 e6 e4 e2 e0 e7 e5 e3 e1");
  });

  test("finds parts of titles too", async () => {
    const { store } = await said("nothing");
    await store.createSession({ id: "watch", title: "startThemeWatcher" });
    expect((await store.search({ query: "ThemeWatch" })).hits.map(({ sessionId }) => sessionId)).toEqual(["watch"]);
  });

  test("tells that a quotation mark is not closed", async () => {
    const { store } = await said("the lexer tabs");
    expect(await store.search({ query: '"lexer ta' })).toMatchObject({ total: 1, unclosedQuote: "lexer ta" });
  });

  test("with `relax`, ignores the characters between the words if nothing has them as they are typed", async () => {
    const { store } = await said("src lexer", "c");
    expect(await store.search({ query: "src/lexer" })).toMatchObject({ total: 0 });
    expect(await store.search({ query: "src/lexer", relax: true })).toMatchObject({ total: 1, matched: { kind: "words" } });
    expect(await store.search({ query: "C++", relax: true })).toMatchObject({ total: 0 });
  });
});

describe("the list of words", () => {
  test("has each word of the index once, and loses those of a deleted session", async () => {
    const { path, store, session } = await said("Secret passphrase, secret", "ab 数据 café");
    await store.catchUpSearch();
    expect(words(path)).toEqual(["cafe", "passphrase", "secret"]);
    const { session: other } = await grow("", { store, session: { title: "My secret" } });
    await other.append(userMessage("passages"));
    await store.catchUpSearch();
    await store.deleteSession(session.id);
    expect(words(path)).toEqual(["passages", "secret"]);
  });

  test("has no numbers, no word of more than 40 characters and no base64; the index finds these whole and by their beginning", async () => {
    const sha = (text: string) => createHash("sha512").update(text).digest();
    const [number, hash] = ["1234567890", sha("a").toString("hex")];
    const base64 = Buffer.concat([..."abcdefgh"].map(sha)).toString("base64");
    const { path, store } = await said(
      `image ${base64} end`,
      `took ${number} ms`,
      `${hash} lexer.ts`,
      "src/main/java/org/springframework/boot/web/Lexer.java",
    );
    expect(await ranked(store, hash)).toBe("e2");
    for (const [found, entry] of [
      [hash.slice(0, 7), "e2"],
      ["12345", "e1"],
      [base64.slice(0, 30), "e0"],
      ["ringframe", "e3"],
      [`"${base64}"`, "e0"],
    ] as const)
      expect(await ranked(store, found)).toBe(entry);
    expect(words(path)).toEqual(["boot", "end", "image", "java", "lexer", "main", "org", "springframework", "src", "took", "web"]);
    expect((await store.search({ query: hash.slice(7, 20) })).total).toBe(0);
  });

  test.each([4, 5] as const)("is made when a store of version %i is opened, and is not needed to read it", async (version) => {
    const { path, store } = await said("userMessageText", "C++");
    await store.catchUpSearch();
    await store.close();
    (version === 4 ? takeBackTo4 : takeBackTo5)(path);
    const reader = await openedStore({ path, mode: "read-only" });
    expect((await reader.search({ query: "messagetext" })).total).toBe(1);
    expect((await reader.search({ query: "c++" })).total).toBe(1);
    await reader.close();
    const writer = await openedStore({ path });
    expect(await ranked(writer, "messagetext")).toBe("e0");
    expect(words(path)).toEqual(["usermessagetext"]);
  });
});

describe("an expression", () => {
  test("that is invalid is refused with its position", async () => {
    const { store } = await said("text");
    const error = await store.search({ query: "/te(xt/" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidExpressionError);
    expect(error).toMatchObject({ code: "INVALID_EXPRESSION", position: 3 });
  });

  test("that takes too long is given up", async () => {
    const { store } = await said(`${"a".repeat(10_000)}b`);
    await expect(store.search({ query: "/^(a+)+$/" })).rejects.toThrow(SlowExpressionError);
    expect((await store.search({ query: "/a+b$/" })).total).toBe(1);
  });

  test("that takes too long for titles or labels is given up once, not for each of them", async () => {
    const { store, session } = await said("text");
    const { id } = await session.append(userMessage("labelled"));
    await session.labels.set(id, `${"a".repeat(100)}b`);
    await expect(store.search({ query: "/^(a+)+$/" })).rejects.toThrow(SlowExpressionError);
    await session.labels.remove(id);
    for (let at = 0; at < 3; at += 1) await store.createSession({ title: `${"a".repeat(100)}b` });
    await expect(store.search({ query: "/^(a+)+$/" })).rejects.toThrow(SlowExpressionError);
    expect((await store.search({ query: "/a+b$/" })).total).toBe(3);
  });
});

describe("a search in places", () => {
  async function places() {
    const { store, session } = await grow("");
    await session.append({ ...userMessage("needle in prose\n```ts\nhay in code\n```"), id: "user" });
    const edit = { type: "toolCall", id: "c1", name: "edit", arguments: { path: "a.ts", newText: "needle()" } } as const;
    await session.append({ ...assistantMessage([{ type: "text", text: "hay" }, edit]), id: "edit" });
    await session.append({ ...toolResult("c1", "needle edited", { toolName: "edit" }), id: "edited" });
    const grep = { type: "toolCall", id: "c2", name: "grep", arguments: { pattern: "needle" } } as const;
    await session.append({ ...assistantMessage([grep]), id: "grep" });
    await session.append({ ...toolResult("c2", "needle found", { toolName: "grep" }), id: "found" });
    await session.append({ ...toolResult("c3", "needle of a file", { toolName: "read" }), id: "file" });
    await session.append({ type: "message", message: { role: "bashExecution", command: "needle", output: "hay" }, id: "bash" });
    await session.append({ ...userMessage("~~~\nneedle\nnot closed"), id: "fence" });
    return store;
  }
  const sorted = async (store: Store, request: SearchRequest) => (await ranked(store, request)).split(" ").sort().join(" ");

  test("finds words only there", async () => {
    const store = await places();
    const query = "needle";
    expect(await sorted(store, { query, places: ["prose"] })).toBe("user");
    expect(await sorted(store, { query, places: ["code"] })).toBe("bash edit fence file");
    expect(await sorted(store, { query, places: ["tool"] })).toBe("bash edit edited file found grep");
    expect(await sorted(store, { query: "hay", places: ["code"] })).toBe("user");
    expect(await sorted(store, { query: "hay", places: ["prose", "tool"] })).toBe("bash edit");
  });

  test("finds the calls of a tool and their results, with words and without", async () => {
    const store = await places();
    expect(await sorted(store, { query: "needle", tool: "GREP" })).toBe("found grep");
    expect(await ranked(store, { query: "", tool: "edit" })).toBe("edited edit");
    expect(await sorted(store, { query: "", places: ["prose"] })).toBe("edit user");
  });

  test("finds the entries of one agent's sessions, and of a role, without words", async () => {
    const store = await places();
    expect((await store.search({ query: "", agents: ["bough"], roles: ["user"] })).total).toBe(2);
    expect((await store.search({ query: "needle", agents: ["claude", "pi"] })).total).toBe(0);
  });
});
