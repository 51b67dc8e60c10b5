import type { OutlineRow } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Folds } from "../../src/tree/folds.js";
import { Layout } from "../../src/tree/layout.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { anyOutline, outline } from "../tree/outlines.js";

/** All that an index says. */
function said(index: TreeIndex) {
  return {
    above: index.childrenOf(-1),
    branches: index.isBranchPoint(-1),
    lastSeq: index.lastSeq,
    rows: Array.from({ length: index.size }, (_, at) => ({
      row: index.row(at),
      place: index.placeOf(index.row(at).id),
      parent: index.parentOf(at),
      depth: index.depthOf(at),
      children: index.childrenOf(at),
      isBranchPoint: index.isBranchPoint(at),
      branchDepth: index.branchDepth(at),
    })),
  };
}

describe("an index of a session", () => {
  const rows = outline(["a", null], ["b", "a"], ["c", "b"], ["d", "a"], ["e", null]);

  test("knows each row by its place and by its entry", () => {
    const index = TreeIndex.of(rows);
    expect(index.size).toBe(5);
    expect(index.row(2).id).toBe("c");
    expect([index.placeOf("d"), index.placeOf("none")]).toEqual([3, -1]);
    expect([index.rowOfEntry("d"), index.rowOfEntry("none")]).toEqual([rows[3], undefined]);
    for (const at of [-1, 5]) expect(() => index.row(at)).toThrow(RangeError);
  });

  test("knows parents, children in order of arrival, and where it branches", () => {
    const index = TreeIndex.of(rows);
    expect([0, 1, 2, 3, 4].map((at) => index.parentOf(at))).toEqual([-1, 0, 1, 0, -1]);
    expect([-1, 0, 1, 2].map((at) => index.childrenOf(at))).toEqual([[0, 4], [1, 3], [2], []]);
    expect([-1, 0, 1, 2].map((at) => index.isBranchPoint(at))).toEqual([true, true, false, false]);
    expect([0, 1, 2, 3, 4].map((at) => index.depthOf(at))).toEqual([0, 1, 2, 1, 0]);
  });

  test("has parents and children as the rows say, whatever the tree", () => {
    fc.assert(
      fc.property(anyOutline, (any) => {
        const index = TreeIndex.of(any);
        for (const [at, row] of any.entries()) {
          const parent = any.findIndex(({ seq }) => seq === row.parentSeq);
          expect(index.parentOf(at)).toBe(parent);
          expect(index.childrenOf(parent)).toContain(at);
          expect(index.depthOf(at)).toBe(parent === -1 ? 0 : index.depthOf(parent) + 1);
        }
      }),
    );
  });

  test("takes a row whose parent is not known as a first entry", () => {
    expect(TreeIndex.of(rows.slice(1)).childrenOf(-1)).toEqual([0, 2, 3]);
  });

  test("counts as many branch points above a row as there are levels where everything is shown", () => {
    fc.assert(
      fc.property(anyOutline, (any) => {
        const index = TreeIndex.of(any);
        const layout = new Layout(index, { filter: "all", leafId: null, leaves: [], labelled: new Set() });
        for (const { at, gutter } of layout.window(0, any.length, Folds.none)) expect(index.branchDepth(at)).toBe(gutter?.depth ?? 0);
      }),
    );
  });
});

describe("rows that are added", () => {
  test("make the same index as if they had been there from the start, whatever was asked before", () => {
    fc.assert(
      fc.property(anyOutline, fc.array(fc.nat({ max: 60 })), (any, cuts) => {
        const index = TreeIndex.of([]);
        for (const cut of [...cuts].sort((a, b) => a - b)) {
          index.append(any.slice(index.size, Math.max(index.size, cut)));
          expect(said(index)).toEqual(said(TreeIndex.of(any.slice(0, index.size))));
        }
        index.append(any.slice(index.size));
        expect(said(index)).toEqual(said(TreeIndex.of(any)));
      }),
    );
  });

  test("are left out if they are known", () => {
    fc.assert(
      fc.property(anyOutline, fc.nat({ max: 60 }), (any, from) => {
        const index = TreeIndex.of(any);
        index.append(any.slice(from));
        expect(said(index)).toEqual(said(TreeIndex.of(any)));
      }),
    );
  });

  test("may come after rows that another writer stored later", () => {
    const [a, b, c, d] = outline(["a", null], ["b", "a"], ["c", "a"], ["d", "b"]) as [OutlineRow, OutlineRow, OutlineRow, OutlineRow];
    const index = TreeIndex.of([a, c]);
    index.append([b, d, c, b]);
    expect([0, 1, 2, 3].map((at) => index.row(at).id)).toEqual(["a", "c", "b", "d"]);
    expect([0, 1, 2, 3].map((at) => index.parentOf(at))).toEqual([-1, 0, 0, 2]);
    expect(index.lastSeq).toBe(4);
  });
});
