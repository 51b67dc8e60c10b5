import type { FoldedRanges } from "./folded-ranges.js";
import type { Placement } from "./placement.js";
import { countUpTo } from "./sorted.js";
import { NONE } from "./tree-index.js";

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
