import type { CompactionPayload, EntryId, Usage } from "@bough/session-core";
import type { Fidelity } from "../facts/fidelity.js";
import type { SummaryMethod } from "../summary/written-summary.js";
import type { Trigger } from "./trigger.js";

/** A compaction that is written and not yet appended. It is about the path that ends at `leafId`. */
export interface Draft {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly leafId: EntryId;
  /** The compaction that was in force. */
  readonly previousId: EntryId | null;
  /** Every entry whose message the summary replaces. */
  readonly covered: ReadonlySet<EntryId>;
  readonly payload: CompactionPayload;
  /** What the context loses and gains, in tokens. */
  readonly coveredTokens: number;
  readonly summaryTokens: number;
  readonly coveredMessages: number;
  readonly method: SummaryMethod | "hook";
  readonly askedModel: boolean;
  readonly fidelity: Fidelity | null;
  readonly usage: Usage | null;
}
