import { countAtMost } from "./binary-search.js";
import type { FoldedRanges } from "./folds.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/**
 * The shown rows from top to bottom. A row's index in this order is its rank; hidden rows have none. A subtree takes
 * consecutive ranks. The leaf's path comes before its siblings, so its shown rows have the first `pathLength` ranks.
 */
export interface RowOrder {
  /** By row number: the nearest shown ancestor, -1: none. The children of a hidden row are drawn below it. */
  readonly shownAncestor: Int32Array;
  /** By row number: the rank, -1: hidden. */
  readonly rank: Int32Array;
  /** By rank: the row number. */
  readonly rows: Int32Array;
  /** By rank: the last rank of the subtree; its own if nothing is below it. */
  readonly end: Int32Array;
  /** By rank: the rank of the nearest shown ancestor, -1: none. */
  readonly parent: Int32Array;
  /** By rank: the rank of the nearest branch child at or above the row, -1: no branch point is above it. */
  readonly branchChild: Int32Array;
  /** By rank: the number of branch points above the row, which is its indentation. */
  readonly level: Int32Array;
  readonly pathLength: number;
}

/** Downwards (1) or upwards (-1) on the screen. */
export type Direction = 1 | -1;

/** Puts the shown rows in order. Linear and without recursion. `leaf`: its row number, or -1. */
export function orderRows(index: TreeIndex, shown: Uint8Array, leaf: number): RowOrder {
  const shownAncestor = nearestShownAncestors(index.parents, shown);
  const sizes = subtreeSizes(shownAncestor, shown);
  const state: Ranking = { shownAncestor, sizes, rank: new Int32Array(shown.length).fill(NONE), next: new Int32Array(shown.length + 1) };
  const path = shownPath(shownAncestor, shown, leaf);
  for (const at of path) assignRank(state, at);
  rankRest(state, shown);
  const ranges = subtreeRanges(state);
  return { shownAncestor, rank: state.rank, ...ranges, ...branchLevels(ranges.end, ranges.parent), pathLength: path.length };
}

/** Whether a rank is in the subtree of another one, itself excluded. `above` -1 has no subtree. */
export function isBelow(order: RowOrder, rank: number, above: number): boolean {
  return above !== NONE && above < rank && rank <= (order.end[above] ?? above);
}

/** Whether a row has several shown children. */
export function isBranchPoint({ end }: RowOrder, rank: number): boolean {
  return (end[rank] ?? rank) > rank && end[rank + 1] !== end[rank];
}

/** Whether a row is a branch child or a first entry. */
export function isSegmentStart({ branchChild, parent }: RowOrder, rank: number): boolean {
  return branchChild[rank] === rank || parent[rank] === NONE;
}

/** The nearest segment start at or above a row. */
export function segmentStart({ branchChild }: RowOrder, rank: number): number {
  // Without a branch point above it the row is in the segment of the only first entry, whose rank is 0.
  return Math.max(0, branchChild[rank] ?? NONE);
}

/** The ranks for which a condition holds, ascending. Linear. */
export function ranksWhere(order: RowOrder, holds: (order: RowOrder, rank: number) => boolean): Int32Array {
  const found: number[] = [];
  for (let rank = 0; rank < order.rows.length; rank += 1) if (holds(order, rank)) found.push(rank);
  return Int32Array.from(found);
}

/**
 * The next of some ascending ranks after `from` that no fold hides, -1: there is none. O(log n) for each fold that hides some of
 * them on the way.
 */
export function nextVisible(order: RowOrder, ranks: Int32Array, from: number, direction: Direction, ranges: FoldedRanges): number {
  let past = from;
  for (;;) {
    const next = ranks[direction === 1 ? countAtMost(ranks, past) : countAtMost(ranks, past - 1) - 1] ?? NONE;
    const visible = next === NONE ? NONE : ranges.visibleRank(next);
    if (visible === next) return next;
    past = direction === 1 ? (order.end[visible] ?? visible) : visible + 1;
  }
}

