import type { LeafRecord, OutlineRow } from "@bough/session-core";
import { isShown, type TreeFilter } from "./filter.js";

/** No row. */
export const NONE = -1;

/**
 * The rows of a tree that a filter lets through. A hidden row's children hang on its nearest shown ancestor, so that
 * connectors are right on what is seen (regression R145). Links are indices into `rows`; `rows.length` is the place
 * above all first entries.
 */
export interface VisibleTree {
  readonly rows: readonly OutlineRow[];
  readonly shown: Uint8Array;
  /** Whether a row is on the path of the leaf. */
  readonly onPath: Uint8Array;
  /** The first child to draw: the one on the leaf's path before all others, then by order of arrival. */
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
}

/** What decides which rows are seen. */
export interface TreeQuestion {
  readonly rows: readonly OutlineRow[];
  readonly leaves: readonly LeafRecord[];
  /** Entries with labels: always shown. */
  readonly labelled: { has(entryId: string): boolean };
  readonly leafId: string | null;
  readonly filter: TreeFilter;
}

/** Linear in the number of rows, and without recursion (regression R183). */
export function visibleTree(question: TreeQuestion): VisibleTree {
  const { rows, labelled, filter } = question;
  const parents = parentIndices(rows);
  const onPath = pathTo(question.leafId, rows, parents);
  const marked = new Set(question.leaves.map(({ entryId }) => entryId));
  const shown = new Uint8Array(rows.length);
  for (const [at, row] of rows.entries()) shown[at] = marked.has(row.id) || labelled.has(row.id) || isShown(row, filter) ? 1 : 0;
  return { rows, shown, onPath, ...linked(parents, shown, onPath) };
}

function parentIndices(rows: readonly OutlineRow[]): Int32Array {
  const places = new Map<number, number>();
  const parents = new Int32Array(rows.length);
  for (const [at, row] of rows.entries()) {
    places.set(row.seq, at);
    parents[at] = row.parentSeq === null ? rows.length : (places.get(row.parentSeq) ?? rows.length);
  }
  return parents;
}

function pathTo(leafId: string | null, rows: readonly OutlineRow[], parents: Int32Array): Uint8Array {
  const onPath = new Uint8Array(rows.length);
  for (let at = rows.findIndex(({ id }) => id === leafId); at !== NONE && at < rows.length; at = parents[at] ?? NONE) onPath[at] = 1;
  return onPath;
}

function linked(parents: Int32Array, shown: Uint8Array, onPath: Uint8Array): Pick<VisibleTree, "firstChild" | "nextSibling"> {
  const top = parents.length;
  const above = new Int32Array(top + 1).fill(top);
  for (let at = 0; at < top; at += 1) {
    const parent = parents[at] ?? top;
    // Parents come first, so a hidden parent knows its own shown ancestor already.
    above[at] = parent === top || shown[parent] === 1 ? parent : (above[parent] ?? top);
  }
  const firstChild = new Int32Array(top + 1).fill(NONE);
  const nextSibling = new Int32Array(top + 1).fill(NONE);
  const putFirst = (at: number) => {
    const parent = above[at] ?? top;
    nextSibling[at] = firstChild[parent] ?? NONE;
    firstChild[parent] = at;
  };
  for (let at = top - 1; at >= 0; at -= 1) if (shown[at] === 1 && onPath[at] === 0) putFirst(at);
  for (let at = top - 1; at >= 0; at -= 1) if (shown[at] === 1 && onPath[at] === 1) putFirst(at);
  return { firstChild, nextSibling };
}

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
