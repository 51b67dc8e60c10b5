import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { assistantMessage, userMessage } from "../../../src/entry/builders.js";
import type { SessionFilter } from "../../../src/port/records.js";
import { openStore } from "../../../src/store/open-store.js";
import type { Store } from "../../../src/store/store.js";
import { entryNamed, grow, plant } from "../../world/grow.js";
import { findingsOf, newPlace, openedStore, storePath } from "../../world/stores.js";

async function listed(store: Store, filter: Parameters<Store["listSessions"]>[0] = {}): Promise<string> {
  return (await store.listSessions(filter)).items.map(({ id }) => id).join(" ");
}

/** A session whose one message was said at this time. */
async function spoken(store: Store, id: string, atMs: number, given: object = {}) {
  const session = await store.createSession({ id, createdAtMs: 1, ...given });
  await session.append({ ...userMessage(`said in ${id}`), createdAtMs: atMs });
  return session;
}

describe("a session", () => {
  test("starts with what it is given, before its first entry", async () => {
    const store = await openedStore();
    const parent = { sessionId: "p", entryId: "e", toolCallId: "c" };
    const given = { id: "s", title: " Fix\nit ", cwd: "/project", kind: "subagent", createdAtMs: 5, parent, metadata: { a: [1] } } as const;
    const session = await store.createSession(given);
    expect(await session.record()).toMatchObject({
      ...given,
      title: "Fix it",
      titleSource: "user",
      activeAtMs: 5,
      entryCount: 0,
      firstText: null,
    });
  });

  test("gets an id of its own where none is given", async () => {
    const store = await openedStore();
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await store.createSession()).id));
    expect(new Set(ids).size).toBe(50);
  });

  test.each([
    ["an id with a space", { id: "a b" }, "session id", "session id: must be 1 to 128 visible characters without spaces"],
    ["an empty id", { id: "" }, "session id", "session id: must be 1 to 128 visible characters without spaces"],
    ["a time in parts of a millisecond", { createdAtMs: 1.5 }, "createdAtMs", "time of a session: must be whole milliseconds since 1970"],
  ])("is not made with %s", async (_what, given, path, message) => {
    const store = await openedStore();
    await expect(store.createSession(given)).rejects.toMatchObject({ code: "INVALID_ENTRY", path, message: `Not a valid ${message}.` });
    expect(await listed(store, { empty: true })).toBe("");
  });

  test("is not made with metadata that JSON cannot keep, nor under an id that is taken", async () => {
    const store = await openedStore();
    await store.createSession({ id: "taken" });
    await expect(store.createSession({ metadata: { n: 1n } })).rejects.toMatchObject({ code: "UNSERIALIZABLE_VALUE" });
    await expect(store.createSession({ id: "taken" })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    const writes = [{ kind: "entry" as const, entry: { type: "message" } as never }];
    await expect(store.createSession({ id: "taken" }, { writes })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
  });

  test("with a title of white space has none, and an automatic one may come", async () => {
    const store = await openedStore();
    const session = await store.createSession({ title: " \n" });
    expect(await session.record()).toMatchObject({ title: null, titleSource: null });
    await store.renameSession(session.id, "made up", "auto");
    expect((await session.record()).title).toBe("made up");
  });

  test("counts its entries, messages, bytes and first words as they come", async () => {
    const { session } = await grow("s1 m1 u1 a1 k1 r1:k1");
    const entries = await session.path();
    expect(await session.record()).toMatchObject({ entryCount: 6, messageCount: 3, firstText: "u1" });
    const bytes = entries.map(({ id: _i, seq: _s, parentId: _p, createdAtMs: _c, type: _t, ...rest }) => JSON.stringify(rest).length);
    expect((await session.record()).payloadBytes).toBe(bytes.reduce((sum, one) => sum + one, 0));
  });

  test("that is not there is said so, whatever is asked of it", async () => {
    const store = await openedStore();
    expect(await store.findSession("nobody")).toBeUndefined();
    const asked = [
      store.openSession("nobody"),
      store.renameSession("nobody", "x"),
      store.archiveSession("nobody"),
      store.deleteSession("nobody"),
    ];
    for (const outcome of await Promise.allSettled(asked)) expect(outcome).toMatchObject({ reason: { code: "SESSION_NOT_FOUND" } });
  });
});

