import type { Usage } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { CALIBRATION, COMPARISON, USAGE } from "../arguments/shapes.js";

/**
 * Tokens of the prompt that a provider reported: fresh input with what was read from and written to its cache; where it
 * names only a total, that less the output. undefined: it reported nothing of use, all zero included (regression R105).
 *
 * @example
 * promptTokensOf({ input: 900, cacheRead: 14_000, output: 50 }); // 14900
 */
export function promptTokensOf(usage: Usage): number | undefined {
  rules.checkArgument("usage", usage, USAGE);
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, totalTokens = 0 } = usage;
  const prompt = input + cacheRead + cacheWrite;
  if (prompt > 0) return prompt;
  return totalTokens > output ? totalTokens - output : undefined;
}

/** What a provider's figures say of ours. */
export interface Calibration {
  /** Reported to estimated tokens: 1 to 2. */
  readonly ratio: number;
  /** Tokens of each request that we were never told of: a system prompt, tool definitions. */
  readonly unseenTokens: number;
}

/** Ours are taken as they are. */
export const UNCALIBRATED: Calibration = { ratio: 1, unseenTokens: 0 };

/** One figure of a provider beside ours. */
export interface Comparison {
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  /** Whether the host said what its system prompt or tools take; else what is missing in our count is taken to be these. */
  readonly knowsFixed: boolean;
  /** The model's window: a prompt that was answered fitted it. */
  readonly windowTokens: number;
}

// No tokenizer in use counts more than twice what o200k does, whatever the script; what is beyond is no miscount.
const MOST_RATIO = 2;
// Below this the template of an empty conversation is larger than what is compared.
const LEAST_COMPARED = 2_000;
// A system prompt with tools that takes more than half of the window leaves no room to work in, so it is none.
const MOST_UNSEEN_SHARE = 0.5;

/**
 * The calibration after one more comparison. Our counts are raised where a provider counts more (its template, its own
 * vocabulary, what the host did not tell), and never lowered: a prompt that is refused costs more than room that is left
 * free. A figure above the window is the sum of several calls and says nothing. Pure.
 */
export function calibrated(before: Calibration, comparison: Comparison): Calibration {
  rules.checkArgument("before", before, CALIBRATION);
  rules.checkArgument("comparison", comparison, COMPARISON);
  const { reportedTokens, estimatedTokens, knowsFixed, windowTokens } = comparison;
  if (reportedTokens > windowTokens) return before;
  const excess = Math.max(0, reportedTokens - estimatedTokens);
  const most = Math.floor(MOST_UNSEEN_SHARE * windowTokens);
  if (!knowsFixed) return { ratio: 1, unseenTokens: Math.min(excess, most) };
  if (estimatedTokens < LEAST_COMPARED) return { ratio: before.ratio, unseenTokens: Math.min(excess, most) };
  const ratio = Math.min(MOST_RATIO, 1 + excess / estimatedTokens);
  return { ratio, unseenTokens: Math.min(most, Math.max(0, Math.floor(reportedTokens - ratio * estimatedTokens))) };
}
