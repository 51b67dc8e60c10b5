import type { CompactionPayload, ContextMessage, EntryId, ModelSetting, ThinkingBlock, Usage } from "@bough/session-core";
import type { Fidelity } from "../extract/fidelity.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { CompactionSettings } from "../settings/settings.js";
import { isClaude } from "../shrink/request/model-family.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summary-job.js";

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

/** The last thinking block of what a compaction covers, where it was kept with it. */
export function thinkingOf(payload: CompactionPayload | undefined): ThinkingBlock | null {
  const kept = payload?.["lastThinking"];
  return isThinking(kept) ? kept : null;
}

// It was written by `lastThinking` below and judged by nobody since; only a block with its text and kind is one.
function isThinking(value: unknown): value is ThinkingBlock {
  return (
    typeof value === "object" &&
    value !== null &&
    "type" in value &&
    value.type === "thinking" &&
    "thinking" in value &&
    typeof value.thinking === "string"
  );
}

/** The last thinking block of some messages, byte for byte; null where the model does not need it back (row 110). */
export function lastThinking(
  messages: readonly ContextMessage[],
  model: ModelSetting | null,
  setting: CompactionSettings["request"]["reattachThinking"],
): ThinkingBlock | null {
  if (setting === "never" || (setting === "auto" && !isClaude(model))) return null;
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const block = message.content.findLast((one): one is ThinkingBlock => one.type === "thinking");
    if (block !== undefined) return block;
  }
  return null;
}
