import type { OutlineRow } from "@bough/session-core";

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
