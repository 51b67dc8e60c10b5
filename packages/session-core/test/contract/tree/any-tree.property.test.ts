import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import type { Entry } from "../../../src/entry/entry.js";
import { follow, grow, names, pathNames, treeNames } from "../../world/grow.js";
import { collected, findingsOf, openedStore } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

const kindOf = (entry: Entry) => ("customType" in entry ? entry.customType : null);

describe("any tree, however it was grown", () => {
  test("is the one that a model in memory has: parents, path, children, tips, branch points, ancestors", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(60), fc.nat(60), async (taken, one, other) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) await follow(session, model, step);
        const ids = [...model.parents.keys()];
        const childrenOf = (parent: string | null) => ids.filter((id) => model.parents.get(id) === parent);

        expect(await treeNames(session)).toBe(ids.map((id) => `${model.parents.get(id) ?? ""}>${id}`).join(" "));
        expect(session.leafId).toBe(model.leaf);
        expect(await session.refresh()).toBe(model.leaf);
        expect(await pathNames(session)).toBe(model.path().join(" "));
        expect(names((await session.scan()).items)).toBe(model.path().toReversed().join(" "));
        expect(names(await session.tree.children(null))).toBe(childrenOf(null).join(" "));
        expect(names(await session.tree.tips())).toBe(ids.filter((id) => childrenOf(id).length === 0).join(" "));
        expect(names(await session.tree.branchPoints())).toBe(ids.filter((id) => childrenOf(id).length > 1).join(" "));
        for (const id of ids) {
          const below = ids.filter((other) => model.path(other).includes(id));
          expect(await session.tree.tipBelow(id)).toBe(below.filter((one) => childrenOf(one).length === 0).at(-1));
          expect(names(await session.tree.siblings(id))).toBe(
            childrenOf(model.parents.get(id) ?? null)
              .filter((one) => one !== id)
              .join(" "),
          );
        }
        const rows = await session.tree.outline();
        expect(rows.map(({ depth }) => depth)).toEqual(ids.map((id) => model.path(id).length - 1));
        expect(await session.tree.rowsAt(rows.map(({ seq }) => seq))).toEqual(rows);
        for (const id of ids) expect(names(await session.tree.path(id))).toBe(model.path(id).toReversed().join(" "));

        const [a, b] = [ids[one % ids.length], ids[other % ids.length]];
        if (a === undefined || b === undefined) return;
        const shared = model.path(a).filter((id) => model.path(b).includes(id));
        expect(await session.tree.commonAncestor(a, b)).toBe(shared.at(-1) ?? null);
      }),
      { numRuns: runs(60) },
    );
    expect(await findingsOf(store)).toEqual([]);
  });

  test("gives each entry once to whoever asks for everything since, wherever it begins", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(40), async (taken, from) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) await follow(session, model, step);
        const all = await collected(session.entries());
        const seen = all[from % Math.max(1, all.length)]?.seq ?? 0;
        expect(await session.entriesSince(seen)).toEqual(all.filter(({ seq }) => seq > seen));
        for (const entry of all) {
          const parent = all.find(({ id }) => id === entry.parentId);
          expect(parent === undefined || parent.seq < entry.seq).toBe(true);
        }
      }),
      { numRuns: runs(30) },
    );
  });

  test("is listed by range, order, types and custom type as a filter of all its entries gives it, as entries and as rows", async () => {
    const store = await openedStore();
    const listings = fc.record(
      {
        order: fc.constantFrom("oldest" as const, "newest" as const),
        afterSeq: fc.nat(60),
        beforeSeq: fc.nat(60),
        types: fc.subarray(["message", "custom", "custom_message", "compaction"] as const),
        customType: fc.constantFrom("note", "data", "none"),
        limit: fc.nat(30),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(steps, listings, async (taken, { types, ...listing }) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const step of taken) await follow(session, model, step);
        const all = await collected(session.entries());
        const start = (all[0]?.seq ?? 1) - 1;
        const { afterSeq = 0, beforeSeq = 1_000, customType, limit = 1_000 } = listing;
        const wanted = all
          .filter(({ seq }) => seq > start + afterSeq && seq < start + beforeSeq)
          .filter((entry) => types === undefined || types.some((type) => type === entry.type))
          .filter((entry) => customType === undefined || kindOf(entry) === customType);
        const ordered = (listing.order === "newest" ? wanted.toReversed() : wanted).slice(0, limit);
        const asked = { ...listing, types, afterSeq: start + afterSeq, beforeSeq: start + beforeSeq };
        expect(await session.list(asked)).toEqual(ordered);
        const rows = await session.tree.outline(asked);
        expect(rows.map(({ id, customType: shown }) => [id, shown])).toEqual(ordered.map((entry) => [entry.id, kindOf(entry)]));
        const onPath = (await session.path()).filter((entry) => customType === undefined || kindOf(entry) === customType);
        expect((await session.scan({ order: "down", customType })).items).toEqual(onPath);
        expect((await session.scan({ customType })).items).toEqual(onPath.toReversed());
      }),
      { numRuns: runs(60) },
    );
  });
});
