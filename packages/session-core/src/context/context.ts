import type { CompactionPayload } from "../entry/entry.js";
import type { AssistantMessage, BashExecutionMessage, CustomMessage, ToolResultMessage, UserMessage } from "../entry/message.js";
import type { EntryId } from "../ids/ids.js";

/** The latest compaction of the path, as the model reads it. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  readonly tokensBefore?: number | undefined;
}

/** What happened on a branch that was left, as the model reads it. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  /** The leaf of the branch that was left. */
  readonly fromId: EntryId | null;
}

/** What can stand in a context. System messages do not: the latest one of the path is the context's `system`. */
export type ContextMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | CompactionSummaryMessage
  | BranchSummaryMessage;

/** Which model answers from here on. */
export interface ModelSetting {
  readonly provider: string | undefined;
  readonly modelId: string;
}

/** What a model is sent at one point of a session. Its messages are shared with later contexts and frozen: copy what you want to change. */
export interface SessionContext {
  readonly messages: readonly ContextMessage[];
  /**
   * `entries[i]` is the id of the entry behind `messages[i]`; a synthetic result that closes a dangling tool call has
   * the id of the entry that made the call.
   */
  readonly entries: readonly EntryId[];
  readonly model: ModelSetting | null;
  /** null: none was set on the path, or the host's default. */
  readonly thinkingLevel: string | null;
  /** Text of the latest system message of the path, also where a compaction has put it out of the messages. */
  readonly system: string | null;
  /** The compaction that the context starts with. */
  readonly compaction: { readonly entryId: EntryId; readonly payload: CompactionPayload } | null;
}
