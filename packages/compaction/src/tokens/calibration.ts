import type { Usage } from "@bough/session-core";

/**
 * Tokens of the prompt that a provider reported: fresh input with what was read from and written to its cache; where it
 * names only a total, that less the output. undefined: it reported nothing of use, all zero included (regression R105).
 *
 * @example
 * promptTokensOf({ input: 900, cacheRead: 14_000, output: 50 }); // 14900
 */
export function promptTokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, totalTokens = 0 }: Usage): number | undefined {
  const prompt = input + cacheRead + cacheWrite;
  if (prompt > 0) return prompt;
  return totalTokens > output ? totalTokens - output : undefined;
}

/**
 * Reported to estimated prompt tokens, at least 1: our counts are raised where a provider counts more (its template, its
 * own vocabulary), and never lowered, as a prompt that is refused costs more than room that is left free. Pure.
 */
export function ratioOf(reportedTokens: number, estimatedTokens: number): number {
  return Math.max(1, reportedTokens / Math.max(1, estimatedTokens));
}
