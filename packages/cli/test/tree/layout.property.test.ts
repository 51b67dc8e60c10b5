import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { Folds } from "../../src/tree/folds.js";
import { Layout } from "../../src/tree/layout.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { outline } from "../tree/outlines.js";
import { anyCase, type Case, NaiveTree, seen } from "./naive.js";

const question = { filter: "all", leafId: null, leaves: [], labeled: new Set<string>() } as const;

/** The row itself or its nearest shown ancestor; the first row of the layout if there is none. */
const nearestShown = (layout: Layout, at: number) => layout.atPosition(layout.positionOf(at, Folds.none), Folds.none);

/** Holds for any tree, filter, search and folds; on failure the seed is printed. */
function always(holds: (layout: Layout, naive: NaiveTree, one: Case) => void): void {
  fc.assert(
    fc.property(anyCase, (one) => holds(new Layout(TreeIndex.of(one.rows), one.question), new NaiveTree(one.rows, one.question), one)),
    { numRuns: runs(300) },
  );
}

const setOf = ({ folded }: Folds) => folded;

describe("the visible rows of any tree", () => {
  test("are those that a recursive printer prints", () => {
    always((layout, naive, { rows, folds }) => {
      const printed = naive.print(setOf(folds));
      expect(layout.window(0, rows.length + 1, folds).map(seen)).toEqual(printed);
      expect(layout.visibleCount(folds)).toBe(printed.length);
      expect(layout.shownCount).toBe(naive.shown.filter(Boolean).length);
    });
  });

  test("are the same in a window at any position", () => {
    always((layout, naive, { folds, at }) => {
      const printed = naive.print(setOf(folds));
      const rows = layout.window(at, 7, folds);
      expect(rows.map(seen)).toEqual(printed.slice(at, at + 7));
      expect(rows.map(({ position }) => position)).toEqual(rows.map((_, place) => at + place));
    });
  });

  test("start at the first row if a window begins before it", () => {
    always((layout, naive, { folds }) => {
      expect(layout.window(-3, 7, folds).map(seen)).toEqual(naive.print(setOf(folds)).slice(0, 4));
    });
  });

  test("have their positions, and there are none beyond the ends", () => {
    always((layout, naive, { folds }) => {
      const printed = naive.print(setOf(folds));
      for (const [position, { at }] of printed.entries()) {
        expect(layout.positionOf(at, folds)).toBe(position);
        expect(layout.atPosition(position, folds)).toBe(at);
      }
      expect([layout.atPosition(-1, folds), layout.atPosition(printed.length, folds)]).toEqual([-1, -1]);
    });
  });

  test("represent a hidden or folded row by its nearest visible ancestor", () => {
    always((layout, naive, { rows, folds }) => {
      const printed = naive.print(setOf(folds)).map(({ at }) => at);
      for (const at of rows.keys()) {
        const ancestor = naive.upFrom(at).find((up) => printed.includes(up));
        expect(layout.positionOf(at, folds)).toBe(ancestor === undefined ? Math.min(0, printed.length - 1) : printed.indexOf(ancestor));
        expect(nearestShown(layout, at)).toBe(naive.nearest(at) === -1 ? (printed[0] ?? -1) : naive.nearest(at));
      }
    });
  });

  test("contain a row after reveal, which removes only the folds that hide it", () => {
    always((layout, naive, { folds, at }) => {
      const left = layout.reveal(at, folds);
      const target = nearestShown(layout, at);
      if (target === -1) return;
      expect(layout.atPosition(layout.positionOf(at, left), left)).toBe(target);
      expect(setOf(left)).toEqual(
        new Set([...folds.folded].filter((fold) => fold === target || !naive.shownUpFrom(target).includes(fold))),
      );
    });
  });
});

