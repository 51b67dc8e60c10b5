import type { PathItem } from "../../plan/span.js";

/** A result that could be pruned. */
export interface Candidate {
  readonly savedTokens: number;
  /** Its age alone is reason enough: the guard does not hold it. */
  readonly aged: boolean;
}

/**
 * Which candidates go, by their places. A change early in a request costs the provider's cache of all that follows, so
 * what is not old goes only where at most `suffixTokens` follow it as they then are, or where the cache is cold anyway
 * (oh-my-pi's guard). Counted as they then are, so that planning again finds nothing more. Linear in the items.
 */
export function pastGuard(
  items: readonly PathItem[],
  candidates: ReadonlyMap<number, Candidate>,
  { suffixTokens, idle }: { readonly suffixTokens: number; readonly idle: boolean },
): ReadonlySet<number> {
  const going = new Set<number>();
  let after = 0;
  for (const [back, { tokens }] of items.toReversed().entries()) {
    const at = items.length - 1 - back;
    const candidate = candidates.get(at);
    const goes = candidate !== undefined && (candidate.aged || idle || after <= suffixTokens);
    if (goes) going.add(at);
    after += tokens - (goes ? candidate.savedTokens : 0);
  }
  return going;
}
