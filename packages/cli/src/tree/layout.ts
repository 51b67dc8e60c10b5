import { countAtMost } from "./binary-search.js";
import { isFromUser } from "./filter.js";
import { FoldedRanges, Folds } from "./folds.js";
import {
  childrenOf,
  type Direction,
  isBelow,
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
import { type LayoutOptions, shownRows } from "./shown-rows.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/** A row as it is drawn. */
export interface VisibleRow {
  /** Its row number. */
  readonly at: number;
  /** Counted from 0 among the visible rows. */
  readonly position: number;
  /** How many side branches the row is in, one inside the other: 0 on the leaf's path. */
  readonly level: number;
  /** Whether the row is the first one of a side branch. */
  readonly startsBranch: boolean;
  /** Whether it is the first row of all. */
  readonly isFirst: boolean;
  readonly isOnPath: boolean;
  /** How many shown branches leave the row; 0: it is no branch point. */
  readonly branches: number;
  readonly isHit: boolean;
  /** `foldable`: it starts a side branch and has rows below it. */
  readonly fold: "folded" | "foldable" | "none";
  /** How many rows its fold hides; 0: it is not folded. */
  readonly hiddenBelow: number;
}

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
  readonly #ranges = new WeakMap<Folds, FoldedRanges>();
  #segments: Int32Array | undefined;
  #branchPoints: Int32Array | undefined;
  #turns: Int32Array | undefined;

  constructor(index: TreeIndex, options: LayoutOptions) {
    const leaf = options.leafId === null ? NONE : index.indexOf(options.leafId);
    this.#index = index;
    this.#order = orderRows(index, shownRows(index, options), leaf);
    this.#hits = this.#ranksOf(new Set(options.hits ?? []));
  }

  /** How many rows are shown. */
  get shownCount(): number {
    return this.#order.rows.length;
  }

  /** How many rows are visible. */
  visibleCount(folds: Folds): number {
    return this.shownCount - this.#rangesOf(folds).hidden;
  }

  /**
   * The position of a row. For a hidden row that of its nearest shown ancestor, or 0 without one; for a row inside a fold that of
   * the folded row. -1: the layout is empty.
   */
  positionOf(at: number, folds: Folds): number {
    return this.shownCount === 0 ? NONE : this.#rangesOf(folds).positionOf(this.#visibleRank(at, folds));
  }

  /** Whether the row at a position is a branch child, if nothing is folded. */
  startsBranch(position: number): boolean {
    return this.#order.branchChild[position] === position;
  }

  /** The row at a position, -1 if there is none. */
  atPosition(position: number, folds: Folds): number {
    return position < 0 ? NONE : (this.#order.rows[this.#rangesOf(folds).rankAt(position)] ?? NONE);
  }

  /** Up to `count` rows from a position on; the range may exceed the rows on both sides. Linear in the rows returned. */
  window(from: number, count: number, folds: Folds): VisibleRow[] {
    const ranges = this.#rangesOf(folds);
    const rows: VisibleRow[] = [];
    let position = Math.max(0, from);
    for (let rank = ranges.rankAt(position); rank < this.shownCount && position < from + count; rank = ranges.next(rank)) {
      rows.push(this.#visibleRow(rank, position, folds));
      position += 1;
    }
    return rows;
  }

  /** The folds without those that hide a row (or its nearest shown ancestor). Linear in the folds. */
  reveal(at: number, folds: Folds): Folds {
    const rank = this.#rankOf(at);
    return folds.unfold([...folds].filter((folded) => isBelow(this.#order, rank, this.#order.rank[folded] ?? NONE)));
  }

  /** Whether a row has shown rows below it. */
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
    if (this.hasBelow(start) && !folds.isFolded(start)) return { at: start, folds: folds.fold(start) };
    return { at: this.previousSegment(start), folds };
  }

  /** Unfolds a folded row; else goes to the next segment start, or below the last one to the last row. */
  unfoldOrGoOn(at: number, folds: Folds): FoldStep {
    if (this.hasBelow(at) && folds.isFolded(at)) return { at, folds: folds.unfold([at]) };
    return { at: this.nextSegment(at, folds), folds };
  }

  /** The next visible segment start below a row; the last visible row if there is none. */
  nextSegment(at: number, folds: Folds): number {
    const ranges = this.#rangesOf(folds);
    this.#segments ??= ranksWhere(this.#order, isSegmentStart);
    const next = nextVisible(this.#order, this.#segments, this.#visibleRank(at, folds), 1, ranges);
    return this.#order.rows[next === NONE ? ranges.visibleRank(this.shownCount - 1) : next] ?? NONE;
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

  /** The ranks of rows, ascending, without those of hidden and unknown ones. */
  #ranksOf(rows: Iterable<number>): Int32Array {
    const ranks = Int32Array.from(rows, (at) => this.#order.rank[at] ?? NONE).sort();
    return ranks.subarray(countAtMost(ranks, NONE));
  }

  #rangesOf(folds: Folds): FoldedRanges {
    let ranges = this.#ranges.get(folds);
    if (ranges === undefined) {
      ranges = new FoldedRanges(this.#ranksOf(folds), this.#order.end);
      this.#ranges.set(folds, ranges);
    }
    return ranges;
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
    return this.#rangesOf(folds).visibleRank(this.#rankOf(at));
  }

  #nextOf(ranks: Int32Array, at: number, direction: Direction, folds: Folds): number {
    const from = at !== NONE ? this.#visibleRank(at, folds) : direction === 1 ? NONE : this.shownCount;
    return this.#order.rows[nextVisible(this.#order, ranks, from, direction, this.#rangesOf(folds))] ?? NONE;
  }

  #visibleRow(rank: number, position: number, folds: Folds): VisibleRow {
    const { rows, end, level } = this.#order;
    const at = rows[rank] ?? NONE;
    const below = (end[rank] ?? rank) - rank;
    const isFolded = below > 0 && folds.isFolded(at);
    const startsBranch = startsSideBranch(this.#order, rank);
    return {
      at,
      position,
      level: level[rank] ?? 0,
      startsBranch,
      isFirst: rank === 0,
      isOnPath: isOnPath(this.#order, rank),
      branches: isBranchPoint(this.#order, rank) ? childrenOf(this.#order, rank).length : 0,
      isHit: this.hitNumber(at) > 0,
      fold: isFolded ? "folded" : below > 0 && startsBranch ? "foldable" : "none",
      hiddenBelow: isFolded ? below : 0,
    };
  }
}
