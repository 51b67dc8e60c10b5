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
  const above = nearestAbove(index, shown);
  const sizes = subtreeSizes(above, shown);
  const path = shownPath(above, shown, leaf);
  const pos = positions(above, shown, sizes, path);
  return { above, pos, ...ranges(above, pos, sizes), pathLength: path.length };
}

function nearestAbove(index: TreeIndex, shown: Uint8Array): Int32Array {
  const above = new Int32Array(shown.length);
  for (let at = 0; at < shown.length; at += 1) {
    const parent = index.parentOf(at);
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

function positions(above: Int32Array, shown: Uint8Array, sizes: Int32Array, path: readonly number[]): Int32Array {
  const pos = new Int32Array(shown.length).fill(NONE);
  // Where the next child of a row goes; the first is of the place above all first entries.
  const next = new Int32Array(shown.length + 1);
  const put = (at: number) => {
    const slot = (above[at] ?? NONE) + 1;
    const here = next[slot] ?? 0;
    pos[at] = here;
    next[slot] = here + (sizes[at] ?? 0);
    next[at + 1] = here + 1;
  };
  for (const at of path) put(at);
  for (let at = 0; at < shown.length; at += 1) if (shown[at] === 1 && pos[at] === NONE) put(at);
  return pos;
}

function ranges(above: Int32Array, pos: Int32Array, sizes: Int32Array): Pick<Placement, "order" | "end" | "up" | "head" | "level"> {
  let count = 0;
  for (let at = 0; at < pos.length; at += 1) if (pos[at] !== NONE) count += 1;
  const order = new Int32Array(count);
  const end = new Int32Array(count);
  const up = new Int32Array(count);
  for (let at = 0; at < pos.length; at += 1) {
    const here = pos[at] ?? NONE;
    if (here === NONE) continue;
    order[here] = at;
    end[here] = here + (sizes[at] ?? 0) - 1;
    up[here] = pos[above[at] ?? NONE] ?? NONE;
  }
  return { order, end, up, ...levels(end, up) };
}

/** A level begins at each child of a branch point and nowhere else: a chain stays in one column, however long it is. */
function levels(end: Int32Array, up: Int32Array): Pick<Placement, "head" | "level"> {
  const head = new Int32Array(end.length);
  const level = new Int32Array(end.length);
  for (let here = 0; here < end.length; here += 1) {
    const parent = up[here] ?? NONE;
    const isOnlyChild = here === parent + 1 && end[here] === (parent === NONE ? end.length - 1 : end[parent]);
    head[here] = isOnlyChild ? (head[parent] ?? NONE) : here;
    level[here] = (level[parent] ?? 0) + (isOnlyChild ? 0 : 1);
  }
  return { head, level };
}
