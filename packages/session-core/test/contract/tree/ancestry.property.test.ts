import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { entryNamed, grow } from "../../world/grow.js";
import { findingsOf, openedStore } from "../../world/stores.js";

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
});

test("an omitted compaction gives way to the newest before it on its own path", async () => {
  const { session } = await grow("u1 c1:u1 u2 c2:u2 @u2 u3 c3:u3 u4");
  await session.append({ type: "context_edit", targetId: "c3", replacement: null });
  expect((await session.context()).compaction?.entryId).toBe("c1");
});
