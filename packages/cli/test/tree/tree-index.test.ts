import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { anyOutline, outline } from "../tree/outlines.js";

/** The state of an index. */
function stateOf(index: TreeIndex) {
  return {
    rows: Array.from({ length: index.size }, (_, at) => ({
      row: index.row(at),
      number: index.indexOf(index.row(at).id),
      parent: index.parentOf(at),
      depth: index.depthOf(at),
      isBranchPoint: index.isBranchPoint(at),
    })),
  };
}

describe("an index of a session", () => {
  const rows = outline(["a", null], ["b", "a"], ["c", "b"], ["d", "a"], ["e", null]);

  test("finds each row by its number and by its entry", () => {
    const index = TreeIndex.of(rows);
    expect(index.size).toBe(5);
    expect(index.row(2).id).toBe("c");
    expect([index.indexOf("d"), index.indexOf("none")]).toEqual([3, -1]);
    expect(index.row(index.indexOf("d"))).toBe(rows[3]);
    for (const at of [-1, 5]) expect(() => index.row(at)).toThrow(RangeError);
  });

  test("has the parent and depth of each row, and finds branch points", () => {
    const index = TreeIndex.of(rows);
    expect([0, 1, 2, 3, 4].map((at) => index.parentOf(at))).toEqual([-1, 0, 1, 0, -1]);
    expect([0, 1, 2].map((at) => index.isBranchPoint(at))).toEqual([true, false, false]);
    expect([0, 1, 2, 3, 4].map((at) => index.depthOf(at))).toEqual([0, 1, 2, 1, 0]);
  });

  test("has the parents and branch points of the rows, in any tree", () => {
    fc.assert(
      fc.property(anyOutline, (any) => {
        const index = TreeIndex.of(any);
        for (const [at, row] of any.entries()) {
          const parent = any.findIndex(({ seq }) => seq === row.parentSeq);
          expect(index.parentOf(at)).toBe(parent);
          expect(index.isBranchPoint(at)).toBe(any.filter(({ parentSeq }) => parentSeq === row.seq).length > 1);
          expect(index.depthOf(at)).toBe(parent === -1 ? 0 : index.depthOf(parent) + 1);
        }
      }),
    );
  });

  test("makes a row with an unknown parent a first entry", () => {
    const index = TreeIndex.of(rows.slice(1));
    expect([0, 1, 2, 3].map((at) => index.parentOf(at))).toEqual([-1, 0, -1, -1]);
  });
});

describe("added rows", () => {
  test("yield the same index as if they had been present from the start", () => {
    fc.assert(
      fc.property(anyOutline, fc.array(fc.nat({ max: 60 })), (any, cuts) => {
        const index = TreeIndex.of([]);
        for (const cut of [...cuts].sort((a, b) => a - b)) {
          index.append(any.slice(index.size, Math.max(index.size, cut)));
          expect(stateOf(index)).toEqual(stateOf(TreeIndex.of(any.slice(0, index.size))));
        }
        index.append(any.slice(index.size));
        expect(stateOf(index)).toEqual(stateOf(TreeIndex.of(any)));
      }),
    );
  });

  test("are skipped if they are present already", () => {
    fc.assert(
      fc.property(anyOutline, fc.nat({ max: 60 }), (any, from) => {
        const index = TreeIndex.of(any);
        index.append(any.slice(from));
        expect(stateOf(index)).toEqual(stateOf(TreeIndex.of(any)));
      }),
    );
  });
});
