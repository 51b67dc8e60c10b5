import type { EntryType } from "./entry.js";
import type { MessageRole } from "./message.js";

/** Every type an entry can have, in the order of the documentation. */
export const ENTRY_TYPES = [
  "message",
  "compaction",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "context_edit",
  "custom_message",
  "custom",
  "foreign",
] as const satisfies readonly EntryType[];

/** Every role a message can have. */
export const MESSAGE_ROLES = [
  "system",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
] as const satisfies readonly MessageRole[];
