import type { EntryId, LeafRecord } from "@bough/session-core";
import { FILTER_BITS_END, filterBit, NAVIGATOR_FILTERS, type NavigatorFilter, showsMarks } from "./filter.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/** What is marked in a tree. */
export interface Marks {
  /** The current leaf; null: before the first entry. */
  readonly leafId: EntryId | null;
  /** Entries with labels, as a set or as a map by entry. */
  readonly labelled: { keys(): Iterable<EntryId> };
  readonly leaves: readonly LeafRecord[];
}

/** What decides which rows are seen. */
export interface LayoutQuestion extends Marks {
  readonly filter: NavigatorFilter;
  /** Of a search: only these rows are seen, and of their ancestors those that the filter shows. Places in the index. */
  readonly hits?: readonly number[] | undefined;
}

/** 1 for each row that is seen, 0 for each other one. Linear. */
export function shownRows(index: TreeIndex, question: LayoutQuestion): Uint8Array {
  const shown = withBit(index.filterBits, filterBit(question.filter));
  for (const at of alwaysShown(index, question, question.filter)) shown[at] = 1;
  if (question.hits === undefined) return shown;
  return masked(shown, withAncestors(index.parents, question.hits), question.hits);
}

/** How many rows each filter shows, search aside. Linear, one pass. */
export function filterCounts(index: TreeIndex, marks: Marks): Readonly<Record<NavigatorFilter, number>> {
  const counts = { default: 0, "no-tools": 0, user: 0, labeled: 0, summaries: 0, all: 0 };
  const tally = tallied(index.filterBits);
  for (const filter of NAVIGATOR_FILTERS) {
    const bit = filterBit(filter);
    for (const [bits, count] of tally.entries()) if ((bits & bit) !== 0) counts[filter] += count;
    for (const at of alwaysShown(index, marks, filter)) if (((index.filterBits[at] ?? 0) & bit) === 0) counts[filter] += 1;
  }
  return counts;
}

// Each loop over all rows has a function of its own with nothing behind it: the engine then keeps what it compiled while
// the first one ran, which halves the time of the second layout.

function tallied(bits: readonly number[]): Int32Array {
  const tally = new Int32Array(FILTER_BITS_END);
  for (const set of bits) tally[set] = (tally[set] ?? 0) + 1;
  return tally;
}

function withBit(bits: readonly number[], bit: number): Uint8Array {
  const shown = new Uint8Array(bits.length);
  for (let at = 0; at < shown.length; at += 1) shown[at] = ((bits[at] ?? 0) & bit) === 0 ? 0 : 1;
  return shown;
}

function masked(shown: Uint8Array, related: Uint8Array, hits: readonly number[]): Uint8Array {
  const both = shown.map((isShown, at) => isShown & (related[at] ?? 0));
  for (const at of hits) both[at] = 1;
  return both;
}

function alwaysShown(index: TreeIndex, { leafId, labelled, leaves }: Marks, filter: NavigatorFilter): ReadonlySet<number> {
  const places = new Set<number>();
  const add = (id: EntryId | null) => places.add(id === null ? NONE : index.placeOf(id));
  add(leafId);
  if (filter === "labeled" || showsMarks(filter)) for (const id of labelled.keys()) add(id);
  if (showsMarks(filter)) for (const { entryId } of leaves) add(entryId);
  places.delete(NONE);
  return places;
}

function withAncestors(parents: readonly number[], hits: readonly number[]): Uint8Array {
  const related = new Uint8Array(parents.length);
  for (const hit of hits) {
    // Where one path joins another, the rest is marked already: each row is walked once.
    for (let at = hit; at >= 0 && related[at] === 0; at = parents[at] ?? NONE) related[at] = 1;
  }
  return related;
}
