import { countAtMost } from "@bough/session-core/engine";
import type { FoldedRanges } from "./folds.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/**
 * The shown rows from top to bottom. A row's index in this order is its rank; hidden rows have none. A subtree takes
 * consecutive ranks.
 *
 * One child of each branch point *continues* its column: the one on the leaf's path, else the one whose subtree has the newest row.
 * Its subtree comes last. The other children, the *side branches*, come before it in order of arrival, one level further to the right.
 * So the leaf's path stays in the first column, and each side branch stands directly below its branch point.
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
  /** By rank: the number of nested side branches that contain the row, which is its indentation. */
  readonly level: Int32Array;
  /** The rank of the last shown row of the leaf's path, -1: it has none. */
  readonly pathEnd: number;
}

/** Downwards (1) or upwards (-1) on the screen. */
export type Direction = 1 | -1;

/** Puts the shown rows in order. Linear and without recursion. `leaf`: its row number, or -1. */
export function orderRows(index: TreeIndex, shown: Uint8Array, leaf: number): RowOrder {
  const shownAncestor = nearestShownAncestors(index.parents, shown);
  const end = shown[leaf] === 1 ? leaf : (shownAncestor[leaf] ?? NONE);
  const continuation = continuations(shownAncestor, shown);
  for (let at = end; at !== NONE; at = shownAncestor[at] ?? NONE) continuation[(shownAncestor[at] ?? NONE) + 1] = at;
  const sizes = subtreeSizes(shownAncestor, shown);
  const rank = rankRows(shown, shownAncestor, continuation, sizes);
  const ranges = subtreeRanges(shownAncestor, sizes, rank);
  return { shownAncestor, rank, ...ranges, ...branchLevels(ranges.end, ranges.parent), pathEnd: rank[end] ?? NONE };
}

export function isOnPath({ level, pathEnd }: RowOrder, rank: number): boolean {
  return rank <= pathEnd && level[rank] === 0;
}

export function startsSideBranch({ level, parent }: RowOrder, rank: number): boolean {
  const above = parent[rank] ?? NONE;
  return (level[rank] ?? 0) > (above === NONE ? 0 : (level[above] ?? 0));
}

/** The first rows of the branches below a row, in screen order: its shown children. Linear in these. */
export function childrenOf({ end }: RowOrder, rank: number): readonly number[] {
  const children: number[] = [];
  const last = rank === NONE ? end.length - 1 : (end[rank] ?? rank);
  for (let child = rank + 1; child <= last; child = (end[child] ?? child) + 1) children.push(child);
  return children;
}

/** True if a rank is in the subtree of another one, itself excluded. `above` -1 has no subtree. */
export function isBelow(order: RowOrder, rank: number, above: number): boolean {
  return above !== NONE && above < rank && rank <= (order.end[above] ?? above);
}

/** True if a row has several shown children. */
export function isBranchPoint({ end }: RowOrder, rank: number): boolean {
  return (end[rank] ?? rank) > rank && end[rank + 1] !== end[rank];
}

/** True if a row is a branch child or a first entry. */
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
export function nextVisible(ranks: Int32Array, from: number, direction: Direction, ranges: FoldedRanges): number {
  let past = from;
  for (;;) {
    const next = ranks[direction === 1 ? countAtMost(ranks, past) : countAtMost(ranks, past - 1) - 1] ?? NONE;
    const visible = next === NONE ? NONE : ranges.visibleRank(next);
    if (visible === next) return next;
    past = direction === 1 ? ranges.lastOf(visible) : visible + 1;
  }
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

/** By row number + 1: the child that continues the row's column unless the leaf's path does; [0] is for first entries. -1: no child. */
function continuations(shownAncestor: Int32Array, shown: Uint8Array): Int32Array {
  const child = new Int32Array(shown.length + 1).fill(NONE);
  const newest = new Int32Array(shown.length + 1).fill(NONE);
  // Children come after their parents, so the newest row below a row is known when the row is reached.
  for (let at = shown.length - 1; at >= 0; at -= 1) {
    if (shown[at] === 0) continue;
    const below = Math.max(newest[at + 1] ?? NONE, at);
    const slot = (shownAncestor[at] ?? NONE) + 1;
    if (below <= (newest[slot] ?? NONE)) continue;
    newest[slot] = below;
    child[slot] = at;
  }
  return child;
}

/** By row number + 1: how many rows the shown subtree has; [0]: how many are shown. */
function subtreeSizes(shownAncestor: Int32Array, shown: Uint8Array): Int32Array {
  const sizes = new Int32Array(shown.length + 1);
  for (let at = shown.length - 1; at >= 0; at -= 1) {
    if (shown[at] === 0) continue;
    const size = (sizes[at + 1] ?? 0) + 1;
    sizes[at + 1] = size;
    const slot = (shownAncestor[at] ?? NONE) + 1;
    sizes[slot] = (sizes[slot] ?? 0) + size;
  }
  return sizes;
}

/** Parents come first, so each row finds the rank of its parent. */
function rankRows(shown: Uint8Array, shownAncestor: Int32Array, continuation: Int32Array, sizes: Int32Array): Int32Array {
  const rank = new Int32Array(shown.length).fill(NONE);
  // By row number + 1: the rank of the row's next side branch.
  const next = new Int32Array(shown.length + 1);
  for (let at = 0; at < shown.length; at += 1) {
    if (shown[at] === 0) continue;
    const above = shownAncestor[at] ?? NONE;
    const size = sizes[at + 1] ?? 0;
    const after = above === NONE ? (sizes[0] ?? 0) : (rank[above] ?? 0) + (sizes[above + 1] ?? 0);
    const isLast = continuation[above + 1] === at;
    const here = isLast ? after - size : (next[above + 1] ?? 0);
    if (!isLast) next[above + 1] = here + size;
    rank[at] = here;
    next[at + 1] = here + 1;
  }
  return rank;
}

function subtreeRanges(shownAncestor: Int32Array, sizes: Int32Array, rank: Int32Array): Pick<RowOrder, "rows" | "end" | "parent"> {
  const count = sizes[0] ?? 0;
  const rows = new Int32Array(count);
  const end = new Int32Array(count);
  const parent = new Int32Array(count);
  for (let at = 0; at < rank.length; at += 1) {
    const here = rank[at] ?? NONE;
    if (here === NONE) continue;
    const ancestor = shownAncestor[at] ?? NONE;
    rows[here] = at;
    end[here] = here + (sizes[at + 1] ?? 0) - 1;
    parent[here] = ancestor === NONE ? NONE : (rank[ancestor] ?? NONE);
  }
  return { rows, end, parent };
}

/** Only side branches are indented: a chain of any length, and the child that continues it, stay in one column. */
function branchLevels(end: Int32Array, parent: Int32Array): Pick<RowOrder, "branchChild" | "level"> {
  const branchChild = new Int32Array(end.length);
  const level = new Int32Array(end.length);
  for (let here = 0; here < end.length; here += 1) {
    const above = parent[here] ?? NONE;
    const isLast = end[here] === (above === NONE ? end.length - 1 : end[above]);
    const isOnlyChild = isLast && here === above + 1;
    const outer = above === NONE ? 0 : (level[above] ?? 0);
    const outerChild = above === NONE ? NONE : (branchChild[above] ?? NONE);
    branchChild[here] = isOnlyChild ? outerChild : here;
    level[here] = isLast ? outer : outer + 1;
  }
  return { branchChild, level };
}
