import type { OutlineRow } from "@bough/session-core";
import { isShown } from "../tree-drawing/filter.js";

/** Which rows the navigator shows; the first four as in drawings of a tree (`TreeFilter`). */
export type NavigatorFilter = "default" | "no-tools" | "user" | "labeled" | "summaries" | "all";

/** All filters, in the order in which a key goes round them. */
export const NAVIGATOR_FILTERS: readonly NavigatorFilter[] = ["default", "no-tools", "user", "labeled", "summaries", "all"];

/**
 * Whether a filter shows all leaves and labelled entries besides its own rows. Those that pick out one kind of entry
 * show only the current leaf besides, so that the person sees where they are.
 */
export function showsMarks(filter: NavigatorFilter): boolean {
  return filter === "default" || filter === "no-tools" || filter === "all";
}

const DEFAULT = 1;
const NO_TOOLS = 2;
const USER = 4;
const LABELED = 8;
const SUMMARIES = 16;
const ALL = 32;
const BITS = { default: DEFAULT, "no-tools": NO_TOOLS, user: USER, labeled: LABELED, summaries: SUMMARIES, all: ALL };

/** Every `filterBits` is below this. */
export const FILTER_BITS_END = 64;

/** The bit of a filter in what `filterBits` returns. */
export function filterBit(filter: NavigatorFilter): number {
  return BITS[filter];
}

/** The filters that show a row for what it is, one bit each. Labels and leaves are left aside, so `labeled` never is among them. */
export function filterBits(row: OutlineRow): number {
  let bits = ALL;
  // What is shown without tool calls is shown with them.
  if (isShown(row, "default")) bits |= isShown(row, "no-tools") ? DEFAULT | NO_TOOLS : DEFAULT;
  if (isShown(row, "user")) bits |= USER;
  if (row.type === "compaction" || row.type === "branch_summary") bits |= SUMMARIES;
  return bits;
}
