import type { ContentBlock, EntryId, Usage } from "@bough/session-core";
import type { Fidelity } from "../extract/fidelity.js";
import type { NothingBecause, Trigger } from "../plan/plan-compaction.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summary-job.js";

/** A compaction that was appended. Tokens count system, tools and messages. */
export interface CompactionDone {
  readonly kind: "compacted";
  readonly entryId: EntryId;
  readonly trigger: Trigger;
  readonly summary: string;
  readonly title: string | null;
  readonly shortSummary: string;
  readonly firstKeptEntryId: EntryId | null;
  /** Who wrote it: a model, a model asked more strictly, the extract, a fixed marker, or a hook. */
  readonly method: SummaryMethod | "hook";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly fidelity: Fidelity | null;
  /** What went wrong on the way and did not stop it: calls that failed, answers that were no summary (`reason`). */
  readonly failures: readonly SummaryFailure[];
  /** The provider's id of the last call's answer, where it told one. */
  readonly requestId: string | null;
  /** What the summary's calls used. */
  readonly usage: Usage | null;
  /** false: the context is still above `trigger.headroomShare` of its threshold, and the automatic path stops until something changed. */
  readonly headroom: boolean;
  /** A prompt to go on with, where work is left (setting `autoContinue`). */
  readonly continuePrompt: string | null;
  readonly checkpointPath: string | null;
  readonly attemptId: string;
}

/** A compaction that failed; the session is as it was. */
export interface CompactionFailure {
  readonly kind: "failed";
  readonly error: Error;
  readonly attemptId: string;
}

/** What became of a compaction. Only `compacted` changed the session. */
export type CompactionResult =
  | CompactionDone
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | { readonly kind: "cancelled"; readonly by: "signal" | "hook" | "navigation" }
  /** The leaf was moved, or another compaction was faster: the summary describes a branch nobody is on. */
  | { readonly kind: "superseded" }
  /** It will run when the turn is over. */
  | { readonly kind: "deferred" }
  | CompactionFailure;

/** What to do when the leaf is moved. */
export interface NavigateOptions {
  /** Leave a summary of the branch that is left, on the one that is entered. Default: setting `branch.summarize`. */
  readonly summarize?: boolean | undefined;
  /** What the summary should look at. */
  readonly instructions?: string | undefined;
  /** The instructions are the whole prompt, in place of ours. */
  readonly replaceInstructions?: boolean | undefined;
  /** A label for the summary, or where there is none, for the chosen entry. */
  readonly label?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The leaf was moved. */
export interface NavigationDone {
  readonly kind: "moved";
  readonly from: EntryId | null;
  /** Where the leaf stands now: the summary, where there is one. */
  readonly leafId: EntryId | null;
  /** The text of the chosen message, for editing; null: nothing to edit. */
  readonly text: string | null;
  readonly images: readonly ContentBlock[];
  readonly summaryEntryId: EntryId | null;
  readonly summary: string | null;
  readonly method: SummaryMethod | "hook" | null;
  readonly usage: Usage | null;
  /** The context ends with something that waits for a reply, so that an agent can go on at once (regression R80). */
  readonly expectsReply: boolean;
}

/** What became of a navigation. The leaf has moved only for `moved`. */
export type NavigationResult =
  | NavigationDone
  /** The leaf stands there already. */
  | {
      readonly kind: "already-there";
      readonly leafId: EntryId | null;
      readonly text: string | null;
      readonly images: readonly ContentBlock[];
    }
  | { readonly kind: "cancelled"; readonly by: "signal" | "hook" }
  /** The summary could not be written. Navigate again without one, or with another summariser. */
  | { readonly kind: "failed"; readonly error: Error };
