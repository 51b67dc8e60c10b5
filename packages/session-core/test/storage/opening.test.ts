import { createHash } from "node:crypto";
import fs, { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { MIGRATIONS, migrate, readVersion, SUPPORTED_VERSION } from "../../src/sqlite/file/migrate.js";
import { APPLICATION_ID } from "../../src/sqlite/file/store-file.js";
import { openStore, type StoreOptions } from "../../src/store/open-store.js";
import { contextNames, grow } from "../world/grow.js";
import { openedStore, raw, storePath, tempFolder } from "../world/stores.js";

/** Every file of a folder with the digest of its bytes. */
function bytesIn(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}

/** A closed store with one small session. */
async function savedStore(words = "u1 a1"): Promise<{ path: string; id: string }> {
  const path = storePath();
  const store = await openStore({ path });
  const { session } = await grow(words, { store });
  await store.close();
  return { path, id: session.id };
}

/** Opening fails with this code, and no byte beside it has changed. */
async function expectRefused(path: string, code: string, options: Partial<StoreOptions> = {}): Promise<void> {
  const folder = dirname(path);
  const before = bytesIn(folder);
  for (const mode of ["create", "read-write", "read-only"] as const) {
    await expect(openStore({ path, mode, ...options })).rejects.toMatchObject({ code });
    expect(bytesIn(folder)).toMatchObject(before);
  }
}

/** The modes of the files whose mode is changed from now on, before each change. */
function modesBeforeChmod(): number[] {
  const modes: number[] = [];
  const { chmodSync } = fs;
  const noting: typeof chmodSync = (path, mode) => {
    modes.push(statSync(path).mode & 0o777);
    chmodSync(path, mode);
  };
  Object.assign(fs, { chmodSync: noting });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { chmodSync });
    syncBuiltinESMExports();
  });
  return modes;
}

