import type { EntryId, LeafRecord } from "@bough/session-core";
import { FILTER_BITS_END, filterBit, NAVIGATOR_FILTERS, type NavigatorFilter, showsMarks } from "./navigator-filter.js";
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
  const shown = filtered(index, question);
  if (question.hits === undefined) return shown;
  const related = withAncestors(index, question.hits);
  for (let at = 0; at < shown.length; at += 1) if (related[at] === 0) shown[at] = 0;
  for (const at of question.hits) shown[at] = 1;
  return shown;
}

/** How many rows each filter shows, search aside. Linear, one pass. */
export function filterCounts(index: TreeIndex, marks: Marks): Readonly<Record<NavigatorFilter, number>> {
  const counts = { default: 0, "no-tools": 0, user: 0, labeled: 0, summaries: 0, all: 0 };
  const tally = new Int32Array(FILTER_BITS_END);
  for (let at = 0; at < index.size; at += 1) {
    const bits = index.filterBitsOf(at);
    tally[bits] = (tally[bits] ?? 0) + 1;
  }
  for (const filter of NAVIGATOR_FILTERS) {
    const bit = filterBit(filter);
    for (const [bits, count] of tally.entries()) if ((bits & bit) !== 0) counts[filter] += count;
    for (const at of alwaysShown(index, marks, filter)) if ((index.filterBitsOf(at) & bit) === 0) counts[filter] += 1;
  }
  return counts;
}

function filtered(index: TreeIndex, question: LayoutQuestion): Uint8Array {
  const shown = new Uint8Array(index.size);
  const bit = filterBit(question.filter);
  for (let at = 0; at < shown.length; at += 1) shown[at] = (index.filterBitsOf(at) & bit) === 0 ? 0 : 1;
  for (const at of alwaysShown(index, question, question.filter)) shown[at] = 1;
  return shown;
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

function withAncestors(index: TreeIndex, hits: readonly number[]): Uint8Array {
  const related = new Uint8Array(index.size);
  for (const hit of hits) {
    // Where one path joins another, the rest is marked already: each row is walked once.
    for (let at = hit; at !== NONE && related[at] === 0; at = index.parentOf(at)) related[at] = 1;
  }
  return related;
}
