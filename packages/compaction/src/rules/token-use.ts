/** Where the tokens of a request go. */
export interface TokenUse {
  readonly systemTokens: number;
  readonly toolTokens: number;
  readonly messageTokens: number;
  /** The sum, or what the provider reported where that is more. */
  readonly totalTokens: number;
  readonly limitTokens: number;
  readonly windowTokens: number;
  readonly thresholdTokens: number;
  /** `reported`: the provider's own count was higher than ours, and is what counts. */
  readonly source: "counted" | "reported";
}
