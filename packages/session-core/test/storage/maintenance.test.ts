import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importPath } from "@bough/formats";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openSqliteStorage } from "../../src/sqlite/sqlite-storage.js";
import { openStore } from "../../src/store/open-store.js";
import { Store } from "../../src/store/store.js";
import { grow } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath, tempFolder } from "../world/stores.js";

const said = (count: number, text = "needle") =>
  Array.from({ length: count }, (_, at) => ({ kind: "entry", entry: userMessage(`${text} ${at}`) }) as const);

const IN_MEMORY = { path: ":memory:", mode: "create", durability: "normal", busyTimeoutMs: 100, fileTools: {} } as const;

/** The entries that are not indexed. */
function unindexed(path: string): number {
  return (
    raw(path, (file) =>
      file.prepare<[], number>("SELECT (SELECT max(seq) FROM entry) - (SELECT indexed_seq FROM store_state)").pluck().get(),
    ) ?? 0
  );
}

/** Lets the event loop turn until `isSo`. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

const isCaughtUp = (store: Store) => async () => (await store.storage.catchUpSearch(0)) < 64;

describe("maintenance", () => {
  test("indexes and packs behind many appends, without being asked", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    await session.write(said(300));
    await until(isCaughtUp(store));
    await until(() => raw(path, (file) => file.prepare("SELECT count(*) FROM payload_block").pluck().get()) === 2);
    // The newest entries of a session in use stay rows.
    expect(raw(path, (file) => file.prepare("SELECT count(*) FROM payload").pluck().get())).toBe(172);
    expect((await store.search({ query: "needle" })).total).toBe(300);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("indexes and packs behind an import", async () => {
    const [path, file] = [storePath(), join(tempFolder(), "session.jsonl")];
    const timestamp = "2020-01-01T00:00:00.000Z";
    const lines = Array.from({ length: 250 }, (_, at) => ({
      type: "message",
      id: `m${at}`,
      parentId: at === 0 ? null : `m${at - 1}`,
      timestamp,
      message: { role: "user", content: `needle ${at}`, timestamp: 0 },
    }));
    const header = { type: "session", version: 3, id: "imported", timestamp, cwd: "/" };
    writeFileSync(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
    const store = await openedStore({ path });
    expect((await importPath(store, file)).sessions).toMatchObject([{ entriesAdded: 250 }]);
    await until(isCaughtUp(store));
    // A session without activity for an hour is packed whole.
    await until(() => raw(path, (opened) => opened.prepare("SELECT count(*) FROM payload").pluck().get()) === 0);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("indexes behind a search what other processes left", async () => {
    const path = storePath();
    const writer = await openedStore({ path });
    const { session } = await grow("", { store: writer });
    await session.write(said(150));
    const store = await openedStore({ path });
    expect((await store.search({ query: "needle" })).total).toBe(150);
    await until(isCaughtUp(store));
    expect((await store.search({ query: "needle" })).total).toBe(150);
  });

  test("of two processes at once loses and doubles nothing", async () => {
    const path = storePath();
    const stores = await Promise.all([openedStore({ path }), openedStore({ path })]);
    await Promise.all(
      stores.map(async (store) => {
        const { session } = await grow("", { store });
        for (let at = 0; at < 10; at += 1) {
          await session.write(said(60));
          await store.search({ query: "needle" });
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
    for (const store of stores) await until(isCaughtUp(store));
    for (const store of stores) expect((await store.search({ query: "needle" })).total).toBe(1200);
    expect(await findingsOf(stores[0] as Store)).toEqual([]);
  });

  test("indexes what arrives after the index step of a run, without another write or search", async () => {
    // The engine under the port. The host writes and searches while a run merges the index, so its index step is past.
    let arrive: (() => Promise<void>) | undefined;
    const engine = await openSqliteStorage(IN_MEMORY);
    const store = new Store({
      ...engine,
      async mergeSearchIndex(whenLocked) {
        const arriving = arrive;
        arrive = undefined;
        await arriving?.();
        return engine.mergeSearchIndex(whenLocked);
      },
    });
    onTestFinished(() => store.close());
    const session = await store.createSession();
    arrive = async () => {
      await session.write(said(150));
      await store.search({ query: "needle" });
    };
    await session.write(said(200));
    await until(() => arrive === undefined);
    await until(isCaughtUp(store));
    expect((await store.search({ query: "needle" })).total).toBe(350);
  });

  test("waits while another process has the lock; searches are complete, and the next one makes up for it", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    await session.write(said(150));
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    expect((await store.search({ query: "needle" })).total).toBe(150);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unindexed(path)).toBe(150);
    other.exec("COMMIT");
    expect((await store.search({ query: "needle" })).total).toBe(150);
    await until(isCaughtUp(store));
  });

  test("starts no write while one of the host waits", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("", { store });
    const other = new Database(path);
    onTestFinished(() => void other.close());
    await session.write(said(10));
    other.exec("BEGIN IMMEDIATE");
    const waiting = session.append(userMessage("waits"));
    other.exec("COMMIT");
    await expect(store.storage.catchUpSearch(10, "throw")).rejects.toMatchObject({ code: "STORE_BUSY" });
    await waiting;
    expect(await store.storage.catchUpSearch(100)).toBe(0);
  });

  test("reports an unexpected error to the next search, and ends no process", async () => {
    // Another engine under the port, whose index fails once as memory or a driver can.
    let fails = false;
    const engine = await openSqliteStorage(IN_MEMORY);
    const store = new Store({
      ...engine,
      async catchUpSearch(limit, whenLocked) {
        if (!fails) return engine.catchUpSearch(limit, whenLocked);
        fails = false;
        throw new RangeError("out of memory");
      },
    });
    onTestFinished(() => store.close());
    const session = await store.createSession();
    fails = true;
    await session.write(said(200));
    await until(() => !fails);
    await expect(store.search({ query: "needle" })).rejects.toThrow("out of memory");
    expect((await store.search({ query: "needle" })).total).toBe(200);
  });

  test("keeps no process alive", async () => {
    const store = await openedStore();
    const { session } = await grow("", { store });
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length;
    await session.write(said(400));
    await store.search({ query: "needle" });
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate")).toHaveLength(before);
  });
});

describe("closing a store", () => {
  test("indexes what the handle appended", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("", { store });
    await session.write(said(300));
    await store.close();
    expect(unindexed(path)).toBe(0);
  });

  test("indexes also right after a long write, which is followed by a pause for other processes", async () => {
    const path = storePath();
    const store = await openStore({ path, durability: "normal" });
    const { session } = await grow("", { store });
    await session.write(said(10_000));
    await store.close();
    expect(unindexed(path)).toBeLessThan(10_000);
  });

  test("leaves few entries unindexed, however few each handle appends", async () => {
    const path = storePath();
    const left: number[] = [];
    for (let handle = 0; handle < 40; handle += 1) {
      const store = await openStore({ path, durability: "normal" });
      await grow("u1 a1 u2 a2 u3", { store });
      await store.close();
      left.push(unindexed(path));
    }
    expect(Math.max(...left)).toBeLessThan(64);
    expect(Math.min(...left.slice(20))).toBe(0);
  });

  test("changes nothing if the handle only read, or cannot write", async () => {
    const path = storePath();
    const writer = await openStore({ path });
    const { session } = await grow("", { store: writer });
    await session.write(said(30));
    await writer.close();
    const before = readFileSync(path);
    for (const mode of ["read-write", "read-only"] as const) {
      const store = await openStore({ path, mode });
      expect((await store.search({ query: "needle" })).total).toBe(30);
      await store.listSessions();
      await store.close();
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("while another process has the lock closes at once", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("", { store });
    await session.write(said(300));
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    await store.close();
    other.exec("COMMIT");
    expect(unindexed(path)).toBe(300);
    const again = await openedStore({ path });
    expect((await again.search({ query: "needle" })).total).toBe(300);
  });
});
