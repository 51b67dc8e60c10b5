/** How many tokens the messages of a request may have, beside instructions and tools. May be negative. */
export interface Room {
  /** Above this something must go. */
  readonly limitTokens: number;
  /** Once something goes, this is aimed at, so that the next request does not come too late at once. */
  readonly targetTokens: number;
}

/** The room under a limit for messages and instructions. */
export function roomOf(limitTokens: number, systemTokens: number, targetShare: number): Room {
  return { limitTokens: limitTokens - systemTokens, targetTokens: Math.floor(limitTokens * targetShare) - systemTokens };
}
