import type { CompactionPayload, EntryId, ThinkingBlock, Usage } from "@bough/session-core";
import type { Fidelity } from "../extract/facts.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { SummaryFailure, SummaryMethod } from "../summary/summarizer-client.js";

/** The payload of a compaction entry with the fields that this package adds. */
export interface DraftPayload extends CompactionPayload {
  readonly covers: { readonly fromEntryId: EntryId; readonly toEntryId: EntryId; readonly entries: number; readonly messages: number };
  readonly method: SummaryMethod | "hook";
  readonly attemptId: string;
  readonly fidelity?: Fidelity;
  readonly lastThinking?: ThinkingBlock;
  readonly preserveData?: unknown;
}

/** A compaction that is written and not yet appended. It was planned on the path that ends at `leafId`. */
export interface Draft {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly leafId: EntryId;
  /** The compaction that was in force; null: none. */
  readonly previousId: EntryId | null;
  /** Every entry whose message the summary replaces. */
  readonly covered: ReadonlySet<EntryId>;
  readonly payload: DraftPayload;
  /** Tokens that the context loses. */
  readonly coveredTokens: number;
  /** Tokens that the context gains. */
  readonly summaryTokens: number;
  readonly method: SummaryMethod | "hook";
  readonly askedModel: boolean;
  readonly fidelity: Fidelity | null;
  readonly failures: readonly SummaryFailure[];
  readonly requestId: string | null;
  readonly usage: Usage | null;
}

/** The thinking block stored with a compaction (`lastThinking`); null: there is none, or the stored value is no thinking block. */
export function storedThinking(payload: CompactionPayload): ThinkingBlock | null {
  const value = payload["lastThinking"];
  return isThinking(value) ? value : null;
}

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
