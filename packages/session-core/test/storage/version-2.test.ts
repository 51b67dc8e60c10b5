import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { StoreDamagedError } from "../../src/errors/store-errors.js";
import { MIGRATIONS, migrate, readVersion } from "../../src/storage/migrate.js";
import { toOpenError } from "../../src/storage/sqlite-errors.js";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const TABLES = [
  "session",
  "entry",
  "leaf",
  "leaf_move",
  "label",
  "value",
  "file_operation",
  "usage_total",
  "token_counter",
  "entry_token_count",
];

/** A file as version 2 left it: a path of 700 entries with a branch of 300 at the hundredth. */
async function savedByVersion2(): Promise<string> {
  const now = storePath();
  const store = await openStore({ path: now, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  const entries = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ kind: "entry", entry: entryNamed(`u${from + at}`) }) as const);
  await session.write(entries(0, 700));
  await session.write([{ kind: "moveLeaf", to: "u99" }, ...entries(700, 300)]);
  await session.tokenCounts.save("c", new Map([["u1", 7]]));
  await store.close();
  const path = storePath();
  raw(path, (file) => {
    migrate(file, path, MIGRATIONS.slice(0, 2));
    file.pragma("journal_mode = WAL");
    file.pragma("foreign_keys = OFF");
    file.prepare("ATTACH ? AS now").run(now);
    for (const table of TABLES) file.exec(`INSERT INTO main.${table} SELECT * FROM now.${table}`);
  });
  return path;
}

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("a store that version 2 saved", () => {
  test("is brought up to date when it is opened, each old entry with its waypoint", async () => {
    const path = await savedByVersion2();
    const store = await openedStore({ path });
    expect(raw(path, readVersion)).toBe(MIGRATIONS.length);
    expect(await findingsOf(store)).toEqual([]);
    const session = await store.openSession("s");
    expect(await session.tree.commonAncestor("u699", "u999")).toBe("u99");
    await session.append({ type: "context_edit", targetId: "u3", replacement: null });
    expect(await session.tokenCounts.get("c", ["u1"])).toEqual(new Map([["u1", 7]]));
    const waypoints = raw(path, (file) => file.prepare("SELECT count(*) FROM entry_waypoint").pluck().get());
    expect(waypoints).toBe(
      raw(path, (file) => file.prepare("SELECT count(*) FROM entry WHERE depth > 0 AND depth % 16 = 0").pluck().get()),
    );
  });

  test("opened to be read stays as it is, byte for byte, and answers", async () => {
    const path = await savedByVersion2();
    const before = digest(path);
    const store = await openStore({ path, mode: "read-only" });
    const session = await store.openSession("s");
    expect(await session.tree.commonAncestor("u699", "u999")).toBe("u99");
    expect((await session.scan({ stopAt: "u997" })).items.map(({ id }) => id)).toEqual(["u999", "u998"]);
    expect((await store.listSessions()).items).toHaveLength(1);
    expect(await findingsOf(store)).toEqual([]);
    await store.close();
    expect([raw(path, readVersion), digest(path)]).toEqual([2, before]);
  });

  test.each(["u15", "u16", "u255", "u256", "u500"])("is brought up to date with a wrong depth at %s, which verify names", async (id) => {
    for (const depth of [48, 4_096]) {
      const path = await savedByVersion2();
      raw(path, (file) => file.prepare("UPDATE entry SET depth = ? WHERE id = ?").run(depth, id));
      const store = await openedStore({ path });
      expect(raw(path, readVersion)).toBe(MIGRATIONS.length);
      expect((await findingsOf(store)).map(({ rule, entryId }) => `${rule} ${entryId}`)).toContain(`wrong-depth ${id}`);
      const session = await store.openSession("s");
      expect((await session.context({ leafId: "u699" })).messages).toHaveLength(700);
      await session.append(entryNamed("u2000"));
    }
  });
});

test("what a migration cannot write because of a constraint is told as damage of the file", async () => {
  const path = await savedByVersion2();
  const repeatsAnId = { name: "0003-repeats-an-id", statements: ["INSERT INTO session SELECT * FROM session"] };
  const failure = raw(path, (file) => {
    try {
      return migrate(file, path, [...MIGRATIONS.slice(0, 2), repeatsAnId]);
    } catch (error) {
      return toOpenError(error, path, 0);
    }
  });
  expect(failure).toBeInstanceOf(StoreDamagedError);
  expect(raw(path, readVersion)).toBe(2);
});
