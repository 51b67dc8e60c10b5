import { countUpTo } from "./binary-search.js";
import type { FoldedRanges } from "./folds.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/**
 * The shown rows from top to bottom: a row's place in this order is its `pos`. A subtree is an unbroken range, the
 * current branch comes before its siblings, and so the shown rows of the leaf's path are the first `pathLength`.
 */
export interface Placement {
  /** By place in the index: the nearest shown row above, -1: none. A hidden row's children hang on it (regression R145). */
  readonly above: Int32Array;
  /** By place in the index: where the row is, -1: hidden. */
  readonly pos: Int32Array;
  /** By pos: the place in the index. */
  readonly order: Int32Array;
  /** By pos: the last pos of the subtree. */
  readonly end: Int32Array;
  /** By pos: the pos of the shown parent, -1: none. */
  readonly up: Int32Array;
  /** By pos: the pos of the last branch child at or above it, whose level of lines it shares; -1: not below a branch point. */
  readonly head: Int32Array;
  /** By pos: how many levels of lines are left of it. */
  readonly level: Int32Array;
  readonly pathLength: number;
}

/** Puts the shown rows in order. Linear and without recursion (regression R183). `leaf`: its place in the index, or -1. */
export function placement(index: TreeIndex, shown: Uint8Array, leaf: number): Placement {
  const above = nearestAbove(index.parents, shown);
  const sizes = subtreeSizes(above, shown);
  const placing: Placing = { above, sizes, pos: new Int32Array(shown.length).fill(NONE), next: new Int32Array(shown.length + 1) };
  const path = shownPath(above, shown, leaf);
  for (const at of path) put(placing, at);
  putRest(placing, shown);
  const ranges = rangesOf(placing);
  return { above, pos: placing.pos, ...ranges, ...levels(ranges.end, ranges.up), pathLength: path.length };
}

// Each loop over all rows has a function of its own with nothing behind it: the engine then keeps what it compiled while
// the first one ran, which halves the time of the second layout.

interface Placing {
  readonly above: Int32Array;
  /** By place: how many rows the shown subtree has. */
  readonly sizes: Int32Array;
  readonly pos: Int32Array;
  /** Where the next child of a row goes; the first is of the place above all first entries. */
  readonly next: Int32Array;
}

function nearestAbove(parents: readonly number[], shown: Uint8Array): Int32Array {
  const above = new Int32Array(shown.length);
  for (let at = 0; at < shown.length; at += 1) {
    const parent = parents[at] ?? NONE;
    // Parents come first, so a hidden parent knows its own shown ancestor already.
    above[at] = parent === NONE || shown[parent] === 1 ? parent : (above[parent] ?? NONE);
  }
  return above;
}

function subtreeSizes(above: Int32Array, shown: Uint8Array): Int32Array {
  const sizes = new Int32Array(shown.length);
  for (let at = shown.length - 1; at >= 0; at -= 1) {
    if (shown[at] === 0) continue;
    const size = (sizes[at] ?? 0) + 1;
    sizes[at] = size;
    const parent = above[at] ?? NONE;
    if (parent !== NONE) sizes[parent] = (sizes[parent] ?? 0) + size;
  }
  return sizes;
}

function shownPath(above: Int32Array, shown: Uint8Array, leaf: number): readonly number[] {
  const path: number[] = [];
  for (let at = shown[leaf] === 1 ? leaf : (above[leaf] ?? NONE); at !== NONE; at = above[at] ?? NONE) path.push(at);
  return path.reverse();
}

function put({ above, sizes, pos, next }: Placing, at: number): void {
  const slot = (above[at] ?? NONE) + 1;
  const here = next[slot] ?? 0;
  pos[at] = here;
  next[slot] = here + (sizes[at] ?? 0);
  next[at + 1] = here + 1;
}

function putRest(placing: Placing, shown: Uint8Array): void {
  const { pos } = placing;
  for (let at = 0; at < shown.length; at += 1) if (shown[at] === 1 && pos[at] === NONE) put(placing, at);
}

function rangesOf({ above, sizes, pos, next }: Placing): Pick<Placement, "order" | "end" | "up"> {
  // By now the next first entry would go behind all rows.
  const count = next[0] ?? 0;
  const order = new Int32Array(count);
  const end = new Int32Array(count);
  const up = new Int32Array(count);
  for (let at = 0; at < pos.length; at += 1) {
    const here = pos[at] ?? NONE;
    if (here === NONE) continue;
    const parent = above[at] ?? NONE;
    order[here] = at;
    end[here] = here + (sizes[at] ?? 0) - 1;
    up[here] = parent === NONE ? NONE : (pos[parent] ?? NONE);
  }
  return { order, end, up };
}

/** A level begins at each child of a branch point and nowhere else: a chain stays in one column, however long it is. */
function levels(end: Int32Array, up: Int32Array): Pick<Placement, "head" | "level"> {
  const head = new Int32Array(end.length);
  const level = new Int32Array(end.length);
  for (let here = 0; here < end.length; here += 1) {
    const parent = up[here] ?? NONE;
    const lastBeside = parent === NONE ? end.length - 1 : (end[parent] ?? NONE);
    const isOnlyChild = here === parent + 1 && end[here] === lastBeside;
    const outer = parent === NONE ? 0 : (level[parent] ?? 0);
    const outerHead = parent === NONE ? NONE : (head[parent] ?? NONE);
    head[here] = isOnlyChild ? outerHead : here;
    level[here] = isOnlyChild ? outer : outer + 1;
  }
  return { head, level };
}

/** Downwards or upwards on the screen. */
export type Direction = 1 | -1;

/** The last pos of a row's subtree; its own where nothing is below it. Constant, as all here that has no other word on it. */
export function endOf(placed: Placement, pos: number): number {
  return placed.end[pos] ?? pos;
}

/** Whether a row is somewhere below another one; `above` may be -1, below which nothing is. */
export function isBelow(placed: Placement, pos: number, above: number): boolean {
  return above !== NONE && above < pos && pos <= endOf(placed, above);
}

/** Whether several shown rows hang on a row. */
export function isBranchPoint(placed: Placement, pos: number): boolean {
  const end = endOf(placed, pos);
  return end > pos && endOf(placed, pos + 1) !== end;
}

/** Whether a row is a branch child or a first entry. */
export function isSegmentStart(placed: Placement, pos: number): boolean {
  return placed.head[pos] === pos || placed.up[pos] === NONE;
}

/** The nearest segment start at or above a row. */
export function segmentStart(placed: Placement, pos: number): number {
  // Above the first branch child there is one segment only: that of the single first entry.
  return Math.max(0, placed.head[pos] ?? NONE);
}

/** The rows of which something holds, from top to bottom. Linear. */
export function rowsWhere(placed: Placement, holds: (placed: Placement, pos: number) => boolean): Int32Array {
  const found: number[] = [];
  for (let pos = 0; pos < placed.order.length; pos += 1) if (holds(placed, pos)) found.push(pos);
  return Int32Array.from(found);
}

/**
 * The next one past `from` that is seen, out of some rows in order; -1: there is none. A step of O(log n) for each fold
 * that hides some of them on the way.
 */
export function nextSeen(placed: Placement, rows: Int32Array, from: number, direction: Direction, ranges: FoldedRanges): number {
  let past = from;
  for (;;) {
    const next = rows[direction === 1 ? countUpTo(rows, past) : countUpTo(rows, past - 1) - 1] ?? NONE;
    const seen = next === NONE ? NONE : ranges.seen(next);
    if (seen === next) return next;
    past = direction === 1 ? endOf(placed, seen) : seen + 1;
  }
}
