import { NONE, type VisibleTree } from "./visible-tree.js";

/** One level of lines on the left of a row; the levels above it hang on it. */
export interface Gutter {
  readonly above: Gutter | null;
  /** Whether no branch follows below this one. */
  readonly isLast: boolean;
  /** How many levels there are, this one included. */
  readonly depth: number;
}

/** A row of the drawing, in its place from top to bottom. */
export interface PlacedRow {
  readonly kind: "row";
  /** Index of the row in the tree. */
  readonly at: number;
  readonly gutter: Gutter | null;
  /** Whether a branch starts here: the deepest level of the gutter is drawn as a connector. */
  readonly starts: boolean;
}

/**
 * The shown rows from top to bottom. A level of indentation begins at each branch point and nowhere else: a chain of
 * single children stays in one column, however long it is.
 */
export function placedRows(tree: VisibleTree): readonly PlacedRow[] {
  const placed: PlacedRow[] = [];
  const waiting: PlacedRow[] = [];
  pushChildren(tree, tree.rows.length, null, waiting);
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    placed.push(row);
    pushChildren(tree, row.at, row.gutter, waiting);
  }
  return placed;
}

function pushChildren({ firstChild, nextSibling }: VisibleTree, parent: number, gutter: Gutter | null, waiting: PlacedRow[]): void {
  const first = firstChild[parent] ?? NONE;
  if (first === NONE) return;
  if ((nextSibling[first] ?? NONE) === NONE) {
    waiting.push({ kind: "row", at: first, gutter, starts: false });
    return;
  }
  const depth = (gutter?.depth ?? 0) + 1;
  const children: PlacedRow[] = [];
  for (let at = first; at !== NONE; at = nextSibling[at] ?? NONE) {
    const isLast = (nextSibling[at] ?? NONE) === NONE;
    children.push({ kind: "row", at, gutter: { above: gutter, isLast, depth }, starts: true });
  }
  // What is pushed last is drawn first.
  for (let child = children.pop(); child !== undefined; child = children.pop()) waiting.push(child);
}
