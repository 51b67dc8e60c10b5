import Database from "better-sqlite3";
import { describe, expect, test, vi } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

// Waypoints lead up long paths in a file, a few dozen rows for any length.

/** A session of one long path, u0 to u(length - 1). */
async function longPath(length: number, path = storePath()) {
  const store = await openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "long" });
  await session.write(Array.from({ length }, (_, at) => ({ kind: "entry", entry: entryNamed(`u${at}`) }) as const));
  return { path, store, session };
}

/** How many rows each statement that looks for an ancestor visits, with the last parameters that `act` gives it. */
async function stepsOf(path: string, act: () => Promise<unknown>): Promise<readonly number[]> {
  const calls: { readonly sql: string; readonly values: readonly unknown[] }[] = [];
  const prepare = Database.prototype.prepare;
  const prepared = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const { get } = statement;
    if (sql.includes("entry_waypoint AS waypoint")) {
      statement.get = function (this: Database.Statement, ...values: unknown[]) {
        calls.push({ sql, values });
        return get.apply(this, values as never);
      } as never;
    }
    return statement;
  } as never);
  try {
    await act();
  } finally {
    prepared.mockRestore();
  }
  return raw(path, (file) =>
    calls.map(({ sql, values }) => {
      const counted = file.prepare(sql.replace("SELECT min(seq) AS seq FROM up", "SELECT count(*) FROM up"));
      return Number(counted.pluck().get(...(values as never[])));
    }),
  );
}

describe("the waypoints of a file", () => {
  test.each([
    ["a context edit", { type: "context_edit", targetId: "u5", replacement: null }],
    ["a compaction", { type: "compaction", summary: "all", firstKeptEntryId: "u5" }],
  ] as const)("%s that points 20,000 entries up visits a few dozen rows, not the path", async (_what, entry) => {
    const { path, store } = await longPath(20_000);
    await store.close();
    const again = await openedStore({ path });
    const session = await again.openSession("long");
    const steps = await stepsOf(path, () => session.append(entry));
    expect(steps.length).toBeGreaterThan(0);
    for (const count of steps) expect(count).toBeLessThan(150);
  });

  test("a wrong waypoint is found by verify", async () => {
    const { path, store } = await longPath(600);
    await store.close();
    raw(path, (file) =>
      file.exec("UPDATE entry_waypoint SET above_seq = above_seq + 1 WHERE entry_seq = (SELECT seq FROM entry WHERE depth = 512)"),
    );
    expect(await findingsOf(await openedStore({ path }))).toMatchObject([{ rule: "wrong-waypoint", entryId: "u512" }]);
  });

  test("a missing waypoint is found by verify, and costs only time", async () => {
    const { path, store } = await longPath(600);
    await store.close();
    raw(path, (file) => file.exec("DELETE FROM entry_waypoint WHERE entry_seq IN (SELECT seq FROM entry WHERE depth IN (256, 512))"));
    const damaged = await openedStore({ path });
    const session = await damaged.openSession("long");
    expect(await session.tree.commonAncestor("u5", "u599")).toBe("u5");
    await session.append({ type: "context_edit", targetId: "u5", replacement: null });
    expect((await findingsOf(damaged)).map(({ rule, entryId }) => [rule, entryId])).toEqual([
      ["wrong-waypoint", "u256"],
      ["wrong-waypoint", "u512"],
    ]);
  });

  test("a fork's copies have waypoints of their own", async () => {
    const { store } = await longPath(300);
    const fork = await store.forkSession("long");
    expect(await findingsOf(store)).toEqual([]);
    await store.deleteSession("long");
    await fork.append({ type: "context_edit", targetId: "u1", replacement: null });
    expect(await findingsOf(store)).toEqual([]);
    await store.close();
  });
});
