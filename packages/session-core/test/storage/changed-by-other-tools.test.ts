import { closeSync, copyFileSync, ftruncateSync, openSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { Connection } from "../../src/sqlite/file/connection.js";
import { SUPPORTED_VERSION } from "../../src/sqlite/file/migrate.js";
import { StoreFile } from "../../src/sqlite/file/store-file.js";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed, grow, pathNames } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath, tempFolder } from "../world/stores.js";

async function opened() {
  const path = storePath();
  const store = await openedStore({ path });
  const { session } = await grow("u1 a1", { store });
  return { path, store, session };
}

describe("a store that another tool works on while it is open", () => {
  test.each(["VACUUM", "ANALYZE", "CREATE INDEX by_depth ON entry (depth)", "PRAGMA optimize = 0x10002"])(
    "goes on after %s",
    async (statement) => {
      const { path, store, session } = await opened();
      const before = raw(path, (file) => file.pragma("schema_version", { simple: true }));
      raw(path, (file) => {
        file.exec(statement);
        file.pragma("wal_checkpoint(TRUNCATE)");
      });
      await session.append(entryNamed("u2"));
      expect(raw(path, (file) => file.pragma("schema_version", { simple: true }))).not.toBe(before);
      raw(path, (file) => {
        file.exec("VACUUM");
        file.pragma("wal_checkpoint(TRUNCATE)");
      });
      await session.append(entryNamed("a2"));
      expect(await pathNames(session)).toBe("u1 a1 u2 a2");
      expect(await findingsOf(store)).toEqual([]);
    },
  );

  test("acknowledges nothing after another store with as many changes was copied over it", async () => {
    const { path, session } = await opened();
    const other = storePath();
    const second = await openStore({ path: other });
    await grow("u1 a1 u2 a2 u3 a3", { store: second });
    await second.close();
    raw(other, (file) => file.exec("VACUUM"));
    copyFileSync(other, path);
    await expect(session.append(userMessage("lost"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("writes nothing more once a newer program has changed its format, and still closes", async () => {
    const { path, session } = await opened();
    raw(path, (file) => file.pragma(`user_version = ${SUPPORTED_VERSION + 1}`));
    await expect(session.append(entryNamed("u2"))).rejects.toMatchObject({ code: "NEWER_STORE" });
    expect(raw(path, (file) => file.prepare("SELECT count(*) FROM entry").pluck().get())).toBe(2);
  });
});

describe("a store whose folder cannot be looked into for a while", () => {
  async function hidden() {
    const it = await opened();
    const folder = dirname(it.path);
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder);
    onTestFinished(() => rmSync(`${folder}.away`, { recursive: true, force: true }));
    const show = () => {
      rmSync(folder);
      renameSync(`${folder}.away`, folder);
    };
    return { ...it, show };
  }

  test("fails typed and goes on once the folder is back", async () => {
    const { session, show, path } = await hidden();
    await expect(session.append(entryNamed("u2"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      path,
      message: expect.stringContaining("ELOOP"),
    });
    show();
    // Whether it had been written is not known, so it is repeated under its id.
    await session.append(entryNamed("u2"));
    await session.append(entryNamed("a2"));
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
  });

  test("is closed all the same", async () => {
    const { store, session, show, path } = await hidden();
    await store.close();
    show();
    await expect(session.refresh()).rejects.toMatchObject({ code: "STORE_CLOSED" });
    expect(await pathNames(await (await openedStore({ path })).openSession(session.id))).toBe("u1 a1");
  });
});

test("a file of more than 2 GiB is not read whole", () => {
  const path = join(tempFolder(), "large.db");
  const fd = openSync(path, "w");
  ftruncateSync(fd, 2 ** 31);
  closeSync(fd);
  const file = StoreFile.find(path);
  onTestFinished(() => file?.release());
  expect(() => file?.readAll()).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
});

test("a statement that meets a lock stops the thread for a tenth of a second at most, whatever the busy timeout", async () => {
  const { path } = await opened();
  const connection = Connection.open({ path, mode: "create", durability: "normal", busyTimeoutMs: 600_000 });
  onTestFinished(() => connection.close());
  const other = new Database(path);
  onTestFinished(() => void other.close());
  other.pragma("user_version");
  expect(() => connection.pragma("journal_mode = DELETE")).toThrow(expect.objectContaining({ code: "STORE_BUSY", waitedMs: 100 }));
});
