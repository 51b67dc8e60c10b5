import { countAtMost } from "@bough/session-core/engine";
import { isFailedResult, isFromUser } from "./filter.js";
import { Folds } from "./folds.js";
import { branchesIn, type CallSummary, countCalls, type Group, initialFolds, ranksOf } from "./groups.js";
import { LayoutFolds } from "./layout-folds.js";
import {
  childrenOf,
  type Direction,
  isBranchPoint,
  isOnPath,
  isSegmentStart,
  nextVisible,
  orderRows,
  type RowOrder,
  ranksWhere,
  segmentStart,
  startsSideBranch,
} from "./row-order.js";
import { type LayoutOptions, markedRows, shownRows } from "./shown-rows.js";
import { NONE, type TreeIndex } from "./tree-index.js";
import type { DrawnGroup, VisibleRow } from "./visible-row.js";

/** The selected row and the folds after a fold key. */
export interface FoldStep {
  readonly at: number;
  readonly folds: Folds;
}

/**
 * The rows of a tree under one filter or search, in screen order. Construction is linear. Each method then costs O(log rows + log
 * folds); the first call with other folds is linear in these. Rows that the index gets later are not shown: make a new layout.
 *
 * A row is *shown* if filter and search admit it, and *visible* if, moreover, no fold hides it. A *segment* runs from a branch
 * child or a first entry down to the next branch point or tip.
 */
export class Layout {
  readonly #index: TreeIndex;
  readonly #order: RowOrder;
  /** The ranks of hits, ascending. */
  readonly #hits: Int32Array;
  readonly #folds: LayoutFolds;
  readonly #summaries = new Map<Group, CallSummary>();
  #failures: ReadonlyMap<number, number> | undefined;
  #segments: Int32Array | undefined;
  #branchPoints: Int32Array | undefined;
  #turns: Int32Array | undefined;

  constructor(index: TreeIndex, options: LayoutOptions) {
    const leaf = options.leafId === null ? NONE : index.indexOf(options.leafId);
    this.#index = index;
    this.#order = orderRows(index, shownRows(index, options), leaf);
    this.#hits = ranksOf(this.#order, new Set(options.hits ?? []));
    const marked = markedRows(index, { ...options, showsAllMarks: true });
    this.#folds = new LayoutFolds(this.#order, initialFolds(index, this.#order, options, marked));
  }

  /** Number of shown rows, including those that a fold hides. */
  get shownCount(): number {
    return this.#order.rows.length;
  }

  /** Returns the number of visible rows. */
  visibleCount(folds: Folds): number {
    return this.shownCount - this.#folds.rangesOf(folds).hidden;
  }

  /**
   * The position of a row. For a hidden row that of its nearest shown ancestor, or 0 without one; for a row inside a fold that of
   * the folded row. -1: the layout is empty.
   */
  positionOf(at: number, folds: Folds): number {
    return this.shownCount === 0 ? NONE : this.#folds.rangesOf(folds).positionOf(this.#visibleRank(at, folds));
  }

  /** True if the row at a position is the first one of a branch. */
  startsBranch(position: number, folds: Folds): boolean {
    const rank = this.#folds.rangesOf(folds).rankAt(position);
    return this.#order.branchChild[rank] === rank;
  }

