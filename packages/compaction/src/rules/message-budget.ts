/** What a budget for messages depends on, all in tokens but the share. */
export interface BudgetInput {
  /** The model's window. */
  readonly windowTokens: number;
  /** How much of it is used at most (setting `window.limit`, a picker of the host). */
  readonly limitTokens: number;
  /** Tokens of the tool definitions. */
  readonly toolTokens: number;
  /** Share that is kept free against miscounts, where there are tools. */
  readonly toolMarginShare: number;
}

/**
 * Tokens that messages and instructions may have. VS Code's rule: what the tools leave of the smaller of limit and
 * window, less a margin where there are tools. At least 1.
 *
 * @example
 * messageBudget({ windowTokens: 128_000, limitTokens: 100_000, toolTokens: 20_000, toolMarginShare: 0.1 }); // 72_000
 */
export function messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare }: BudgetInput): number {
  const left = Math.min(limitTokens, windowTokens) - toolTokens;
  return Math.max(1, Math.floor(toolTokens > 0 ? left * (1 - toolMarginShare) : left));
}
