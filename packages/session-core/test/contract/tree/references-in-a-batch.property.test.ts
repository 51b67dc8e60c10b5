import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import type { Write } from "../../../src/port/writes.js";
import { contextNames, entryNamed, grow, plant, treeNames } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

type Move = { readonly do: "append" | "move" | "edit"; readonly of: number };

const moves = fc.array(fc.record({ do: fc.constantFrom("append", "append", "append", "move", "edit", "edit" as const), of: fc.nat(60) }), {
  minLength: 1,
  maxLength: 40,
  size: "max",
}) as fc.Arbitrary<readonly Move[]>;

/** The writes of some moves, and the words of the first edit, if any, of an entry that is not on its path. */
function told(given: readonly Move[], grown: readonly string[]) {
  const paths = new Map<string, readonly string[]>();
  for (const [at, id] of grown.entries()) paths.set(id, grown.slice(0, at + 1));
  let leaf = grown.at(-1) ?? "";
  const writes: Write[] = [];
  for (const { do: what, of } of given) {
    const chosen = [...paths.keys()][of % paths.size] ?? "";
    if (what === "move") {
      writes.push({ kind: "moveLeaf", to: chosen });
      leaf = chosen;
      continue;
    }
    const id = `${what === "edit" ? "x" : "u"}${paths.size + 1}`;
    writes.push({ kind: "entry", entry: entryNamed(what === "edit" ? `${id}:${chosen}` : id) });
    const above = paths.get(leaf) ?? [];
    if (what === "edit" && !above.includes(chosen)) return { writes, refused: chosen };
    paths.set(id, [...above, id]);
    leaf = id;
  }
  return { writes, refused: undefined };
}

describe("references in one batch", () => {
  test("are accepted to entries on the path, written before or in the batch itself, and to no other", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(moves, async (given) => {
        const { session } = await grow("u1 u2 u3", { store });
        const before = await treeNames(session);
        const { writes, refused } = told(given, ["u1", "u2", "u3"]);
        if (refused === undefined) {
          expect(await session.write(writes)).toHaveLength(writes.filter(({ kind }) => kind === "entry").length);
          return;
        }
        await expect(session.write(writes)).rejects.toMatchObject({ code: "INVALID_REFERENCE" });
        expect(await treeNames(session)).toBe(before);
      }),
      { numRuns: runs(200) },
    );
  });

  test("of thousands of edits far up a long path take no longer than the path and the edits", async () => {
    const { session } = await grow("s1");
    const ids = Array.from({ length: 20_000 }, (_, at) => `u${at}`);
    await session.write(ids.map((id) => ({ kind: "entry", entry: entryNamed(id) })));
    // Each of them climbing by itself takes a minute; the limit of this test is five seconds.
    await session.write(ids.slice(0, 4_000).map((id, at) => ({ kind: "entry", entry: entryNamed(`x${at}:${id}`) })));
    expect((await session.context()).entries).toEqual(ids.slice(4_000));
  });
});

describe("the system message", () => {
  test("that was omitted comes back when an edit replaces it", async () => {
    const { session } = await grow("s1 u1 x1:s1");
    expect((await session.context()).system).toBe(null);
    await plant(session, "y1:s1 u2");
    expect((await session.context()).system).toBe("y1");
    expect(await contextNames(session)).toBe("u1 u2");
  });
});
