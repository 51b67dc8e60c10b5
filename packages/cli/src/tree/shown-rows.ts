import type { EntryId, LeafRecord } from "@bough/session-core";
import { filterBit, keepsMarks } from "./filter.js";
import type { TreeFilter } from "./filter-names.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/** Options that decide which rows of a tree are shown, and in which order. */
export interface LayoutOptions {
  readonly filter: TreeFilter;
  /** The current leaf, whose path comes first; null: before the first entry. */
  readonly leafId: EntryId | null;
  readonly leaves: readonly LeafRecord[];
  /** Entries with labels, as a set or as a map by entry. */
  readonly labeled: { keys(): Iterable<EntryId>; has(id: EntryId): boolean };
  /**
   * True if all leaves and labeled entries are shown under every filter. Printed trees do so; in the navigator it depends on the
   * filter (`keepsMarks`).
   */
  readonly showsAllMarks?: boolean | undefined;
  /** Row numbers of search hits: only these rows are shown, and those of their ancestors that the filter shows. */
  readonly hits?: readonly number[] | undefined;
  /** True to show only the hits themselves: each is drawn below its nearest ancestor that is a hit too. */
  readonly hitsOnly?: boolean | undefined;
  /** True if replies in a row that only call tools are drawn as one row. */
  readonly foldsCalls?: boolean | undefined;
  /** True if large side branches start folded. */
  readonly foldsBranches?: boolean | undefined;
}

/** By row number: 1 if the row is shown, else 0. Linear. */
export function shownRows(index: TreeIndex, options: LayoutOptions): Uint8Array {
  if (options.hits !== undefined && options.hitsOnly === true) return rowsAt(index.size, options.hits);
  const shown = rowsWithBit(index.filterBits, filterBit(options.filter));
  for (const at of markedRows(index, options)) shown[at] = 1;
  if (options.hits === undefined) return shown;
  return onlyHits(shown, withAncestors(index.parents, options.hits), options.hits);
}

// Each loop over all rows is a function of its own with nothing after the loop: V8 then keeps the code that it optimized during
// the first layout, which halves the time of the second one.

function rowsWithBit(bits: Uint8Array, bit: number): Uint8Array {
  const shown = new Uint8Array(bits.length);
  for (let at = 0; at < shown.length; at += 1) shown[at] = ((bits[at] ?? 0) & bit) === 0 ? 0 : 1;
  return shown;
}

function rowsAt(size: number, rows: readonly number[]): Uint8Array {
  const shown = new Uint8Array(size);
  for (const at of rows) shown[at] = 1;
  return shown;
}

function onlyHits(shown: Uint8Array, related: Uint8Array, hits: readonly number[]): Uint8Array {
  const both = shown.map((isShown, at) => isShown & (related[at] ?? 0));
  for (const at of hits) both[at] = 1;
  return both;
}

/**
 * The row at which a leaf is drawn: the nearest one of the conversation or with a label, at the leaf or above it, because programs end
 * their sessions with records that no filter but `all` shows. Without such a row its own; -1: it is before the first entry.
 */
export function leafRow(index: TreeIndex, leafId: EntryId | null, { filter, labeled }: Pick<LayoutOptions, "filter" | "labeled">): number {
  const own = leafId === null ? NONE : index.indexOf(leafId);
  if (filter === "all") return own;
  for (let at = own; at !== NONE; at = index.parentOf(at)) {
    if (((index.filterBits[at] ?? 0) & filterBit("default")) !== 0 || labeled.has(index.idOf(at))) return at;
  }
  return own;
}

/** The rows that are shown because the leaf, another leaf or a label points to them. */
export function markedRows(index: TreeIndex, { filter, leafId, leaves, labeled, showsAllMarks }: LayoutOptions): Set<number> {
  const rows = new Set<number>();
  const add = (id: EntryId | null) => rows.add(id === null ? NONE : index.indexOf(id));
  const showsAll = showsAllMarks === true || keepsMarks(filter);
  rows.add(leafRow(index, leafId, { filter, labeled }));
  if (showsAll || filter === "labeled") for (const id of labeled.keys()) add(id);
  if (showsAll) for (const { entryId } of leaves) rows.add(leafRow(index, entryId, { filter, labeled }));
  rows.delete(NONE);
  return rows;
}

function withAncestors(parents: Int32Array, hits: readonly number[]): Uint8Array {
  const related = new Uint8Array(parents.length);
  for (const hit of hits) {
    // Stops where the path joins one that is marked already, so that each row is visited once.
    for (let at = hit; at >= 0 && related[at] === 0; at = parents[at] ?? NONE) related[at] = 1;
  }
  return related;
}
