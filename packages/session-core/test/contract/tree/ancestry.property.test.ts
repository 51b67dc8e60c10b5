import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { openStore } from "../../../src/store/open-store.js";
import { entryNamed, grow } from "../../world/grow.js";
import { findingsOf, openedStore, raw, storePath } from "../../world/stores.js";

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

/** A tree in memory: each number chooses where a branch starts, and how long it is. */
async function grownBy(forks: readonly number[]) {
  const store = await openedStore();
  const session = await store.createSession({});
  const parents = new Map<string, string | null>();
  for (const fork of forks) {
    const ids = [...parents.keys()];
    let leaf = ids.length > 0 ? (ids[fork % ids.length] ?? null) : null;
    await session.moveLeaf(leaf);
    const added = Array.from({ length: 1 + (fork % 40) }, (_, at) => `u${ids.length + at}`);
    for (const id of added) {
      parents.set(id, leaf);
      leaf = id;
    }
    await session.write(added.map((id) => ({ kind: "entry", entry: entryNamed(id) })));
  }
  return { store, session, parents };
}

describe("whether an entry is above another", () => {
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

  const trees = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 60 });

  test("common ancestors and references are those of a walk, in any tree with long paths", async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.nat(), fc.nat(), async (forks, one, other) => {
        const { store, session, parents } = await grownBy(forks);
        const pathOf = (id: string | null): string[] => (id === null ? [] : [...pathOf(parents.get(id) ?? null), id]);
        const ids = [...parents.keys()];
        const [a, b] = [ids[one % ids.length] ?? "", ids[other % ids.length] ?? ""];
        const above = new Set(pathOf(a));
        expect(await session.tree.commonAncestor(a, b)).toBe(pathOf(b).findLast((id) => above.has(id)) ?? null);
        await session.moveLeaf(b);
        const edit = session.append({ type: "context_edit", targetId: a, replacement: null });
        if (pathOf(b).includes(a)) await edit;
        else await expect(edit).rejects.toMatchObject({ code: "INVALID_REFERENCE" });
        expect(await findingsOf(store)).toEqual([]);
        await store.close();
      }),
      { numRuns: runs(60) },
    );
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

test("an omitted compaction gives way to the newest before it on its own path", async () => {
  const { session } = await grow("u1 c1:u1 u2 c2:u2 @u2 u3 c3:u3 u4");
  await session.append({ type: "context_edit", targetId: "c3", replacement: null });
  expect((await session.context()).compaction?.entryId).toBe("c1");
});