describe("opening a store", () => {
  test("that is missing makes the file and its folder, for the user alone", async () => {
    const path = join(tempFolder(), "new", "deeper", "store.db");
    await openedStore({ path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  test("that is missing makes a file that is private from its first moment", async () => {
    const modes = modesBeforeChmod();
    const path = storePath();
    await openedStore({ path });
    expect(modes).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("that is missing leaves one file when it is closed, also if nothing was read or written", async () => {
    const path = join(tempFolder(), "sessions.db");
    await (await openStore({ path })).close();
    expect(readdirSync(dirname(path))).toEqual(["sessions.db"]);
  });

  test("behind a dangling link makes a private file at its end", async () => {
    const path = storePath();
    symlinkSync(`${path}.real`, path);
    await openedStore({ path });
    expect(statSync(`${path}.real`).mode & 0o777).toBe(0o600);
  });

  test.each(["read-write", "read-only"] as const)("that is missing is refused %s, and nothing is made", async (mode) => {
    const path = join(tempFolder(), "new", "store.db");
    await expect(openStore({ path, mode })).rejects.toMatchObject({ code: "STORE_NOT_FOUND", path });
    expect(existsSync(dirname(path))).toBe(false);
  });

  test("that is an empty file initialises it, unless it is only to be used", async () => {
    const path = storePath();
    writeFileSync(path, "");
    await expect(openStore({ path, mode: "read-write" })).rejects.toMatchObject({ code: "STORE_NOT_FOUND" });
    await expect(openStore({ path, mode: "read-only" })).rejects.toMatchObject({ code: "STORE_NOT_FOUND" });
    expect(statSync(path).size).toBe(0);
    const { session } = await grow("u1", { store: await openedStore({ path }) });
    expect(await contextNames(session)).toBe("u1");
  });

  test.each([
    ["a text", "not a database, but long enough to have a header of a hundred bytes, which no reader must ever overwrite ……"],
    ["a session of another program", '{"type":"session","version":3}\n'],
    ["a few bytes", "x"],
  ])("refuses %s, and not one byte changes", async (_what, content) => {
    const path = storePath();
    writeFileSync(path, content);
    await expectRefused(path, "FOREIGN_FILE");
  });

  test("refuses a database of another program, and not one byte changes", async () => {
    const path = storePath();
    raw(path, (file) => file.exec("PRAGMA journal_mode = WAL; CREATE TABLE mine (x); PRAGMA user_version = 7"));
    await expectRefused(path, "FOREIGN_FILE");
  });

  test("refuses a folder", async () => {
    const path = join(tempFolder(), "folder.db");
    mkdirSync(path);
    await expectRefused(path, "FOREIGN_FILE");
  });

  test("refuses a store of a newer version, and not one byte changes", async () => {
    const { path } = await savedStore();
    raw(path, (file) => file.pragma(`user_version = ${SUPPORTED_VERSION + 1}`));
    await expectRefused(path, "NEWER_STORE");
  });

  test("refuses a newer version that stands only in the journal, and folds nothing into the file", async () => {
    const { path } = await savedStore();
    const copy = storePath();
    const newer = new Database(path);
    newer.pragma(`user_version = ${SUPPORTED_VERSION + 5}`);
    for (const side of ["", "-wal"]) copyFileSync(`${path}${side}`, `${copy}${side}`);
    newer.close();
    expect(readFileSync(copy).readUInt32BE(60)).toBe(SUPPORTED_VERSION);
    await expectRefused(copy, "NEWER_STORE");
  });

  test("below a file that is no folder is refused", async () => {
    const path = storePath();
    writeFileSync(path, "");
    await expect(openStore({ path: join(path, "store.db") })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("that is there, and a session in it, writes nothing", async () => {
    const { path, id } = await savedStore();
    const before = bytesIn(dirname(path));
    const store = await openStore({ path });
    const session = await store.openSession(id);
    await session.context();
    await store.listSessions();
    await store.close();
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test("whose file is cut short says that it is damaged, in one typed error", async () => {
    const { path, id } = await savedStore("u1 a1 u2 a2");
    writeFileSync(path, readFileSync(path).subarray(0, 6_000));
    const reading = (async () => (await (await openedStore({ path })).openSession(id)).path())();
    await expect(reading).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });

  test("syncs each commit unless told otherwise", async () => {
    const { Connection } = await import("../../src/sqlite/file/connection.js");
    const { path } = await savedStore();
    const synchronous = (durability: "full" | "normal") => {
      const connection = Connection.open({ path, mode: "read-write", durability, busyTimeoutMs: 100 });
      // Asked after a write, when SQLite's own default would have changed.
      connection.write(() => undefined);
      const [row] = connection.pragma("synchronous");
      connection.close();
      return row?.["synchronous"];
    };
    expect([synchronous("full"), synchronous("normal")]).toEqual([2, 1]);
  });
});

describe("a store opened for reading", () => {
  test("reads everything and writes nothing", async () => {
    const { path, id } = await savedStore("u1 a1 c1:a1 u2");
    const before = bytesIn(dirname(path));
    const store = await openedStore({ path, mode: "read-only" });
    const session = await store.openSession(id);
    expect(await contextNames(session)).toBe("c1 a1 u2");
    const attempts = [
      session.append({ type: "custom", customType: "t" }),
      session.moveLeaf("u1"),
      session.labels.set("u1", "x"),
      session.undoMove(),
      store.createSession(),
      store.renameSession(id, "x"),
      store.deleteSession(id),
      store.openSession(id, { leaf: "other" }),
    ];
    for (const outcome of await Promise.allSettled(attempts)) expect(outcome).toMatchObject({ reason: { code: "STORE_READ_ONLY" } });
    await store.close();
    expect(bytesIn(dirname(path))).toMatchObject(before);
  });

  test("finds what the search index does not have", async () => {
    const { path } = await savedStore("u1 a1");
    const store = await openedStore({ path, mode: "read-only" });
    const { hits, total } = await store.search({ query: "a1" });
    expect([total, hits[0]?.entryId, hits[0]?.matches]).toEqual([1, "a1", [[0, 2]]]);
  });

  test("sees what another process commits meanwhile", async () => {
    const { path, id } = await savedStore("u1");
    const reader = await (await openedStore({ path, mode: "read-only" })).openSession(id);
    const writer = await (await openedStore({ path })).openSession(id);
    await writer.append({ type: "message", message: { role: "user", content: "x" }, id: "u2" });
    expect(await contextNames(reader)).toBe("u1 u2");
  });
});

describe("a migration", () => {
  const failing = { name: "broken", statements: ["CREATE TABLE half (x INTEGER) STRICT", "ALTER TABLE nowhere ADD COLUMN y"] };
  const next = { name: "next", statements: ["CREATE TABLE next (x INTEGER) STRICT"] };
  const tables = (file: Database.Database) => file.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();

  test("that fails leaves the version and the tables of before", async () => {
    const { path, id } = await savedStore();
    raw(path, (file) => {
      const before = tables(file);
      expect(() => migrate(file, path, [...MIGRATIONS, failing])).toThrow(/nowhere/);
      expect([readVersion(file), tables(file)]).toEqual([SUPPORTED_VERSION, before]);
    });
    expect(await contextNames(await (await openedStore({ path })).openSession(id))).toBe("u1 a1");
  });

  test("undoes the steps before the one that fails", () => {
    raw(storePath(), (file) => {
      migrate(file, "x");
      expect(() => migrate(file, "x", [...MIGRATIONS, next, failing])).toThrow();
      expect(readVersion(file)).toBe(SUPPORTED_VERSION);
      expect(tables(file)).not.toContain("next");
      expect(tables(file)).not.toContain("half");
    });
  });

  test("commits with its version and says whose file it is, and runs once", () => {
    raw(storePath(), (file) => {
      migrate(file, "x");
      migrate(file, "x", [...MIGRATIONS, next]);
      migrate(file, "x", [...MIGRATIONS, next]);
      expect(readVersion(file)).toBe(SUPPORTED_VERSION + 1);
      expect(file.pragma("application_id", { simple: true })).toBe(APPLICATION_ID);
    });
  });

  test("never takes a file back to an older version", () => {
    raw(storePath(), (file) => {
      migrate(file, "x", [...MIGRATIONS, next]);
      expect(() => migrate(file, "x")).toThrow(expect.objectContaining({ code: "NEWER_STORE" }));
    });
  });
});
