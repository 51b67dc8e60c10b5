import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openStore, type StoreOptions } from "../../src/store/open-store.js";
import { restoreStore } from "../../src/store/restore-store.js";
import { contextNames, entryNamed, grow } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath, tempFolder } from "../world/stores.js";

const KEY = "a key with \"quotes\", 'others', umläuts, 🔑 and a NUL \0 inside";
const SECRET = "no-byte-of-this-is-on-the-disk";

/** Every file of a folder. */
function filesIn(folder: string): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

/** Every file of a folder with the digest of its bytes. */
function digestsIn(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(filesIn(folder)).map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]),
  );
}

/** The files of a folder that contain a text. */
function filesWith(folder: string, text: string): readonly string[] {
  return Object.entries(filesIn(folder))
    .filter(([, bytes]) => bytes.includes(text))
    .map(([name]) => name);
}

/** A store with one small session, locked unless `key` says otherwise. */
async function savedStore(key: string | undefined = KEY, path = storePath()): Promise<{ path: string; id: string }> {
  const store = await openStore({ path, key, durability: "normal" });
  const { session } = await grow("u1 a1 u2 a2", { store });
  await store.close();
  return { path, id: session.id };
}

/** Opening fails with this code in every mode, and no byte of the file, its journal and its index changes. */
async function expectRefused(path: string, code: string, options: Partial<StoreOptions>): Promise<void> {
  const before = digestsIn(dirname(path));
  for (const mode of ["create", "read-write", "read-only"] as const) {
    await expect(openStore({ path, mode, ...options })).rejects.toMatchObject({ code, path });
    expect(digestsIn(dirname(path))).toEqual(before);
  }
}

