import type { OutlineRow } from "@bough/session-core";

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

/**
 * Which rows of a tree are shown. `default`: no tool results and no bookkeeping; `no-tools`: no tool calls either;
 * `user`: only what the person said; `all`: everything. Leaves and labelled entries are shown under each of them.
 */
export type TreeFilter = "default" | "no-tools" | "user" | "all";

/** Whether a row is shown, leaving leaves and labels aside. */
export function isShown(row: OutlineRow, filter: TreeFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "user":
      return row.role === "user";
    case "default":
      return isConversation(row);
    case "no-tools":
      return isConversation(row) && !isOnlyCalls(row);
  }
}

function isConversation(row: OutlineRow): boolean {
  switch (row.type) {
    case "message":
      // What a program put between the messages of a person (reminders, command output) is bookkeeping here.
      return row.role !== "toolResult" && row.role !== "custom";
    case "compaction":
    case "branch_summary":
    case "custom_message":
      return true;
    case "model_change":
    case "thinking_level_change":
    case "context_edit":
    case "custom":
    case "foreign":
      return false;
  }
}

// The preview of a reply puts its text before its calls, so one that starts with a call has nothing else.
function isOnlyCalls(row: OutlineRow): boolean {
  return row.role === "assistant" && !row.isError && /^\[[^\]\s]+[^\]]*\]/.test(row.preview);
}
