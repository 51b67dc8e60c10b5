import type { CompactionPayload } from "../entry/entry.js";
import type { AssistantMessage, BashExecutionMessage, CustomMessage, ToolResultMessage, UserMessage } from "../entry/message.js";
import type { NativeCompaction } from "../entry/native-compaction.js";
import type { EntryId } from "../ids/ids.js";

/** The summary of the latest compaction of the path. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  readonly tokensBefore?: number | undefined;
  /** The provider's own form of the summary. The converters send it instead of the text where provider and model fit. */
  readonly native?: NativeCompaction | undefined;
}

/** The summary of a branch that was left. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  /** The leaf of the branch that was left. */
  readonly fromId: EntryId | null;
}

/** A message of a context. System messages are not among them: the text of the latest one is the context's `system`. */
export type ContextMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | CompactionSummaryMessage
  | BranchSummaryMessage;

/** The model that is in use at a point of the path. */
export interface ModelSetting {
  readonly provider: string | undefined;
  readonly modelId: string;
}

/** The input of a model at one point of a session. Later contexts share the messages, which are frozen: copy a message to change it. */
export interface SessionContext {
  readonly messages: readonly ContextMessage[];
  /**
   * `entries[i]` is the id of the entry of `messages[i]`. The synthetic result of a tool call without a result has the id of
   * the entry that made the call.
   */
  readonly entries: readonly EntryId[];
  readonly model: ModelSetting | null;
  /** null: not set on the path, or set to the host's default. */
  readonly thinkingLevel: string | null;
  /** The text of the latest system message of the path, also if a compaction summarized it. */
  readonly system: string | null;
  /** The compaction whose summary is the first message. */
  readonly compaction: { readonly entryId: EntryId; readonly payload: CompactionPayload } | null;
  /**
   * The replies whose signed thinking is no longer valid, because something before them changed after they were produced: models that
   * check this reject it. The converters leave it out. Missing: there are none.
   */
  readonly staleThinking?: readonly StaleThinking[] | undefined;
}

/**
 * The reason why the thinking of a reply is no longer valid: after the reply, something before it changed.
 *
 * - `compaction`: a summary replaced it, or was undone; `edit`: an edit or a pruning changed or omitted an entry;
 * - `system`: another system message; `result`: the result of an earlier call arrived after the reply;
 * - `request`: the request of the reply was shortened, so no later request begins as it did.
 */
export type StaleReason = "compaction" | "edit" | "system" | "result" | "request";

/** A reply whose signed thinking is not valid behind the messages that stand before it now. */
export interface StaleThinking {
  readonly entryId: EntryId;
  readonly because: StaleReason;
  /** True: it stays valid in a request that starts with the provider's own compaction, which stands for what it replaced. */
  readonly unlessNative?: boolean | undefined;
}