describe("the list of sessions", () => {
  test("has the newest activity first: that of the conversation, not of titles, labels, settings or moves", async () => {
    const store = await openedStore();
    const old = await spoken(store, "old", 1_000);
    await spoken(store, "new", 2_000);
    await store.renameSession("old", "renamed");
    await old.append({ ...entryNamed("m1"), createdAtMs: 9_000 });
    await old.values.set("k", 1);
    await old.moveLeaf(null);
    expect(await listed(store)).toBe("new old");
    await old.append({ ...assistantMessage("x"), createdAtMs: 3_000 });
    expect(await listed(store)).toBe("old new");
    expect((await old.record()).activeAtMs).toBe(3_000);
  });

  test("leaves out empty sessions, subagents' and archived ones, unless asked for", async () => {
    const store = await openedStore();
    await spoken(store, "talk", 4_000);
    await spoken(store, "agent", 3_000, { kind: "subagent" });
    await spoken(store, "away", 2_000);
    await store.archiveSession("away");
    await store.createSession({ id: "empty", createdAtMs: 1_000 });
    expect(await listed(store)).toBe("talk");
    expect(await listed(store, { kind: "subagent" })).toBe("agent");
    expect(await listed(store, { kind: "all", archived: "all", empty: true })).toBe("talk agent away empty");
    expect(await listed(store, { archived: true })).toBe("away");
    await store.archiveSession("away", false);
    expect(await listed(store)).toBe("talk away");
  });

  test("is of one directory, or of what one session started", async () => {
    const store = await openedStore();
    await spoken(store, "a", 1, { cwd: "/one" });
    await spoken(store, "b", 2, { cwd: "/two", parent: { sessionId: "a", entryId: null, toolCallId: null } });
    expect(await listed(store, { cwd: "/one" })).toBe("a");
    expect(await listed(store, { parentId: "a" })).toBe("b");
  });

  test("comes in pages that give every session once, also where times are equal", async () => {
    const store = await openedStore();
    for (let at = 0; at < 7; at += 1) await spoken(store, `s${at}`, 1_000 + Math.floor(at / 3));
    const pages: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await store.listSessions({ limit: 3, cursor: cursor ?? undefined });
      pages.push(page.items.map(({ id }) => id).join(" "));
      cursor = page.next;
    }
    expect(pages).toEqual(["s6 s5 s4", "s3 s2 s1", "s0"]);
  });
});