describe("a locked store", () => {
  test("is read with its key, and has no readable text in the file, its journal or its backup, open or closed", async () => {
    const path = storePath();
    const store = await openStore({ path, key: KEY });
    const { session } = await grow("u1 a1", { store });
    await session.append(userMessage(SECRET));
    await store.backup(join(dirname(path), "backup.db"));
    expect(Object.keys(filesIn(dirname(path))).sort()).toEqual(["backup.db", "store.db", "store.db-shm", "store.db-wal"]);
    expect(filesWith(dirname(path), SECRET)).toEqual([]);
    expect((await store.search({ query: SECRET })).hits).toHaveLength(1);
    await store.close();
    expect(filesWith(dirname(path), SECRET)).toEqual([]);
    const again = await openedStore({ path, key: KEY });
    expect((await again.search({ query: SECRET })).hits).toHaveLength(1);
    expect(await findingsOf(again)).toEqual([]);
  });

  test("without a key, or with another one, is refused, and no byte changes", async () => {
    const { path, id } = await savedStore();
    await expectRefused(path, "STORE_LOCKED", {});
    await expectRefused(path, "WRONG_KEY", { key: `${KEY} ` });
    expect(await savedIds(path)).toEqual([id]);
  });

  test("that another process has open is refused in the same way, and its journal stays", async () => {
    const { path, id } = await savedStore();
    const store = await openedStore({ path, key: KEY });
    await (await store.openSession(id)).append(entryNamed("u3"));
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await expectRefused(path, "STORE_LOCKED", {});
    await expectRefused(path, "WRONG_KEY", { key: "another" });
  });

  test("left by a crash with a journal is refused with a wrong key, and opens with its own", async () => {
    const from = await savedStore();
    const store = await openStore({ path: from.path, key: KEY });
    await (await store.openSession(from.id)).append(entryNamed("u3"));
    const path = storePath();
    for (const side of ["", "-wal"]) writeFileSync(`${path}${side}`, readFileSync(`${from.path}${side}`));
    await store.close();
    await expectRefused(path, "WRONG_KEY", { key: "another" });
    await expectRefused(path, "STORE_LOCKED", {});
    const opened = await openedStore({ path, key: KEY });
    expect(await contextNames(await opened.openSession(from.id))).toBe("u1 a1 u2 a2 u3");
  });

  test("and an open store do not open each other: a key for a store without a lock is refused, and no byte changes", async () => {
    const { path } = await savedStore(undefined, storePath());
    const plain = storePath();
    await (await openStore({ path: plain })).close();
    await expectRefused(plain, "STORE_NOT_LOCKED", { key: KEY });
    expect(existsSync(path)).toBe(true);
  });

  test("can be opened by another program with SQLite3MultipleCiphers and the text of the key", async () => {
    const { path } = await savedStore("it's plain text");
    const Ciphers: new (path: string) => Database.Database = createRequire(import.meta.url)("better-sqlite3-multiple-ciphers");
    const database = new Ciphers(path);
    database.pragma("key = 'it''s plain text'");
    expect(database.prepare("SELECT count(*) FROM entry").pluck().get()).toBe(4);
    database.close();
  });

  test("shows changes of another process at once, and notices another store that was copied over it", async () => {
    const { path, id } = await savedStore();
    const [store, other] = [await openedStore({ path, key: KEY }), await openedStore({ path, key: KEY })];
    const [session, same] = [await store.openSession(id), await other.openSession(id)];
    await same.append(entryNamed("u3"));
    expect(await contextNames(session)).toContain("u3");
    const second = await savedStore();
    writeFileSync(path, readFileSync(second.path));
    await expect(session.append(entryNamed("u4"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  test("that is damaged is called damaged, not wrongly keyed", async () => {
    const { path } = await savedStore();
    truncateSync(path, statSync(path).size - 4096);
    const opening = openStore({ path, key: KEY }).then(async (store) => {
      try {
        return await findingsOf(store);
      } finally {
        await store.close();
      }
    });
    await expect(opening).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });

  test("is created once by two that create it at the same moment", async () => {
    const path = storePath();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore({ path, key: KEY })));
    await stores[0]?.createSession({ id: "s1" });
    await expect(stores[3]?.findSession("s1")).resolves.toMatchObject({ id: "s1" });
    await Promise.all(stores.map((store) => store.close()));
  });

  test("is packed, and its free pages are given back without a temporary file", async () => {
    const temporary = tempFolder();
    const before = process.env["SQLITE_TMPDIR"];
    process.env["SQLITE_TMPDIR"] = temporary;
    try {
      const { path, id } = await savedStore();
      const store = await openedStore({ path, key: KEY });
      const session = await store.openSession(id);
      for (let i = 0; i < 40; i += 1) await session.append(userMessage(`${SECRET} `.repeat(500)));
      const { bytesAfter, bytesBefore } = await store.pack();
      expect(bytesAfter).toBeLessThan(bytesBefore);
      expect(filesWith(dirname(path), SECRET)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
      expect(await findingsOf(store)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["SQLITE_TMPDIR"];
      else process.env["SQLITE_TMPDIR"] = before;
    }
  });
});

async function savedIds(path: string): Promise<readonly string[]> {
  const store = await openStore({ path, key: KEY, mode: "read-only" });
  const { items } = await store.listSessions().finally(() => store.close());
  return items.map(({ id }) => id);
}

describe("the backup of a locked store", () => {
  test("has what was committed before it began, while others write, and is locked with the same key", async () => {
    const { path, id } = await savedStore();
    const [store, other] = [await openedStore({ path, key: KEY }), await openedStore({ path, key: KEY })];
    const session = await other.openSession(id);
    const backup = join(tempFolder(), "backup.db");
    let appended = 0;
    await store.backup(backup, () => {
      appended += 1;
      void session.append(userMessage(`late ${appended}`));
    });
    expect(appended).toBeGreaterThan(0);
    expect(readdirSync(dirname(backup))).toEqual([basename(backup)]);
    await expectRefused(backup, "STORE_LOCKED", {});
    const copy = await openedStore({ path: backup, key: KEY, mode: "read-only" });
    expect(await contextNames(await copy.openSession(id))).toMatch(/^u1 a1 u2 a2/);
    expect(await findingsOf(copy)).toEqual([]);
  });

  test("that is open by a link has what is in its journal only", async () => {
    const { path, id } = await savedStore();
    const link = join(tempFolder(), "link.db");
    symlinkSync(path, link);
    const store = await openedStore({ path: link, key: KEY });
    await (await store.openSession(id)).append(userMessage("late"));
    const backup = join(tempFolder(), "backup.db");
    await store.backup(backup);
    const copy = await openedStore({ path: backup, key: KEY, mode: "read-only" });
    expect(await copy.findSession(id)).toEqual(await store.findSession(id));
  });

  test("is noticed when it is copied over the open store", async () => {
    const { path, id } = await savedStore();
    const store = await openedStore({ path, key: KEY });
    const session = await store.openSession(id);
    const backup = join(tempFolder(), "backup.db");
    await store.backup(backup);
    writeFileSync(path, readFileSync(backup));
    await expect(session.append(entryNamed("u3"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("that is aborted leaves no file", async () => {
    const { path } = await savedStore();
    const store = await openedStore({ path, key: KEY });
    const folder = tempFolder();
    const abort = new AbortController();
    const copying = store.backup(join(folder, "backup.db"), () => abort.abort(new Error("enough")), abort.signal);
    await expect(copying).rejects.toThrow("enough");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is restored with the key, and only with it", async () => {
    const { path, id } = await savedStore();
    const backup = join(tempFolder(), "backup.db");
    const store = await openStore({ path, key: KEY });
    await store.backup(backup);
    await store.deleteSession(id);
    await store.close();
    const before = digestsIn(dirname(path));
    await expect(restoreStore({ backup, path })).rejects.toMatchObject({ code: "STORE_LOCKED" });
    await expect(restoreStore({ backup, path, key: "another" })).rejects.toMatchObject({ code: "WRONG_KEY" });
    expect(digestsIn(dirname(path))).toEqual(before);
    await restoreStore({ backup, path, key: KEY });
    expect(await savedIds(path)).toEqual([id]);
  });
});

describe("a key", () => {
  test.each([
    [{ path: ":memory:", key: KEY }, /only a store in a file can be locked/],
    [{ url: "postgres://user@localhost/none", key: KEY }, /only a store in a file can be locked/],
    [{ path: "store.db", key: "" }, /options\.key must be a text that is not empty/],
  ])("is refused where it has no meaning", async (options, message) => {
    const error = await openStore(options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(message) });
    expect(String(error)).not.toContain(KEY);
  });

  test("that is no text is refused without showing it", async () => {
    const error = await openStore({ path: "store.db", key: 12345 as unknown as string }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(String(error)).not.toContain("12345");
  });

  test("of a store in a folder that is missing creates both", async () => {
    const path = join(tempFolder(), "new", "store.db");
    await (await openStore({ path, key: KEY })).close();
    await expectRefused(path, "STORE_LOCKED", {});
    expect(() => raw(path, (file) => file.pragma("user_version"))).toThrow(/not a database/);
  });
});
