import type { EntryId } from "@bough/session-core";
import { countUpTo } from "./binary-search.js";
import { FoldedRanges, Folds } from "./folds.js";
import { RowGutter } from "./gutter.js";
import {
  type Direction,
  endOf,
  isBelow,
  isBranchPoint,
  isSegmentStart,
  nextSeen,
  type Placement,
  placement,
  rowsWhere,
  segmentStart,
} from "./row-order.js";
import { type LayoutQuestion, shownRows } from "./shown-rows.js";
import { NONE, type TreeIndex } from "./tree-index.js";
import type { Gutter } from "./visible-tree.js";

/** A row as it is seen. */
export interface VisibleRow {
  /** Its place in the index. */
  readonly at: number;
  /** Counted from 0 among the rows that are seen. */
  readonly position: number;
  readonly gutter: Gutter | null;
  /** Whether a branch starts here: the deepest level of the gutter is drawn as a connector. */
  readonly starts: boolean;
  readonly isOnPath: boolean;
  /** Whether several branches of what is shown begin below it. */
  readonly isBranchPoint: boolean;
  readonly isHit: boolean;
  /** `foldable`: a segment starts here, and there is something below it. */
  readonly fold: "folded" | "foldable" | "none";
  /** How many rows are folded away below it; 0: it is not folded. */
  readonly hiddenBelow: number;
}

/**
 * What is shown under a filter or of a search. Made once, linear; what it answers then costs the logarithm of the
 * number of rows and of folds, and the first answer about other folds is linear in these. Rows are named by their
 * places in the index; rows that the index got later are not shown: see `refreshed`.
 *
 * A segment is a stretch without branches: from a branch child or a first entry down to the next branch point or tip.
 */
export class Layout {
  readonly #placed: Placement;
  /** The positions of hits in order. */
  readonly #hits: Int32Array;
  readonly #folded = new WeakMap<Folds, FoldedRanges>();
  #segments: Int32Array | undefined;
  #branchPoints: Int32Array | undefined;

  constructor(
    readonly index: TreeIndex,
    readonly question: LayoutQuestion,
  ) {
    const leaf = question.leafId === null ? NONE : index.placeOf(question.leafId);
    this.#placed = placement(index, shownRows(index, question), leaf);
    this.#hits = this.#positions(new Set(question.hits ?? []));
  }

  /** The same question about another leaf: other marks, another order. As dear as a new layout. */
  withLeaf(leafId: EntryId | null): Layout {
    return new Layout(this.index, { ...this.question, leafId });
  }

  /** The same question about all rows that the index has by now. Itself if there are no more; else as dear as a new layout. */
  refreshed(): Layout {
    return this.index.size === this.#placed.pos.length ? this : new Layout(this.index, this.question);
  }

  /** How many rows are shown, folds aside. */
  get shownCount(): number {
    return this.#placed.order.length;
  }

  /** How many hits there are. */
  get hitCount(): number {
    return this.#hits.length;
  }

  /** How many rows are seen. */
  visibleCount(folds: Folds): number {
    return this.shownCount - this.#ranges(folds).hidden;
  }

  /**
   * The row itself, or its nearest ancestor that is shown. Where none is shown, the first row of the layout; -1 only
   * if the layout is empty. Constant, and linear in the new rows above it for one that the layout does not know yet.
   */
  nearestShown(at: number): number {
    return this.#placed.order[this.#posOf(at)] ?? NONE;
  }

  /** The position of a row; of a hidden or folded one, that of `nearestShown` or of the row it is folded into. -1: empty layout. */
  positionOf(at: number, folds: Folds): number {
    return this.shownCount === 0 ? NONE : this.#ranges(folds).positionOf(this.#seenPos(at, folds));
  }

