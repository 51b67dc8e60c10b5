/** Bounds of the parts of an extract, from the room it has. In UTF-16 code units and lines. */
export interface PartLimits {
  readonly goalChars: number;
  readonly latestChars: number;
  readonly lastChars: number;
  readonly earlierChars: number;
  /** Of one line of a list. */
  readonly lineChars: number;
}

/**
 * The goal, the last request and the state at the end are always there, so each may take only its share; what they leave
 * goes to the lists. An earlier summary may take a third: it does not grow, however often it is carried on.
 */
export function partLimits(maxChars: number): PartLimits {
  return {
    goalChars: between(40, maxChars * 0.25, 700),
    latestChars: between(40, maxChars * 0.25, 1_000),
    lastChars: between(40, maxChars * 0.2, 1_000),
    earlierChars: Math.floor(maxChars / 3),
    lineChars: between(100, maxChars * 0.1, 200),
  };
}

function between(least: number, wanted: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, wanted)));
}
