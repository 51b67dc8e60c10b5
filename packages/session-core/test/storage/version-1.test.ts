import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MIGRATIONS, migrate, readVersion } from "../../src/storage/migrate.js";
import { openStore } from "../../src/store/open-store.js";
import { grow, treeNames } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const VERSION_1 = MIGRATIONS.slice(0, 1);
const TABLES = ["session", "entry", "leaf", "leaf_move", "label", "value", "file_operation", "usage_total"];

/** A file as version 1 left it: the tables of its one migration, and in them the rows of a real session. */
async function savedByVersion1() {
  const now = storePath();
  const store = await openStore({ path: now });
  const { session } = await grow("s1 u1 a1 k1 r1:k1 @a1 u2 c1:u2 u3 x1:u2", { store, session: { title: "Parser" } });
  await session.labels.set("a1", "start");
  await session.values.set("k", { on: true });
  await session.undoMove();
  const told = await whatItSays(session);
  await store.close();
  const path = storePath();
  raw(path, (file) => {
    migrate(file, path, VERSION_1);
    file.pragma("journal_mode = WAL");
    file.pragma("foreign_keys = OFF");
    file.prepare("ATTACH ? AS now").run(now);
    for (const table of TABLES) file.exec(`INSERT INTO main.${table} SELECT * FROM now.${table}`);
  });
  return { path, id: session.id, told };
}

async function whatItSays(session: Awaited<ReturnType<typeof grow>>["session"]) {
  const { title, entryCount, activeAtMs, payloadBytes } = await session.record();
  return {
    record: { title, entryCount, activeAtMs, payloadBytes },
    tree: await treeNames(session),
    context: await session.context(),
    labels: await session.labels.list(),
    values: await session.values.list(),
    moves: await session.leafMoves(),
  };
}

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("a store that version 1 saved", () => {
  test("is brought up to date when it is opened, and has everything it had", async () => {
    const { path, id, told } = await savedByVersion1();
    const store = await openedStore({ path });
    const session = await store.openSession(id);
    expect(await whatItSays(session)).toEqual(told);
    expect(await findingsOf(store)).toEqual([]);
    expect((await store.search({ query: "u3" })).hits).toMatchObject([{ entryId: "u3" }]);
    expect(raw(path, readVersion)).toBe(MIGRATIONS.length);
  });

  test("keeps token counts from then on", async () => {
    const { path, id } = await savedByVersion1();
    const session = await (await openedStore({ path })).openSession(id);
    expect(await session.tokenCounts.get("c", ["u1"])).toEqual(new Map());
    await session.tokenCounts.save("c", new Map([["u1", 5]]));
    expect(await session.tokenCounts.get("c", ["u1", "a1"])).toEqual(new Map([["u1", 5]]));
  });

  test("opened to be read stays as it is, byte for byte, and has no counts", async () => {
    const { path, id, told } = await savedByVersion1();
    const before = digest(path);
    const store = await openStore({ path, mode: "read-only" });
    const session = await store.openSession(id);
    expect(await whatItSays(session)).toEqual(told);
    expect(await session.tokenCounts.get("c", ["u1"])).toEqual(new Map());
    await store.close();
    expect([raw(path, readVersion), digest(path)]).toEqual([1, before]);
  });

  test("opened to be read has counts once another process brought it up to date", async () => {
    const { path, id } = await savedByVersion1();
    const reader = await (await openedStore({ path, mode: "read-only" })).openSession(id);
    expect(await reader.tokenCounts.get("c", ["u1"])).toEqual(new Map());
    const writer = await (await openedStore({ path })).openSession(id);
    await writer.tokenCounts.save("c", new Map([["u1", 5]]));
    expect(await reader.tokenCounts.get("c", ["u1"])).toEqual(new Map([["u1", 5]]));
  });

  test("stays at version 1 whole where the step to version 2 fails half-way", async () => {
    const { path, id, told } = await savedByVersion1();
    const [, second] = MIGRATIONS;
    const broken = { name: "broken", statements: [...(second?.statements ?? []), "ALTER TABLE nowhere ADD COLUMN y"] };
    raw(path, (file) => {
      expect(() => migrate(file, path, [...VERSION_1, broken])).toThrow(/nowhere/);
      expect(readVersion(file)).toBe(1);
      expect(file.prepare("SELECT name FROM sqlite_master WHERE name GLOB '*token*'").all()).toEqual([]);
    });
    expect(await whatItSays(await (await openedStore({ path })).openSession(id))).toEqual(told);
  });

  test("is what version 1 makes of a new file: its own step has not changed", () => {
    raw(storePath(), (file) => {
      migrate(file, "x", VERSION_1);
      const tables = file.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*_text*' AND name NOT GLOB 'sqlite_*' ORDER BY name",
      );
      expect(tables.pluck().all()).toEqual([...TABLES, "store_state"].toSorted());
    });
  });
});
