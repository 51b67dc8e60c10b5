import { createHash } from "node:crypto";
import { chmodSync, linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { changeStoreKey, type KeyChangeOptions } from "../../src/store/change-store-key.js";
import { openStore } from "../../src/store/open-store.js";
import { contextNames, entryNamed, grow } from "../world/grow.js";
import { oldStore, READ_BY_OLD_RELEASE, readAll } from "../world/old-stores.js";
import { findingsOf, openedStore, raw, storePath, tempFolder } from "../world/stores.js";

type Keys = Pick<KeyChangeOptions, "key" | "newKey">;

const CHANGES: readonly (readonly [string, Keys])[] = [
  ["locked", { newKey: "first" }],
  ["unlocked", { key: "first" }],
  ["locked with another key", { key: "first", newKey: "second" }],
];

async function savedStore(key: string | undefined, path = storePath()): Promise<{ path: string; id: string }> {
  const store = await openStore({ path, key, durability: "normal" });
  const { session } = await grow("u1 a1 @u1 a2 c1", { store });
  await session.labels.set("a1", "left");
  await store.catchUpSearch();
  await store.close();
  return { path, id: session.id };
}

/** Every row of every table, with the words of the search index. */
async function contentOf(path: string, key: string | undefined): Promise<string> {
  const store = await openStore({ path, key, mode: "read-only" });
  try {
    const { items } = await store.listSessions();
    const read = await Promise.all(items.map(async ({ id }) => readAll(store, await store.openSession(id))));
    return JSON.stringify([read, await store.search({ query: "u1" }), await store.statistics()]);
  } finally {
    await store.close();
  }
}

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("a store that is", () => {
  test.each(CHANGES)("%s has the same content, opens with the new key only, and leaves no other file", async (_name, { key, newKey }) => {
    const { path } = await savedStore(key);
    const before = await contentOf(path, key);
    expect(await changeStoreKey({ path, key, newKey })).toEqual({ otherNames: 0 });
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    expect(await contentOf(path, newKey)).toBe(before);
    await expect(openStore({ path, key })).rejects.toMatchObject({
      code: expect.stringMatching(/^(STORE_LOCKED|STORE_NOT_LOCKED|WRONG_KEY)$/),
    });
    const store = await openedStore({ path, key: newKey });
    expect(await findingsOf(store)).toEqual([]);
    await (await store.createSession({ id: "later" })).append(entryNamed("u1"));
    expect((await store.search({ query: "u1" })).hits).toHaveLength(2);
  });

  test.each(CHANGES)(
    "%s keeps what another tool has made: a table, an index, a trigger, a view, statistics",
    async (_name, { key, newKey }) => {
      const { path } = await savedStore(undefined);
      raw(path, (file) =>
        file.exec(`CREATE TABLE "it's [mine]" (a TEXT, b INT AS (length(a)) STORED); INSERT INTO "it's [mine]" VALUES ('x'), ('yy');
        CREATE UNIQUE INDEX "my index" ON "it's [mine]" (a); CREATE VIEW mine AS SELECT count(*) AS n FROM "it's [mine]";
        CREATE TRIGGER "my trigger" AFTER INSERT ON "it's [mine]" BEGIN DELETE FROM "it's [mine]" WHERE a = 'x'; END; ANALYZE`),
      );
      const schemaOf = () =>
        raw(path, (file) => file.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all());
      const before = schemaOf();
      if (key !== undefined) await changeStoreKey({ path, newKey: key });
      await changeStoreKey({ path, key, newKey });
      if (newKey !== undefined) await changeStoreKey({ path, key: newKey });
      expect(schemaOf()).toEqual(before);
      expect(
        raw(path, (file) => [file.prepare("SELECT n FROM mine").get(), file.prepare("SELECT count(*) > 0 AS any FROM sqlite_stat1").get()]),
      ).toEqual([{ n: 2 }, { any: 1 }]);
    },
  );

  test("of an older version is locked as it is, and upgraded with its key", async () => {
    const path = oldStore(3);
    await changeStoreKey({ path, newKey: "key" });
    const old = await openStore({ path, key: "key", mode: "read-only" });
    expect(JSON.parse(JSON.stringify(await readAll(old, await old.openSession("tree"))))).toEqual(READ_BY_OLD_RELEASE.tree);
    await old.close();
    const store = await openedStore({ path, key: "key" });
    expect(JSON.parse(JSON.stringify(await readAll(store, await store.openSession("tree"))))).toEqual(READ_BY_OLD_RELEASE.tree);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("read through a symbolic link is replaced where it is, with its mode", async () => {
    const { path } = await savedStore(undefined);
    chmodSync(path, 0o640);
    const link = join(tempFolder(), "link.db");
    symlinkSync(path, link);
    await changeStoreKey({ path: link, newKey: "key" });
    await expect(openStore({ path })).rejects.toMatchObject({ code: "STORE_LOCKED" });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test("locked under one of two names tells that the other one keeps the old file, whole", async () => {
    const { path, id } = await savedStore(undefined);
    const other = join(dirname(path), "other.db");
    linkSync(path, other);
    expect(await changeStoreKey({ path, newKey: "key" })).toEqual({ otherNames: 1 });
    const store = await openedStore({ path: other });
    expect(await contextNames(await store.openSession(id))).toBe("c1");
  });
});

describe("a change of the key is refused, and no byte changes,", () => {
  test.each([
    ["with a wrong key", "first", { key: "wrong", newKey: "second" }, "WRONG_KEY"],
    ["without a key for a locked store", "first", { newKey: "second" }, "STORE_LOCKED"],
    ["with a key for a store without a lock", undefined, { key: "first", newKey: "second" }, "STORE_NOT_LOCKED"],
    ["without both keys", "first", {}, "INVALID_ARGUMENT"],
  ] as const)("%s", async (_name, key, change, code) => {
    const { path } = await savedStore(key);
    const before = digest(path);
    await expect(changeStoreKey({ path, ...change })).rejects.toMatchObject({ code });
    expect([digest(path), readdirSync(dirname(path))]).toEqual([before, [basename(path)]]);
  });

  test.each([undefined, "first"])("while this process has the store open (key %s)", async (key) => {
    const { path, id } = await savedStore(key);
    const store = await openedStore({ path, key });
    await expect(changeStoreKey({ path, key, newKey: "second" })).rejects.toMatchObject({ code: "STORE_IN_USE" });
    const session = await store.openSession(id);
    await session.append(entryNamed("u2"));
    expect(await contextNames(session)).toBe("c1 u2");
  });

  test("where there is no store, or one of another program", async () => {
    await expect(changeStoreKey({ path: storePath(), newKey: "key" })).rejects.toMatchObject({ code: "STORE_NOT_FOUND" });
    const foreign = storePath();
    writeFileSync(foreign, "some text of somebody");
    await expect(changeStoreKey({ path: foreign, newKey: "key" })).rejects.toMatchObject({ code: "FOREIGN_FILE" });
  });
});

test("what an interrupted change has left is removed when the store is opened for writing", async () => {
  const { path } = await savedStore("first");
  writeFileSync(`${path}.changing-key`, "readable");
  await (await openStore({ path, key: "first", mode: "read-only" })).close();
  expect(readdirSync(dirname(path))).toContain(`${basename(path)}.changing-key`);
  await (await openStore({ path, key: "first" })).close();
  expect(readdirSync(dirname(path))).toEqual([basename(path)]);
});