describe("jumps in any tree", () => {
  test("find the start of a row's segment, and that of the segment above", () => {
    always((layout, naive, { rows }) => {
      for (const at of rows.keys()) {
        const up = naive.shownUpFrom(nearestShown(layout, at));
        const starts = up.filter((row) => naive.isSegmentStart(row));
        expect(layout.segmentStart(at)).toBe(starts[0] ?? -1);
        expect(layout.previousSegment(at)).toBe(starts.find((start) => start !== up[0]) ?? up[0] ?? -1);
      }
    });
  });

  test("go to the next visible segment start, or to the last row", () => {
    always((layout, naive, { folds }) => {
      const printed = naive.print(setOf(folds)).map(({ at }) => at);
      for (const [position, at] of printed.entries()) {
        const next = printed.slice(position + 1).find((row) => naive.isSegmentStart(row));
        expect(layout.nextSegment(at, folds)).toBe(next ?? printed.at(-1));
      }
    });
  });

  test("go to the next visible branch point and hit, in both directions, from any row and from outside", () => {
    always((layout, naive, { folds }) => {
      const printed = naive.print(setOf(folds));
      const expected = (from: number, direction: 1 | -1, which: "branches" | "isHit") => {
        const ahead = direction === 1 ? printed.slice(from + 1) : printed.slice(0, from).reverse();
        return ahead.find((row) => row[which])?.at ?? -1;
      };
      for (const [position, { at }] of [...printed.entries()]) {
        for (const direction of [1, -1] as const) {
          expect(layout.nextBranchPoint(at, direction, folds)).toBe(expected(position, direction, "branches"));
          expect(layout.nextHit(at, direction, folds)).toBe(expected(position, direction, "isHit"));
        }
      }
      expect(layout.nextHit(-1, 1, folds)).toBe(expected(-1, 1, "isHit"));
      expect(layout.nextHit(-1, -1, folds)).toBe(expected(printed.length, -1, "isHit"));
    });
  });

  test("number the hits in the order shown", () => {
    always((layout, naive, { rows }) => {
      const hits = naive.print(new Set()).filter(({ isHit }) => isHit);
      expect(hits.map(({ at }) => layout.hitNumber(at))).toEqual(hits.map((_, place) => place + 1));
      for (const at of rows.keys()) if (!hits.some((hit) => hit.at === at)) expect(layout.hitNumber(at)).toBe(0);
    });
  });
});

describe("a layout of a changing tree", () => {
  test("depends on the leaf", () => {
    always((_layout, _naive, { rows, question: any, at, folds }) => {
      const moved = { ...any, leafId: rows[at]?.id ?? null };
      const printed = new NaiveTree(rows, moved).print(setOf(folds));
      expect(new Layout(TreeIndex.of(rows), moved).window(0, rows.length, folds).map(seen)).toEqual(printed);
    });
  });

  test("does not show rows that the index got later, and uses their ancestors for them; a new layout shows them", () => {
    always((_, naive, { rows, question, at, folds }) => {
      const index = TreeIndex.of(rows.slice(0, at));
      const known = { ...question, hits: undefined };
      const old = new Layout(index, known);
      const before = old.window(0, at, folds).map(seen);
      index.append(rows.slice(at));
      expect(old.window(0, at, folds).map(seen)).toEqual(before);
      const parent = naive.parents[at] ?? -1;
      expect(old.positionOf(at, folds)).toBe(old.positionOf(parent, folds));
      const printed = new NaiveTree(rows, known).print(setOf(folds));
      expect(new Layout(index, known).window(0, rows.length, folds).map(seen)).toEqual(printed);
    });
  });
});

describe("an empty layout", () => {
  test("has no row anywhere", () => {
    for (const layout of [
      new Layout(TreeIndex.of([]), question),
      new Layout(TreeIndex.of(outline(["a", null])), { ...question, filter: "summaries" }),
      new Layout(TreeIndex.of(outline(["a", null])), { ...question, leafId: "a", hits: [] }),
    ]) {
      expect([layout.shownCount, layout.visibleCount(Folds.none)]).toEqual([0, 0]);
      expect(layout.window(0, 10, new Folds([0]))).toEqual([]);
      expect([layout.positionOf(0, Folds.none), layout.atPosition(0, Folds.none)]).toEqual([-1, -1]);
      expect([layout.segmentStart(0), layout.previousSegment(0), layout.nextSegment(0, Folds.none)]).toEqual([-1, -1, -1]);
      expect([layout.nextHit(0, 1), layout.nextBranchPoint(0, -1), layout.hitNumber(0)]).toEqual([-1, -1, 0]);
    }
  });
});
