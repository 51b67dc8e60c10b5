/** What one model was used for, from the figures that replies report. */
export interface ModelUsage {
  /** "" where the reply did not say. */
  readonly provider: string;
  readonly model: string;
  readonly replies: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** US dollars, as reported; 0 where nothing was. */
  readonly costUsd: number;
}

/** Figures of one session or of a whole store. */
export interface Statistics {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly payloadBytes: number;
  /** Entries by type. */
  readonly byType: Readonly<Record<string, number>>;
  /** What these sessions used themselves, most expensive first. */
  readonly usage: readonly ModelUsage[];
  /** What forks have taken over from the sessions they came from: counted there already. */
  readonly inheritedUsage: readonly ModelUsage[];
}