describe("the sessions of some metadata", () => {
  const grown = (store: Store, id: string, metadata: Record<string, unknown>, words = "u1") =>
    grow(words, { store, session: { id, metadata } });
  const found = async (store: Store, metadata: SessionFilter["metadata"], more: SessionFilter = {}) =>
    (await store.listSessions({ ...more, metadata })).items
      .map(({ id }) => id)
      .toSorted()
      .join(" ");

  test("have all members asked for, equal in value and type", async () => {
    const store = await openedStore();
    await grown(store, "a", { owner: "u7", n: 1, on: true, none: null, deep: { owner: "u8" } });
    await grown(store, "b", { owner: "u7", n: "1", on: "true" });
    await grown(store, "c", {});
    const asked = [
      { owner: "u7" },
      { n: 1 },
      { n: "1" },
      { on: true },
      { none: null },
      { owner: "u7", n: 1 },
      { owner: "u8" },
      { nobody: null },
    ];
    expect(await Promise.all(asked.map((metadata) => found(store, metadata)))).toEqual(["a b", "a", "b", "a", "a", "a", "", ""]);
    expect(await found(store, {})).toBe("a b c");
    expect(await found(store, { owner: "x".repeat(501) })).toBe("");
    await expect(store.listSessions({ metadata: { deep: {} as never } })).rejects.toMatchObject({ argument: "filter.metadata.deep" });
  });

  test("are listed in pages, newest first, with the other conditions, few or many", async () => {
    const store = await openedStore();
    for (let at = 0; at < 1_100; at += 1) await store.createSession({ id: `e${at}`, metadata: { app: "x", rare: at % 500 } });
    await grown(store, "old", { app: "x", rare: 1 });
    await grown(store, "new", { app: "x", rare: 1 });
    expect(await found(store, { app: "x" })).toBe("new old");
    expect(await found(store, { rare: 1 })).toBe("new old");
    expect(await found(store, { app: "x", rare: 1 }, { empty: true })).toBe("e1 e1001 e501 new old");
    const first = await store.listSessions({ metadata: { rare: 1 }, empty: true, limit: 2 });
    const second = await store.listSessions({ metadata: { rare: 1 }, empty: true, limit: 2, cursor: first.next ?? "" });
    const whole = await store.listSessions({ metadata: { rare: 1 }, empty: true });
    expect([...first.items, ...second.items]).toEqual(whole.items.slice(0, 4));
    expect((await store.listSessions({ metadata: { app: "x" }, empty: true, limit: 3 })).items).toHaveLength(3);
  });

  test("go with the session", async () => {
    const store = await openedStore();
    await grown(store, "a", { owner: "u7" });
    await store.deleteSession("a");
    await grown(store, "a", { owner: "u8" });
    expect([await found(store, { owner: "u7" }), await found(store, { owner: "u8" })]).toEqual(["", "a"]);
  });
});

describe("a title", () => {
  test("that a person gave is never replaced by an automatic one", async () => {
    const { store, session } = await grow("u1");
    await store.renameSession(session.id, "made up", "auto");
    await store.renameSession(session.id, "mine");
    await store.renameSession(session.id, "made up again", "auto");
    expect(await session.record()).toMatchObject({ title: "mine", titleSource: "user" });
  });

  test("is one line without control characters, and may be taken away", async () => {
    const { store, session } = await grow("u1");
    await store.renameSession(session.id, " a\r\nb\u001b[2J ");
    expect((await session.record()).title).toBe("a b [2J");
    await store.renameSession(session.id, "");
    expect(await session.record()).toMatchObject({ title: null, titleSource: null });
  });

  test("to the same is no change", async () => {
    const { store, session } = await grow("u1", { session: { title: "same" } });
    await store.renameSession(session.id, "same");
    expect((await session.record()).title).toBe("same");
    expect((await store.search({ query: "same" })).total).toBe(1);
  });
});