interface Ranking {
  readonly shownAncestor: Int32Array;
  /** By row number: how many rows the shown subtree has. */
  readonly sizes: Int32Array;
  readonly rank: Int32Array;
  /** By row number + 1: the rank of the row's next child; [0] is for first entries. */
  readonly next: Int32Array;
}

// Each loop over all rows is a function of its own with nothing after the loop: V8 then keeps the code that it optimized during
// the first layout, which halves the time of the second one.

function nearestShownAncestors(parents: Int32Array, shown: Uint8Array): Int32Array {
  const ancestors = new Int32Array(shown.length);
  for (let at = 0; at < shown.length; at += 1) {
    const parent = parents[at] ?? NONE;
    // Parents come first, so the ancestor of a hidden parent is set already.
    ancestors[at] = parent === NONE || shown[parent] === 1 ? parent : (ancestors[parent] ?? NONE);
  }
  return ancestors;
}

function subtreeSizes(shownAncestor: Int32Array, shown: Uint8Array): Int32Array {
  const sizes = new Int32Array(shown.length);
  for (let at = shown.length - 1; at >= 0; at -= 1) {
    if (shown[at] === 0) continue;
    const size = (sizes[at] ?? 0) + 1;
    sizes[at] = size;
    const parent = shownAncestor[at] ?? NONE;
    if (parent !== NONE) sizes[parent] = (sizes[parent] ?? 0) + size;
  }
  return sizes;
}

function shownPath(shownAncestor: Int32Array, shown: Uint8Array, leaf: number): readonly number[] {
  const path: number[] = [];
  for (let at = shown[leaf] === 1 ? leaf : (shownAncestor[leaf] ?? NONE); at !== NONE; at = shownAncestor[at] ?? NONE) path.push(at);
  return path.reverse();
}

function assignRank({ shownAncestor, sizes, rank, next }: Ranking, at: number): void {
  const slot = (shownAncestor[at] ?? NONE) + 1;
  const here = next[slot] ?? 0;
  rank[at] = here;
  next[slot] = here + (sizes[at] ?? 0);
  next[at + 1] = here + 1;
}

function rankRest(state: Ranking, shown: Uint8Array): void {
  const { rank } = state;
  for (let at = 0; at < shown.length; at += 1) if (shown[at] === 1 && rank[at] === NONE) assignRank(state, at);
}

function subtreeRanges({ shownAncestor, sizes, rank, next }: Ranking): Pick<RowOrder, "rows" | "end" | "parent"> {
  // All rows have their ranks: the next first entry would come after all of them.
  const count = next[0] ?? 0;
  const rows = new Int32Array(count);
  const end = new Int32Array(count);
  const parent = new Int32Array(count);
  for (let at = 0; at < rank.length; at += 1) {
    const here = rank[at] ?? NONE;
    if (here === NONE) continue;
    const ancestor = shownAncestor[at] ?? NONE;
    rows[here] = at;
    end[here] = here + (sizes[at] ?? 0) - 1;
    parent[here] = ancestor === NONE ? NONE : (rank[ancestor] ?? NONE);
  }
  return { rows, end, parent };
}

/** Only the children of a branch point are indented: a chain of any length stays in one column. */
function branchLevels(end: Int32Array, parent: Int32Array): Pick<RowOrder, "branchChild" | "level"> {
  const branchChild = new Int32Array(end.length);
  const level = new Int32Array(end.length);
  for (let here = 0; here < end.length; here += 1) {
    const above = parent[here] ?? NONE;
    const lastSibling = above === NONE ? end.length - 1 : (end[above] ?? NONE);
    const isOnlyChild = here === above + 1 && end[here] === lastSibling;
    const outer = above === NONE ? 0 : (level[above] ?? 0);
    const outerChild = above === NONE ? NONE : (branchChild[above] ?? NONE);
    branchChild[here] = isOnlyChild ? outerChild : here;
    level[here] = isOnlyChild ? outer : outer + 1;
  }
  return { branchChild, level };
}
