import type { CompactionPayload, EntryId, ThinkingBlock, Usage } from "@bough/session-core";
import type { Fidelity } from "../facts/fidelity.js";
import type { Trigger } from "../rules/trigger.js";
import type { SummaryFailure, SummaryMethod } from "../summary/written-summary.js";

/** What a compaction entry of ours carries besides what every one does. */
export interface DraftPayload extends CompactionPayload {
  readonly covers: { readonly fromEntryId: EntryId; readonly toEntryId: EntryId; readonly entries: number; readonly messages: number };
  readonly method: SummaryMethod | "hook";
  readonly attemptId: string;
  readonly fidelity?: Fidelity;
  readonly lastThinking?: ThinkingBlock;
  readonly preserveData?: unknown;
}

/** A compaction that is written and not yet appended. It is about the path that ends at `leafId`. */
export interface Draft {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly leafId: EntryId;
  /** The compaction that was in force. */
  readonly previousId: EntryId | null;
  /** Every entry whose message the summary replaces. */
  readonly covered: ReadonlySet<EntryId>;
  readonly payload: DraftPayload;
  /** What the context loses and gains, in tokens. */
  readonly coveredTokens: number;
  readonly summaryTokens: number;
  readonly method: SummaryMethod | "hook";
  readonly askedModel: boolean;
  readonly fidelity: Fidelity | null;
  readonly failures: readonly SummaryFailure[];
  readonly requestId: string | null;
  readonly usage: Usage | null;
}