describe("naming a session", () => {
  async function named() {
    const store = await openedStore();
    await spoken(store, "abc1", 1, { title: "Parser" });
    await spoken(store, "abc2", 2, { title: "Parser tests" });
    await spoken(store, "zz", 3, { title: "The parser, again" });
    return store;
  }

  test.each([
    ["abc1", "abc1"],
    ["z", "zz"],
    ["parser", "abc1"],
    ["Parser t", "abc2"],
    ["again", "zz"],
  ])("%s means %s: exact before prefix before part, id before title", async (name, id) => {
    expect((await (await named()).resolveSession(name)).id).toBe(id);
  });

  test("lists those that were active at the same time with the newest first, also where not all are asked for", async () => {
    const store = await openedStore();
    for (const id of ["same2", "same3", "same1"]) await spoken(store, id, 1, { title: "Equal" });
    for (const name of ["same", "equal"]) expect((await store.findSessions(name, 2)).map(({ id }) => id)).toEqual(["same1", "same3"]);
  });

  test("by what fits several is ambiguous, by what fits none is not found; nothing is a pattern", async () => {
    const store = await named();
    await expect(store.resolveSession("abc")).rejects.toMatchObject({
      code: "AMBIGUOUS_NAME",
      candidates: ["abc2 (Parser tests)", "abc1 (Parser)"],
    });
    for (const name of ["%", "_", "*", "nobody"])
      await expect(store.resolveSession(name)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});

describe("deleting a session", () => {
  test("takes everything about it and nothing of others", async () => {
    const { store, session } = await grow("u1 a1 @u1 a2 c1 k1 r1:k1", { session: { title: "gone" } });
    const { session: stays } = await grow("u1 a1", { store, session: { title: "stays" } });
    await session.labels.set("a1", "gone");
    await session.values.set("gone", 1);
    await store.openSession(session.id, { leaf: "other" });
    await store.search({ query: "u1" });
    await store.deleteSession(session.id);
    expect((await store.search({ query: "u1" })).hits.map(({ sessionId }) => sessionId)).toEqual([stays.id]);
    expect((await store.search({ query: "gone" })).total).toBe(0);
    expect(await store.statistics()).toMatchObject({ sessions: 1, entries: 2 });
    expect(await findingsOf(store)).toEqual([]);
    await plant(stays, "u2");
  });

  test("makes its handles say so, though one of the same id is made again", async () => {
    const { store, session } = await grow("u1 a1", { session: { id: "s" } });
    await session.context();
    await store.deleteSession("s");
    await expect(session.append(entryNamed("u2"))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(session.context()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await grow("u9", { store, session: { id: "s" } });
    for (const onConflict of ["error", "branch"] as const) {
      await expect(session.append(entryNamed("u2"), { onConflict })).rejects.toMatchObject({
        code: expect.stringMatching(/LEAF_MOVED|SESSION_NOT_FOUND/),
      });
    }
    expect(await findingsOf(store)).toEqual([]);
  });

  test("never gives a place in a file away again: what came since is still told apart", async () => {
    const { store, session } = await grow("u1 a1", { store: await openedStore({ path: storePath() }) });
    const { seq } = await session.entry("a1");
    await store.deleteSession(session.id);
    const { session: next } = await grow("u1", { store });
    expect((await next.entry("u1")).seq).toBeGreaterThan(seq);
  });

  test("leaves no byte of it in the file, its free pages, its index or its journal", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("u1", {
      store,
      session: { title: "xylophonetitle", metadata: { m: "xylophonemetadata" }, cwd: "/xylophonecwd" },
    });
    const words = ["xylophonetext", "xylophonelabel", "xylophonevalue", "xylophonepath", "xylophoneleaf"];
    for (let at = 0; at < 30; at += 1) await session.append(userMessage(`${words[0]} ${"padding ".repeat(at * 40)}`));
    const { id } = await session.append(
      assistantMessage([{ type: "toolCall", id: "c", name: "write", arguments: { path: `/${words[3]}.ts` } }]),
    );
    await session.labels.set(id, words[1] ?? "");
    await session.values.set(words[2] ?? "", words[2]);
    await store.openSession(session.id, { leaf: words[4] ?? "" });
    await store.search({ query: "padding" });
    await grow("u1 a1", { store });
    const present = () => [path, `${path}-wal`].some((file) => readFileSync(file).includes("xylophone"));
    expect(present()).toBe(true);
    await store.deleteSession(session.id);
    expect(present()).toBe(false);
    await store.close();
    expect(readFileSync(path).includes("xylophone")).toBe(false);
  });
});

test("a store is closed at the end of the block that uses it", async () => {
  let left: Store;
  {
    await using store = await openStore({ ...newPlace(), durability: "normal" });
    await store.createSession({});
    left = store;
  }
  await expect(left.listSessions()).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

test.each([
  ["übersicht der tests", "Übersicht der Tests"],
  ["ÜBERS", "Übersicht der Tests"],
  ["sicht", "Übersicht der Tests"],
  ["u\u0308bersicht", "Übersicht der Tests"],
  ["обзор", "Обзор"],
  ["ΣΎΝΟΨΗ", "σύνοψη"],
])("%j names the session %j, whatever the case", async (name, title) => {
  const store = await openedStore();
  await store.createSession({ id: "other", title: "Something else" });
  await store.createSession({ id: "wanted", title });
  expect((await store.resolveSession(name)).id).toBe("wanted");
});