  /** The row at a position; -1 where there is none. */
  atPosition(position: number, folds: Folds): number {
    return position < 0 ? NONE : (this.#placed.order[this.#ranges(folds).posAt(position)] ?? NONE);
  }

  /** Up to `count` rows from a position on, which may be beyond the ends. O(log folds) and linear in the rows returned. */
  window(from: number, count: number, folds: Folds): VisibleRow[] {
    const ranges = this.#ranges(folds);
    const rows: VisibleRow[] = [];
    let position = Math.max(0, from);
    for (let pos = ranges.posAt(position); pos < this.shownCount && position < from + count; pos = ranges.step(pos, 1)) {
      rows.push(this.#visibleRow(pos, position, folds));
      position += 1;
    }
    return rows;
  }

  /** Without the folds that hide a row: after this `atPosition(positionOf(at))` is `nearestShown(at)`. Linear in the folds. */
  revealed(at: number, folds: Folds): Folds {
    const pos = this.#posOf(at);
    const hiding = [...folds].filter((folded) => isBelow(this.#placed, pos, this.#placed.pos[folded] ?? NONE));
    return folds.unfold(hiding);
  }

  /** Whether a row has shown rows below it. */
  hasBelow(at: number): boolean {
    const pos = this.#placed.pos[at] ?? NONE;
    return pos !== NONE && endOf(this.#placed, pos) > pos;
  }

  /** Where the segment of a row starts. A hidden row counts as its `nearestShown`; -1: empty layout. */
  segmentStart(at: number): number {
    return this.#placed.order[segmentStart(this.#placed, this.#posOf(at))] ?? NONE;
  }

  /** The start of a row's segment; if it is that itself, the start of the segment above; the row itself where there is none. */
  previousSegment(at: number): number {
    const pos = this.#posOf(at);
    const above = this.#placed.up[pos] ?? NONE;
    // Inside a segment the row above belongs to it too.
    return this.#placed.order[above === NONE ? pos : segmentStart(this.#placed, above)] ?? NONE;
  }

  /** The next segment start further down that is seen; where there is none, the last row that is seen. */
  nextSegment(at: number, folds: Folds): number {
    this.#segments ??= rowsWhere(this.#placed, isSegmentStart);
    const next = nextSeen(this.#placed, this.#segments, this.#seenPos(at, folds), 1, this.#ranges(folds));
    return this.#placed.order[next === NONE ? this.#ranges(folds).seen(this.shownCount - 1) : next] ?? NONE;
  }

  /**
   * The next branch point that is seen, -1 where there is none in this direction. `at` -1: the first one downwards, the
   * last one upwards. Folds that are not given hide nothing.
   */
  nextBranchPoint(at: number, direction: Direction, folds: Folds = Folds.none): number {
    this.#branchPoints ??= rowsWhere(this.#placed, isBranchPoint);
    return this.#next(this.#branchPoints, at, direction, folds);
  }

  /** The next hit, as with `nextBranchPoint`. */
  nextHit(at: number, direction: Direction, folds: Folds = Folds.none): number {
    return this.#next(this.#hits, at, direction, folds);
  }

  /** Which hit a row is, counted from 1 in the order shown; 0: none. */
  hitNumber(at: number): number {
    const pos = this.#placed.pos[at] ?? NONE;
    const number = countUpTo(this.#hits, pos);
    return pos !== NONE && this.#hits[number - 1] === pos ? number : 0;
  }

  /** Where rows are, in order; hidden and unknown ones left out. */
  #positions(rows: Iterable<number>): Int32Array {
    const positions = Int32Array.from(rows, (at) => this.#placed.pos[at] ?? NONE).sort();
    return positions.subarray(countUpTo(positions, NONE));
  }

  #ranges(folds: Folds): FoldedRanges {
    let ranges = this.#folded.get(folds);
    if (ranges === undefined) {
      ranges = new FoldedRanges(this.#positions(folds), this.#placed.end);
      this.#folded.set(folds, ranges);
    }
    return ranges;
  }

  /** The pos of `nearestShown`; 0 in an empty layout too. */
  #posOf(at: number): number {
    const { pos, above } = this.#placed;
    let known = at;
    while (known >= pos.length) known = this.index.parentOf(known);
    const here = pos[known] ?? NONE;
    return Math.max(0, here === NONE ? (pos[above[known] ?? NONE] ?? NONE) : here);
  }

  #seenPos(at: number, folds: Folds): number {
    return this.#ranges(folds).seen(this.#posOf(at));
  }

  #next(rows: Int32Array, at: number, direction: Direction, folds: Folds): number {
    const from = at !== NONE ? this.#seenPos(at, folds) : direction === 1 ? NONE : this.shownCount;
    return this.#placed.order[nextSeen(this.#placed, rows, from, direction, this.#ranges(folds))] ?? NONE;
  }

  #visibleRow(pos: number, position: number, folds: Folds): VisibleRow {
    const { order, head, pathLength } = this.#placed;
    const at = order[pos] ?? NONE;
    const below = endOf(this.#placed, pos) - pos;
    const isFolded = below > 0 && folds.isFolded(at);
    return {
      at,
      position,
      gutter: RowGutter.of(this.#placed, pos),
      starts: head[pos] === pos,
      isOnPath: pos < pathLength,
      isBranchPoint: isBranchPoint(this.#placed, pos),
      isHit: this.hitNumber(at) > 0,
      fold: isFolded ? "folded" : below > 0 && isSegmentStart(this.#placed, pos) ? "foldable" : "none",
      hiddenBelow: isFolded ? below : 0,
    };
  }
}
