import type { ContextMessage, SessionContext, Usage } from "@bough/session-core";
import type { RejectedBecause } from "../errors/summarizer-errors.js";
import type { Fidelity } from "../extract/fidelity.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import type { CallDependencies } from "../summarizers/call.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { TokenCounter } from "../tokens/token-counter.js";

/** Everything needed to write one summary. */
export interface SummaryJob {
  readonly kind: "compaction" | "branch";
  /** The trigger, passed on to summarizers. */
  readonly trigger: Trigger | "branch";
  /** The items to summarize. `prefix`: the start of a turn whose end is kept; empty for a branch. */
  readonly plan: { readonly summarize: readonly PathItem[]; readonly prefix: readonly PathItem[] };
  /** The body of the current summary, without file lists and notes (`stripComposed`). */
  readonly previousSummary: string | null;
  /** The user's focus for the summary. */
  readonly instructions: string | null;
  /** The session's directory; the extract writes paths relative to it. Without it paths stay as they are. */
  readonly cwd?: string | null | undefined;
  /** The instructions replace the prompt instead of adding a focus. */
  readonly replaceInstructions?: boolean | undefined;
  /** The result of the hook `compacting`: a prompt that replaces the default, and lines of context. */
  readonly hook: { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined };
  readonly settings: CompactionSettings;
  readonly counter: TokenCounter;
  /** Context window of the session's model; `summary.windowTokens` overrides it. */
  readonly windowTokens: number;
  /** Tokens reserved for the next turn (`limitsOf`). */
  readonly reserveTokens: number;
  /** Tried in order. Empty: the extract is used at once. */
  readonly candidates: readonly Summarizer[];
  /** The live request, if full mode is possible, with its tokens (system and tools included) and the limit of its provider. */
  readonly full: { readonly context: SessionContext; readonly usedTokens: number; readonly limitTokens: number } | null;
  /** Set after an overflow, because the live request would overflow again. Mode `full` ignores it. */
  readonly forceSimple: boolean;
  /** The breaker is open: no model is called. */
  readonly skipModel: boolean;
  readonly model: { readonly provider?: string | undefined; readonly modelId: string } | null;
  /** The body must have fewer tokens than this: those of the messages it replaces. */
  readonly maxTokens: number;
  /** The wanted size of the body, in tokens. A longer one is accepted and cut later. undefined: no wish. */
  readonly wantedTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `chars`: the characters of the running answer received so far. */
  readonly onProgress?: ((progress: { readonly stage: SummaryStage; readonly chars: number }) => void) | undefined;
}

/** The purpose of a call; shown in progress. */
export type SummaryStage = "full" | "history" | "turn-prefix" | "branch" | "missing-facts" | "short-summary";

/** Replaced in tests. */
export type SummaryDependencies = CallDependencies;

/** A written summary, before it is composed with file lists and notes. */
export interface WrittenSummary {
  readonly body: string;
  /** null: the prompt did not ask for one. */
  readonly title: string | null;
  /** One line of at most 200 characters, for screens. */
  readonly shortSummary: string;
  readonly method: SummaryMethod;
  /** The sum over all calls that reported usage. */
  readonly usage: Usage | undefined;
  /** The provider's id of the last answer that had one. */
  readonly requestId: string | undefined;
  /** The number of calls of a summarizer, retries included. */
  readonly calls: number;
  readonly failures: readonly SummaryFailure[];
  /** Counts of the facts found in the source, and of those in the body. */
  readonly fidelity: Fidelity;
}

/** The method that wrote a summary: normal prompt, strict prompt, extract, or a fixed text that marks the missing summary. */
export type SummaryMethod = "normal" | "strict" | "extract" | "marker";

/** A failure that did not stop the summary. */
export interface SummaryFailure {
  /** The code of the error, such as `SUMMARY_REJECTED`; `UNKNOWN` for errors of other libraries. */
  readonly code: string;
  readonly message: string;
  /** The reason why an answer was rejected, if it was. */
  readonly reason?: RejectedBecause | undefined;
}

/** The messages of some items, in order. */
export function collectMessages(items: readonly PathItem[]): readonly ContextMessage[] {
  return items.flatMap(({ messages }) => messages);
}

/** All messages that a job summarizes, in order. */
export function collectSource({ plan }: Pick<SummaryJob, "plan">): readonly ContextMessage[] {
  return collectMessages([...plan.summarize, ...plan.prefix]);
}

/** The cap of a share: the reserve of a large window is too large for a summary. */
const LARGEST_SHARE_TOKENS = 16_384;

/** The most tokens of an answer; undefined: the model's own limit, because a fixed cap cuts off models that think first. */
export function computeOutputCap({
  settings: { summary },
  reserveTokens,
}: Pick<SummaryJob, "settings" | "reserveTokens">): number | undefined {
  if (summary.maxOutputTokens !== null) return summary.maxOutputTokens;
  if (summary.maxOutputShare === null) return undefined;
  return Math.max(1, Math.min(LARGEST_SHARE_TOKENS, Math.floor(summary.maxOutputShare * reserveTokens)));
}

/** Context window of the model that writes the summary, in tokens. */
export function getSummaryWindow({ settings, windowTokens }: SummaryJob): number {
  return settings.summary.windowTokens ?? windowTokens;
}

/** Fallback order, best quality first. */
const QUALITY_RANK: Readonly<Record<SummaryMethod, number>> = { normal: 0, strict: 1, extract: 2, marker: 3 };

/** The lower quality of two methods, for a summary of two parts. */
export function lowerQuality(a: SummaryMethod, b: SummaryMethod): SummaryMethod {
  return QUALITY_RANK[a] >= QUALITY_RANK[b] ? a : b;
}
