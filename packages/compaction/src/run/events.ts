import type { EntryId, Usage } from "@bough/session-core";
import type { Change } from "../fit/request-parts.js";
import type { Stall } from "../plan/decide.js";
import type { TokenUse } from "../plan/limits.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summary-job.js";
import type { CompactionDone } from "./results.js";

/** What happens in a compactor, for screens, logs and telemetry. Names and content as Copilot CLI's session events have them. */
export type CompactionEvent =
  | {
      readonly type: "compactionStart";
      readonly attemptId: string;
      readonly trigger: Trigger;
      readonly background: boolean;
      readonly use: TokenUse;
    }
  | { readonly type: "compactionProgress"; readonly attemptId: string; readonly stage: string; readonly chars: number }
  | {
      readonly type: "compactionComplete";
      readonly attemptId: string;
      readonly trigger: Trigger;
      readonly background: boolean;
      readonly success: boolean;
      /** Of a failure: its code, one line, and the HTTP status where a provider refused. */
      readonly error: { readonly code: string; readonly message: string; readonly status?: number | undefined } | null;
      /** Why there is no compaction though nothing failed. */
      readonly outcome: "compacted" | "nothing-to-compact" | "cancelled" | "superseded" | "discarded" | "failed";
      readonly entryId: EntryId | null;
      readonly tokensBefore: number | null;
      readonly tokensAfter: number | null;
      readonly messagesBefore: number | null;
      readonly messagesAfter: number | null;
      /** What the summary's calls used, also where nothing came of them. */
      readonly usage: Usage | null;
      /** Where the tokens go afterwards. */
      readonly useAfter: TokenUse | null;
      readonly method: CompactionDone["method"] | null;
      /** How much of the source's facts the summary has, 0 to 1. */
      readonly fidelity: number | null;
      /** What went wrong on the way and did not stop it. */
      readonly failures: readonly SummaryFailure[];
      /** The provider's id of the last call's answer. */
      readonly requestId: string | null;
      readonly checkpointPath: string | null;
      readonly checkpointNumber: number | null;
    }
  /** A summary of a branch that is left is being written; `toId`: where the leaf goes. */
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
  /** Messages were left out of one request. */
  | {
      readonly type: "truncation";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      readonly changes: readonly Change[];
    }
  /** How full the window is, at each request. `isInitial`: the first one of this compactor. */
  | { readonly type: "usageInfo"; readonly use: TokenUse; readonly messages: number; readonly isInitial: boolean }
  /** Old tool output was taken out of the context by edits. */
  | { readonly type: "pruned"; readonly edits: number; readonly savedTokens: number }
  /** System and tools alone come near the limit: no compaction can help. */
  | { readonly type: "usageWarning"; readonly fixedTokens: number; readonly limitTokens: number }
  /** The automatic path stopped: a compaction left too little room or too many messages, failed, was undone, or there was nothing to compact. */
  | { readonly type: "stalled"; readonly because: Stall["because"] }
  | { readonly type: "hookFailed"; readonly hook: string; readonly error: unknown }
  | { readonly type: "checkpointFailed"; readonly error: unknown };

/** Takes events. What it throws is ignored: a screen must not stop a compaction. */
export type EventListener = (event: CompactionEvent) => void;
