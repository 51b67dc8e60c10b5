import type { EntryId, Usage } from "@bough/session-core";
import type { Change } from "../fit/request-parts.js";
import type { StallReason } from "../plan/decide.js";
import type { TokenUse } from "../plan/limits.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summarizer-client.js";
import type { CompactionDone } from "./results.js";

/** Events of a compactor, for screens, logs and telemetry. */
export type CompactionEvent =
  | {
      readonly type: "compactionStart";
      readonly attemptId: string;
      readonly trigger: Trigger;
      readonly background: boolean;
      readonly use: TokenUse;
    }
  | { readonly type: "compactionProgress"; readonly attemptId: string; readonly stage: string; readonly chars: number }
  | CompactionComplete
  /** A summary of the abandoned branch is being written. `toId`: where the leaf will move. */
  | {
      readonly type: "branchSummaryStart";
      readonly attemptId: string;
      readonly fromId: EntryId;
      readonly toId: EntryId | null;
    }
  | {
      readonly type: "branchSummaryComplete";
      readonly attemptId: string;
      readonly success: boolean;
      readonly error: { readonly code: string; readonly message: string } | null;
      readonly method: SummaryMethod | "hook" | null;
      readonly usage: Usage | null;
    }
  /** A request was shortened to fit: messages were dropped or cut. The session is unchanged. */
  | {
      readonly type: "truncation";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      readonly changes: readonly Change[];
    }
  /** Token use of each prepared request. `isInitial`: the first one of this compactor. */
  | { readonly type: "usageInfo"; readonly use: TokenUse; readonly messages: number; readonly isInitial: boolean }
  /** Old tool output was shortened in the context by edits. */
  | { readonly type: "pruned"; readonly edits: number; readonly savedTokens: number }
  /** System prompt and tools alone take at least 80 % of the limit, which no compaction can change. */
  | { readonly type: "usageWarning"; readonly fixedTokens: number; readonly limitTokens: number }
  /** Automatic compaction pauses. */
  | { readonly type: "stalled"; readonly because: StallReason }
  | { readonly type: "hookFailed"; readonly hook: string; readonly error: unknown }
  | { readonly type: "checkpointFailed"; readonly error: unknown };

/** The end of an attempt. Every field is present; those that do not apply to the outcome are null. */
export interface CompactionComplete {
  readonly type: "compactionComplete";
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly background: boolean;
  readonly success: boolean;
  /** Of a failure: its code, one line of text, and the HTTP status if a provider rejected the call. */
  readonly error: { readonly code: string; readonly message: string; readonly status?: number | undefined } | null;
  readonly outcome: "compacted" | "nothing-to-compact" | "cancelled" | "superseded" | "discarded" | "failed";
  readonly entryId: EntryId | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  readonly messagesBefore: number | null;
  readonly messagesAfter: number | null;
  /** Sum over the summary's calls, also when the attempt did not succeed. */
  readonly usage: Usage | null;
  /** Token use after the compaction. */
  readonly useAfter: TokenUse | null;
  readonly method: CompactionDone["method"] | null;
  /** Share of the source's facts that the summary has, 0 to 1. */
  readonly fidelity: number | null;
  /** Failures that did not stop the attempt. */
  readonly failures: readonly SummaryFailure[];
  /** The provider's id of the last call's response. */
  readonly requestId: string | null;
  readonly checkpointPath: string | null;
  readonly checkpointNumber: number | null;
}

/** Receives events. Errors that it throws are ignored, so that a listener cannot stop a compaction. */
export type EventListener = (event: CompactionEvent) => void;