  /** Returns the row numbers behind the visible rows in [from, to). Linear in these. */
  rowsBetween(from: number, to: number, folds: Folds): readonly number[] {
    const ranges = this.#folds.rangesOf(folds);
    return [...this.#order.rows.subarray(ranges.rankAt(from), ranges.rankAt(to))];
  }

  /** The row at a position, -1 if there is none. */
  atPosition(position: number, folds: Folds): number {
    return position < 0 ? NONE : this.#rowAt(this.#folds.rangesOf(folds).rankAt(position), folds);
  }

  /** Up to `count` rows from a position on; the range may exceed the rows on both sides. Linear in the rows returned. */
  window(from: number, count: number, folds: Folds): VisibleRow[] {
    const ranges = this.#folds.rangesOf(folds);
    const rows: VisibleRow[] = [];
    let position = Math.max(0, from);
    for (let rank = ranges.rankAt(position); rank < this.shownCount && position < from + count; rank = ranges.next(rank)) {
      rows.push(this.#visibleRow(rank, position, folds));
      position += 1;
    }
    return rows;
  }

  /** The folds without those that hide a row (or its nearest shown ancestor). Linear in the folds and in the branch points above. */
  reveal(at: number, folds: Folds): Folds {
    return this.shownCount === 0 ? folds : this.#folds.reveal(this.#rankOf(at), folds);
  }

  /**
   * Unfolds a folded row; else folds the group of calls that it is in, or the rows below it. undefined: there is nothing to fold. An
   * unfolded group selects its first row, so that the selection stays on its line.
   */
  toggle(at: number, folds: Folds): FoldStep | undefined {
    const step = this.shownCount === 0 ? undefined : this.#folds.toggle(this.#visibleRank(at, folds), folds);
    return step && { at: this.#rowAt(step.rank, step.folds), folds: step.folds };
  }

  /** The row numbers of the folded group of calls that a row is drawn in; empty: it is in none. Linear in these. */
  callsAt(at: number, folds: Folds): readonly number[] {
    const group = this.shownCount === 0 ? undefined : this.#folds.group(this.#visibleRank(at, folds), folds);
    return group?.kind === "calls" ? [...this.#order.rows.subarray(group.first, group.last + 1)] : [];
  }

  /** True if a row has shown rows below it. */
  hasBelow(at: number): boolean {
    const rank = this.#order.rank[at] ?? NONE;
    return rank !== NONE && (this.#order.end[rank] ?? rank) > rank;
  }

  /** The first row of a row's segment. A hidden row counts as its nearest shown ancestor. -1: the layout is empty. */
  segmentStart(at: number): number {
    return this.#order.rows[segmentStart(this.#order, this.#rankOf(at))] ?? NONE;
  }

  /** The start of the row's segment; for such a start the start of the segment above; the row itself if there is none above. */
  previousSegment(at: number): number {
    const rank = this.#rankOf(at);
    const parent = this.#order.parent[rank] ?? NONE;
    // Inside a segment the parent belongs to the same segment.
    return this.#order.rows[parent === NONE ? rank : segmentStart(this.#order, parent)] ?? NONE;
  }

  /**
   * Folds the segment of a row at its start. If that is folded already, or has nothing below it, goes to the start of the segment
   * above instead. At the top nothing changes.
   */
  foldOrGoBack(at: number, folds: Folds): FoldStep {
    const start = this.segmentStart(at);
    const rank = this.#order.rank[start] ?? NONE;
    if (this.hasBelow(start) && !this.#folds.isFolded(rank, folds)) return { at: start, folds: this.#folds.fold(rank, folds) };
    const group = this.#folds.foldBranches(rank, folds);
    return group === undefined
      ? { at: this.previousSegment(start), folds }
      : { at: this.#rowAt(group.rank, group.folds), folds: group.folds };
  }

  /** Unfolds a folded row; else goes to the next segment start, or below the last one to the last row. */
  unfoldOrGoOn(at: number, folds: Folds): FoldStep {
    const rank = this.shownCount === 0 ? NONE : this.#visibleRank(at, folds);
    if (rank === NONE || !this.#folds.isFolded(rank, folds)) return { at: this.nextSegment(at, folds), folds };
    const unfolded = this.#folds.unfold(rank, folds);
    return { at: this.#rowAt(rank, unfolded), folds: unfolded };
  }

  /** The next visible segment start below a row; the last visible row if there is none. */
  nextSegment(at: number, folds: Folds): number {
    const ranges = this.#folds.rangesOf(folds);
    this.#segments ??= ranksWhere(this.#order, isSegmentStart);
    const next = nextVisible(this.#segments, this.#visibleRank(at, folds), 1, ranges);
    return this.#rowAt(next === NONE ? ranges.visibleRank(this.shownCount - 1) : next, folds);
  }

  /**
   * The first row of the next or previous branch that leaves the same branch point as the row's own branch, in screen order, around
   * the ends. -1: no branch point is above the row. Linear in the branches of that branch point.
   */
  siblingBranch(at: number, direction: Direction): number {
    const start = this.#order.branchChild[this.#rankOf(at)] ?? NONE;
    if (start === NONE) return NONE;
    const siblings = childrenOf(this.#order, this.#order.parent[start] ?? NONE);
    const place = siblings.indexOf(start) + direction + siblings.length;
    return this.#order.rows[siblings[place % siblings.length] ?? start] ?? NONE;
  }

  /** The next visible user message, as with `nextBranchPoint`. */
  nextTurn(at: number, direction: Direction, folds: Folds): number {
    this.#turns ??= ranksWhere(this.#order, ({ rows }, rank) => isFromUser(this.#index.filterBits[rows[rank] ?? NONE] ?? 0));
    return this.#nextOf(this.#turns, at, direction, folds);
  }

  /**
   * The next visible branch point, -1: there is none. From `at` -1: the first one (downwards) or the last one (upwards). Without
   * `folds` no row counts as hidden.
   */
  nextBranchPoint(at: number, direction: Direction, folds: Folds = Folds.none): number {
    this.#branchPoints ??= ranksWhere(this.#order, isBranchPoint);
    return this.#nextOf(this.#branchPoints, at, direction, folds);
  }

  /** The next visible hit, as with `nextBranchPoint`. */
  nextHit(at: number, direction: Direction, folds: Folds = Folds.none): number {
    return this.#nextOf(this.#hits, at, direction, folds);
  }

  /** The number of a hit, counted from 1 in screen order; 0: the row is no hit. */
  hitNumber(at: number): number {
    const rank = this.#order.rank[at] ?? NONE;
    const number = countAtMost(this.#hits, rank);
    return rank !== NONE && this.#hits[number - 1] === rank ? number : 0;
  }

  /** The rank of a row, of its nearest shown ancestor if it is hidden, 0 if there is none. Linear in new rows above it. */
  #rankOf(at: number): number {
    const { rank, shownAncestor } = this.#order;
    let known = at;
    while (known >= rank.length) known = this.#index.parentOf(known);
    const here = rank[known] ?? NONE;
    return Math.max(0, here === NONE ? (rank[shownAncestor[known] ?? NONE] ?? NONE) : here);
  }

  #visibleRank(at: number, folds: Folds): number {
    return this.#folds.rangesOf(folds).visibleRank(this.#rankOf(at));
  }

  #nextOf(ranks: Int32Array, at: number, direction: Direction, folds: Folds): number {
    const from = at !== NONE ? this.#visibleRank(at, folds) : direction === 1 ? NONE : this.shownCount;
    return this.#order.rows[nextVisible(ranks, from, direction, this.#folds.rangesOf(folds))] ?? NONE;
  }

  /** The row number that a visible rank is drawn as. */
  #rowAt(rank: number, folds: Folds): number {
    const group = rank < 0 ? undefined : this.#folds.group(rank, folds);
    return this.#order.rows[group?.kind === "calls" ? group.last : rank] ?? NONE;
  }

  #drawnGroup(group: Group): DrawnGroup {
    if (group.kind === "branches") return { kind: "branches", count: branchesIn(group, this.#order) };
    let summary = this.#summaries.get(group);
    if (summary === undefined) {
      this.#failures ??= this.#countFailures();
      summary = countCalls(this.#index, this.#order.rows.subarray(group.first, group.last + 1), this.#failures);
      this.#summaries.set(group, summary);
    }
    return { kind: "calls", ...summary };
  }

  /** By row number of a shown row: how many hidden results below it failed. Linear. */
  #countFailures(): ReadonlyMap<number, number> {
    const { shownAncestor, rank } = this.#order;
    const bits = this.#index.filterBits;
    const failures = new Map<number, number>();
    for (let at = 0; at < rank.length; at += 1) {
      if (!isFailedResult(bits[at] ?? 0) || rank[at] !== NONE) continue;
      const above = shownAncestor[at] ?? NONE;
      failures.set(above, (failures.get(above) ?? 0) + 1);
    }
    return failures;
  }

  #visibleRow(rank: number, position: number, folds: Folds): VisibleRow {
    const { end, level } = this.#order;
    const row = this.#rowAt(rank, folds);
    const group = this.#folds.group(rank, folds);
    const below = (end[rank] ?? rank) - rank;
    const isFolded = this.#folds.isFolded(rank, folds);
    const startsBranch = startsSideBranch(this.#order, rank);
    const isFoldable = (below > 0 && startsBranch) || this.#folds.startsOpenCalls(rank, folds);
    return {
      at: row,
      position,
      level: level[rank] ?? 0,
      startsBranch,
      isFirst: rank === 0,
      isOnPath: isOnPath(this.#order, rank),
      branches: group === undefined && isBranchPoint(this.#order, rank) ? childrenOf(this.#order, rank).length : 0,
      isHit: this.hitNumber(row) > 0,
      group: group === undefined ? null : this.#drawnGroup(group),
      fold: isFolded ? "folded" : isFoldable ? "foldable" : "none",
      hiddenBelow: isFolded && group === undefined ? below : 0,
    };
  }
}
