import type { OutlineRow } from "@bough/session-core";

/** All filters, in the order in which a key cycles through them. */
export const TREE_FILTERS = ["default", "no-tools", "user", "labeled", "summaries", "all"] as const;

/**
 * Which rows of a tree are shown. `default`: the conversation, without tool results and bookkeeping; `no-tools`: the same without
 * replies that only call tools; `user`: the user's messages; `labeled`: entries with a label; `summaries`: compactions and branch
 * summaries; `all`: every row.
 */
export type TreeFilter = (typeof TREE_FILTERS)[number];

interface FilterRule {
  /** Its bit in the result of `filterBits`. */
  readonly bit: number;
  /** Whether it shows a row because of its kind. Labels and leaves are added by `shownRows`. */
  readonly shows: (row: OutlineRow) => boolean;
  /**
   * Whether the navigator also shows all leaves and labeled entries. A filter that selects one kind of entry adds only the
   * current leaf, so that the user sees the current position.
   */
  readonly keepsMarks: boolean;
}

const RULES: Readonly<Record<TreeFilter, FilterRule>> = {
  default: { bit: 1, shows: isConversation, keepsMarks: true },
  "no-tools": { bit: 2, shows: (row) => isConversation(row) && !isOnlyCalls(row), keepsMarks: true },
  user: { bit: 4, shows: ({ role }) => role === "user", keepsMarks: false },
  labeled: { bit: 8, shows: () => false, keepsMarks: false },
  summaries: { bit: 16, shows: ({ type }) => type === "compaction" || type === "branch_summary", keepsMarks: false },
  all: { bit: 32, shows: () => true, keepsMarks: true },
};

const RULE_LIST = TREE_FILTERS.map((filter) => RULES[filter]);

/** Whether a filter shows all leaves and labeled entries in the navigator. */
export function keepsMarks(filter: TreeFilter): boolean {
  return RULES[filter].keepsMarks;
}

/** The bit of a filter in the result of `filterBits`. */
export function filterBit(filter: TreeFilter): number {
  return RULES[filter].bit;
}

/** The filters that show a row because of its kind, one bit each. */
export function filterBits(row: OutlineRow): number {
  let bits = 0;
  for (const { bit, shows } of RULE_LIST) if (shows(row)) bits |= bit;
  return bits;
}

function isConversation(row: OutlineRow): boolean {
  switch (row.type) {
    case "message":
      // A `custom` message was inserted by a program (reminder, command output).
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

// The preview of a reply has its text before its calls, so a preview that starts with a call has no text.
function isOnlyCalls(row: OutlineRow): boolean {
  return row.role === "assistant" && !row.isError && /^\[[^\]\s]+[^\]]*\]/.test(row.preview);
}
