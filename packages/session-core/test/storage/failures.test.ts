import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exportBough, importPath } from "@bough/formats";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openStore } from "../../src/store/open-store.js";
import { contextNames, entryNamed, grow, names, pathNames } from "../world/grow.js";
import { collected, findingsOf, openedStore, storePath, tempFolder } from "../world/stores.js";

describe("a full disk", () => {
  const large = (id: string) => ({ ...userMessage("x".repeat(40_000)), id });

  test("is told by a typed error, nothing of the write is there, and everything before it is", async () => {
    const path = storePath();
    const store = await openedStore({ path, maxBytes: 600_000 });
    const { session } = await grow("u1 a1", { store });
    const written: string[] = [];
    const fill = async () => {
      for (let at = 0; ; at += 1) written.push((await session.append(large(`f${at}`))).id);
    };
    await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL", path });
    expect(written.length).toBeGreaterThan(0);
    expect(session.leafId).toBe(written.at(-1));
    expect(await pathNames(session)).toBe(["u1", "a1", ...written].join(" "));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("leaves a batch out whole, and what fits can be written after it", async () => {
    const store = await openedStore({ path: storePath(), maxBytes: 400_000 });
    const { session } = await grow("u1", { store });
    const batch = Array.from({ length: 20 }, (_, at) => ({ kind: "entry", entry: large(`f${at}`) }) as const);
    await expect(session.write(batch)).rejects.toMatchObject({ code: "STORE_FULL" });
    await session.append(entryNamed("a1"));
    expect(await contextNames(session)).toBe("u1 a1");
    expect(await findingsOf(store)).toEqual([]);
  });
});

describe("a store that has reached its size", () => {
  test("takes more after its payloads are packed", async () => {
    const store = await openedStore({ path: storePath(), maxBytes: 600_000 });
    const { session } = await grow("u1", { store });
    const text = "some words to pack ".repeat(2_000);
    let appended = 0;
    const fill = async () => {
      for (; ; appended += 1) await session.append(userMessage(text));
    };
    await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await store.pack()).toMatchObject({ entries: appended + 1 });
    await session.append(userMessage(text));
    expect((await session.path()).length).toBe(appended + 2);
    expect(await findingsOf(store)).toEqual([]);
  });
});

describe("a store that another process holds", () => {
  /** Another connection that has taken the write lock. */
  function locked(path: string): Database.Database {
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    return other;
  }

  test("is told by a typed error after the wait that was configured, and nothing is written", async () => {
    const path = storePath();
    const store = await openedStore({ path, busyTimeoutMs: 20 });
    const { session } = await grow("u1", { store });
    const other = locked(path);
    await expect(session.append(entryNamed("a1"))).rejects.toMatchObject({ code: "STORE_BUSY", waitedMs: 20 });
    await expect(store.createSession()).rejects.toMatchObject({ code: "STORE_BUSY" });
    other.exec("COMMIT");
    await session.append(entryNamed("a1"));
    expect(await contextNames(session)).toBe("u1 a1");
  });

  test("can be read all the same: tree, context, list and search, also of what the index lacks", async () => {
    const path = storePath();
    const store = await openedStore({ path, busyTimeoutMs: 20 });
    const { session } = await grow("u1 a1", { store });
    locked(path);
    expect(await contextNames(session)).toBe("u1 a1");
    expect((await store.listSessions()).items).toHaveLength(1);
    expect((await store.search({ query: "a1" })).total).toBe(1);
  });

  test("keeps a reader's snapshot: what is committed in between is not half seen", async () => {
    const path = storePath();
    const { session } = await grow("u1 a1", { store: await openedStore({ path }) });
    const reading = session.walk();
    const first = await reading.next();
    await session.append(entryNamed("u2"));
    expect([first.value?.id, names(await collected(reading))]).toEqual(["u1", "a1"]);
  });
});

describe("closing a store", () => {
  test("waits for every write that was accepted", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("", { store });
    const writes = Array.from({ length: 30 }, (_, at) => session.append(entryNamed(`u${at}`)));
    await store.close();
    await Promise.all(writes);
    const again = await (await openedStore({ path })).openSession(session.id);
    expect((await again.path()).map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, at) => `u${at}`));
  });

  test("waits for a search and an import that were asked for before", async () => {
    const store = await openStore({ path: storePath(), durability: "normal" });
    const { session } = await grow("u1", { store });
    for (let at = 0; at < 30; at += 1) await session.append(userMessage(`word ${"x".repeat(100_000)}`));
    const file = join(tempFolder(), "session.jsonl");
    writeFileSync(file, (await collected(exportBough(session, { secrets: "keep" }))).join(""));
    const asked = Promise.all([store.search({ query: "word" }), importPath(store, file)]);
    await store.close();
    const [{ total }, { sessions }] = await asked;
    expect([total, sessions.map(({ outcome }) => outcome)]).toEqual([30, ["unchanged"]]);
  });

  test("succeeds also where a write has failed", async () => {
    const store = await openStore({ path: ":memory:" });
    const { session } = await grow("u1", { store });
    const failing = expect(session.append(entryNamed("x1:nowhere"))).rejects.toMatchObject({ code: "INVALID_REFERENCE" });
    await store.close();
    await failing;
  });

  test("makes every later call say that the store is closed", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("u1", { store });
    await store.close();
    const calls = [
      session.append(entryNamed("a1")),
      session.context(),
      session.path(),
      session.moveLeaf(null),
      session.undoMove(),
      session.refresh(),
      session.record(),
      store.openSession(session.id),
      store.createSession(),
      store.listSessions(),
      store.search({ query: "x" }),
      store.catchUpSearch(),
      store.pack(),
      store.storage.mergeSearchIndex(),
      store.storage.packing.shrinkFile(),
      store.statistics(),
      store.backup(`${path}.backup`),
      findingsOf(store),
    ];
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ reason: { code: "STORE_CLOSED", path } });
    expect(existsSync(`${path}.backup`)).toBe(false);
  });

  test("twice is once", async () => {
    const store = await openStore({ path: ":memory:" });
    await store.close();
    await store.close();
  });

  test("leaves one file: the journal is folded into it", async () => {
    const path = storePath();
    const store = await openStore({ path });
    await grow("u1 a1", { store });
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(["store.db"]);
  });
});
