import type { ContentBlock, EntryId, Usage } from "@bough/session-core";
import type { Fidelity } from "../extract/facts.js";
import type { NothingBecause, Trigger } from "../plan/plan-compaction.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summarizer-client.js";

/** A compaction that was appended. Token counts include system prompt, tools and messages. */
export interface CompactionDone {
  readonly kind: "compacted";
  readonly entryId: EntryId;
  readonly trigger: Trigger;
  readonly summary: string;
  readonly title: string | null;
  readonly shortSummary: string;
  readonly firstKeptEntryId: EntryId | null;
  /** Source of the summary: a model, a model asked more strictly, the extract, a fixed marker, or a hook. */
  readonly method: SummaryMethod | "hook";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly fidelity: Fidelity | null;
  /** Failures that did not stop the compaction: failed calls, and replies that are not a summary (`reason`). */
  readonly failures: readonly SummaryFailure[];
  /** The provider's id of the last call's response; null: it reported none. */
  readonly requestId: string | null;
  /** Sum over the summary's calls. */
  readonly usage: Usage | null;
  /**
   * false: the context is still above `trigger.headroomShare` of its threshold or has too many messages. Automatic
   * compaction then pauses until the context, the turn or the limits change.
   */
  readonly headroom: boolean;
  /** A prompt to continue with when work is left (setting `autoContinue`). */
  readonly continuePrompt: string | null;
  readonly checkpointPath: string | null;
  readonly attemptId: string;
}

/** A compaction that failed. The session is unchanged. */
export interface CompactionFailure {
  readonly kind: "failed";
  readonly error: Error;
  readonly attemptId: string;
}

/** Result of a compaction. Only `compacted` changed the session. */
export type CompactionResult =
  | CompactionDone
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | { readonly kind: "cancelled"; readonly by: "signal" | "hook" }
  /** While the summary was written, the leaf moved to another branch or another compaction was appended. */
  | { readonly kind: "superseded" }
  /** The compaction will run at the end of the turn. */
  | { readonly kind: "deferred" }
  | CompactionFailure;

/** Result of `reportOverflow`. */
export type OverflowResult =
  /** Prepare the request again and send it: the failed attempt was removed from the context, and the limit was lowered. */
  | { readonly kind: "retry"; readonly compaction: CompactionResult }
  /** The error is not a context overflow (but a rate limit, for example). Nothing was done. */
  | { readonly kind: "not-overflow" }
  /** The retry overflowed too, and no request succeeded since. Nothing was done; show the error to the user. */
  | { readonly kind: "gave-up" }
  | { readonly kind: "cancelled" };

/** Result of `undoCompaction`. `compactionId`: the compaction that no longer applies; `entryId`: the edit that omits it. */
export type UndoResult =
  | { readonly kind: "undone"; readonly compactionId: EntryId; readonly entryId: EntryId }
  | { readonly kind: "nothing-to-undo" };

/** The leaf was moved. */
export interface NavigationDone {
  readonly kind: "moved";
  readonly from: EntryId | null;
  /** The new leaf: the summary's entry if one was written. */
  readonly leafId: EntryId | null;
  /** Text of the chosen user message, to edit and send again; null: another kind of entry was chosen. */
  readonly text: string | null;
  readonly images: readonly ContentBlock[];
  readonly summaryEntryId: EntryId | null;
  readonly summary: string | null;
  readonly method: SummaryMethod | "hook" | null;
  readonly usage: Usage | null;
  /** True if the context ends with a message that needs a reply, so that an agent can call the model at once. */
  readonly expectsReply: boolean;
}

/** Result of `navigate`. Only `moved` changed the session. */
export type NavigationResult =
  | NavigationDone
  /** The chosen entry is the leaf, or the leaf is where the choice would move it. */
  | {
      readonly kind: "already-there";
      readonly leafId: EntryId | null;
      readonly text: string | null;
      readonly images: readonly ContentBlock[];
    }
  | { readonly kind: "cancelled"; readonly by: "signal" | "hook" }
  /** The summary could not be written. Navigate again without a summary or with another summarizer. */
  | { readonly kind: "failed"; readonly error: Error };
