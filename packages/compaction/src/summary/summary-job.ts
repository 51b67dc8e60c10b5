import type { ContextMessage, SessionContext, Usage } from "@bough/session-core";
import type { RejectedBecause } from "../errors/summarizer-errors.js";
import type { Fidelity } from "../extract/fidelity.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import type { CallDependencies } from "../summarizers/call.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { TokenCounter } from "../tokens/token-counter.js";

/** What a summary is being written for: a screen may show it. */
export type SummaryStage = "full" | "history" | "turn-prefix" | "branch" | "missing-facts" | "short-summary";

/** Everything that writing one summary needs. */
export interface SummaryJob {
  readonly kind: "compaction" | "branch";
  /** What asked for it; summarisers are told. */
  readonly trigger: Trigger | "branch";
  /** What is summarised. `prefix`: the start of a turn whose end is kept; empty for a branch. */
  readonly plan: { readonly summarize: readonly PathItem[]; readonly prefix: readonly PathItem[] };
  /** The body of the summary in force, without lists and notes (`stripComposed`). */
  readonly previousSummary: string | null;
  /** What the person asked to look at. */
  readonly instructions: string | null;
  /** The session's directory: the extract writes paths relative to it. Default: paths stay as they are. */
  readonly cwd?: string | null | undefined;
  /** The instructions are the whole prompt, instead of a focus. */
  readonly replaceInstructions?: boolean | undefined;
  /** What the hook `compacting` said: a prompt in place of ours, and lines for the model. */
  readonly hook: { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined };
  readonly settings: CompactionSettings;
  readonly counter: TokenCounter;
  /** Window of the session's model; the setting `summary.windowTokens` overrides it. */
  readonly windowTokens: number;
  /** What is kept free for the next turn (`limitsOf`). */
  readonly reserveTokens: number;
  /** Tried in order. None: the extract is taken at once. */
  readonly candidates: readonly Summarizer[];
  /** The live request, where full mode is possible: with its tokens, system and tools among them, and what its provider takes. */
  readonly full: { readonly context: SessionContext; readonly usedTokens: number; readonly limitTokens: number } | null;
  /** After an overflow: the live request would overflow again (row 121). Mode `full` does not heed it. */
  readonly forceSimple: boolean;
  /** The breaker is open: no model is asked. */
  readonly skipModel: boolean;
  readonly model: { readonly provider?: string | undefined; readonly modelId: string } | null;
  /** The body must have fewer tokens than this: those of what it replaces. */
  readonly maxTokens: number;
  /** What the body should have at most; a longer one is not refused, but will be cut. undefined: no matter. */
  readonly wantedTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `chars`: how much of the answer to the running call has come. */
  readonly onProgress?: ((progress: { readonly stage: SummaryStage; readonly chars: number }) => void) | undefined;
}

/** What a test replaces. */
export type SummaryDependencies = CallDependencies;

/** What the model read of some entries, in order. */
export function collectMessages(items: readonly PathItem[]): readonly ContextMessage[] {
  return items.flatMap(({ messages }) => messages);
}

/** oh-my-pi's: the reserve of a large window is no measure of a summary. */
const LARGEST_SHARE_TOKENS = 16_384;

/** Upper bound of an answer, in tokens; undefined: the model's own, as a fixed cap starves models that think first (R125). */
export function computeOutputCap({
  settings: { summary },
  reserveTokens,
}: Pick<SummaryJob, "settings" | "reserveTokens">): number | undefined {
  if (summary.maxOutputTokens !== null) return summary.maxOutputTokens;
  if (summary.maxOutputShare === null) return undefined;
  return Math.max(1, Math.min(LARGEST_SHARE_TOKENS, Math.floor(summary.maxOutputShare * reserveTokens)));
}

/** Window of the model that writes the summary, in tokens. */
export function getSummaryWindow({ settings, windowTokens }: SummaryJob): number {
  return settings.summary.windowTokens ?? windowTokens;
}

/** Who wrote a summary: a model, a model asked more strictly, the deterministic extract, or a fixed line that says what is missing. */
export type SummaryMethod = "normal" | "strict" | "extract" | "marker";

/** Something that went wrong on the way and did not stop it. */
export interface SummaryFailure {
  /** Of our errors, as `SUMMARY_REJECTED`; `UNKNOWN` for others. */
  readonly code: string;
  readonly message: string;
  /** Why an answer was no summary, where that is what went wrong. */
  readonly reason?: RejectedBecause | undefined;
}

/** A summary that is written and not yet composed with lists and notes. */
export interface WrittenSummary {
  readonly body: string;
  /** Where the prompt asked for one. */
  readonly title: string | null;
  /** One line of at most 200 characters, for screens. */
  readonly shortSummary: string;
  readonly method: SummaryMethod;
  /** Summed over all calls that told theirs. */
  readonly usage: Usage | undefined;
  /** The provider's id of the last answer, where it told one. */
  readonly requestId: string | undefined;
  /** How often a summariser was called, new tries included. */
  readonly calls: number;
  readonly failures: readonly SummaryFailure[];
  /** How many of the facts found in the source are in the body. */
  readonly fidelity: Fidelity;
}

/** The less a model had its way, the higher. */
const QUALITY_RANK: Readonly<Record<SummaryMethod, number>> = { normal: 0, strict: 1, extract: 2, marker: 3 };

/** Of two methods that wrote parts of one summary, the one that says less about its worth. */
export function lowerQuality(a: SummaryMethod, b: SummaryMethod): SummaryMethod {
  return QUALITY_RANK[a] >= QUALITY_RANK[b] ? a : b;
}
