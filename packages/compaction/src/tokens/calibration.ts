import type { Usage } from "@bough/session-core";

/**
 * Prompt tokens that a provider reported: input, cache reads and cache writes; if it reported only a total, that less the
 * output. undefined: it reported nothing, or only zeros.
 *
 * @example
 * promptTokensOf({ input: 900, cacheRead: 14_000, output: 50 }); // 14900
 */
export function promptTokensOf(usage: Usage): number | undefined {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, totalTokens = 0, contextTokens } = usage;
  // Of a reply with several calls the other counts are sums.
  if (typeof contextTokens === "number" && contextTokens > 0) return contextTokens;
  const prompt = input + cacheRead + cacheWrite;
  if (prompt > 0) return prompt;
  return totalTokens > output ? totalTokens - output : undefined;
}

/** The difference between a provider's counts and ours. */
export interface Calibration {
  /** Reported tokens divided by counted tokens: 1 to 2. */
  readonly ratio: number;
  /** Tokens of each request that the host did not report: a system prompt, tool definitions. */
  readonly unseenTokens: number;
}

/** No difference. */
export const UNCALIBRATED: Calibration = { ratio: 1, unseenTokens: 0 };

/** A count of a provider and our count of the same prompt. */
interface Comparison {
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  /** True if the host reported tokens of its system prompt or tools. If not, the difference is taken to be these. */
  readonly knowsFixed: boolean;
  /** The model's context window. A prompt that was answered was not larger. */
  readonly windowTokens: number;
}

// No tokenizer in use counts more than twice as many tokens as o200k_base; a larger difference has another cause.
const MAX_RATIO = 2;
// In a shorter prompt the provider's own template is most of the difference.
const MIN_COMPARED = 2_000;
// A system prompt with tools of more than half of the window would leave no room to work, so a larger difference has another cause.
const MAX_UNSEEN_SHARE = 0.5;

/**
 * The calibration after one more comparison. It raises our counts if the provider counts more (template, tokenizer,
 * unreported parts) and never lowers them, because a rejected request costs more than unused tokens. A count above the window is
 * the sum of several calls and is ignored. Pure.
 */
export function calibrate(before: Calibration, comparison: Comparison): Calibration {
  const { reportedTokens, estimatedTokens, knowsFixed, windowTokens } = comparison;
  if (reportedTokens > windowTokens) return before;
  const excess = Math.max(0, reportedTokens - estimatedTokens);
  const most = Math.floor(MAX_UNSEEN_SHARE * windowTokens);
  if (!knowsFixed) return { ratio: 1, unseenTokens: Math.min(excess, most) };
  if (estimatedTokens < MIN_COMPARED) return { ratio: before.ratio, unseenTokens: Math.min(excess, most) };
  const ratio = Math.min(MAX_RATIO, 1 + excess / estimatedTokens);
  return { ratio, unseenTokens: Math.min(most, Math.max(0, Math.floor(reportedTokens - ratio * estimatedTokens))) };
}
