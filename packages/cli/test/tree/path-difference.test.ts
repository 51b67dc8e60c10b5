import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pathDifference, TreeIndex } from "../../src/tree/tree-index.js";
import { anyOutline, outline } from "../tree/outlines.js";

const index = TreeIndex.of(outline(["a", null], ["b", "a"], ["c", "b"], ["d", "b"], ["e", "d"], ["f", null]));

describe("the difference of two paths", () => {
  test("is the rows of each below their last common row, from the top", () => {
    expect(pathDifference(index, 2, 4)).toEqual({ ancestor: 1, onlyA: [2], onlyB: [3, 4] });
  });

  test("is on one side only if one row is above the other", () => {
    expect(pathDifference(index, 0, 4)).toEqual({ ancestor: 0, onlyA: [], onlyB: [1, 3, 4] });
    expect(pathDifference(index, 3, 3)).toEqual({ ancestor: 3, onlyA: [], onlyB: [] });
  });

  test("is all rows if they have no row in common", () => {
    expect(pathDifference(index, 5, 2)).toEqual({ ancestor: -1, onlyA: [5], onlyB: [0, 1, 2] });
    expect(pathDifference(index, -1, 1)).toEqual({ ancestor: -1, onlyA: [], onlyB: [0, 1] });
  });

  test("is the difference of the two sets of rows, in any tree", () => {
    fc.assert(
      fc.property(anyOutline, fc.integer({ min: -1, max: 59 }), fc.integer({ min: -1, max: 59 }), (rows, first, second) => {
        const any = TreeIndex.of(rows);
        const [a, b] = [Math.min(first, rows.length - 1), Math.min(second, rows.length - 1)];
        const path = (at: number): number[] => (at === -1 ? [] : [...path(any.parentOf(at)), at]);
        const common = path(a).filter((at) => path(b).includes(at));
        expect(pathDifference(any, a, b)).toEqual({
          ancestor: common.at(-1) ?? -1,
          onlyA: path(a).filter((at) => !common.includes(at)),
          onlyB: path(b).filter((at) => !common.includes(at)),
        });
      }),
    );
  });
});
