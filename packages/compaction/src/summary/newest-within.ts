import type { PathItem } from "../plan/span.js";

/** Up to this share of the budget, a summary further back is still taken in whole (pi's rule): it stands for much. */
const NEARLY_FULL = 0.9;

/**
 * The newest items of a branch that fit into `windowTokens` less `reserveTokens`, oldest first; at least one. Where a
 * summary of something earlier is the one that does not fit, it comes along while less than 90 % is used. In a
 * window that the reserve would fill, half the window counts. The rule is pi's (row 144).
 */
export function newestWithin(items: readonly PathItem[], windowTokens: number, reserveTokens: number): readonly PathItem[] {
  const budget = Math.max(Math.floor(windowTokens / 2), windowTokens - reserveTokens);
  let used = 0;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined) continue;
    if (used + item.tokens > budget && used > 0) {
      const isSummary = item.type === "compaction" || item.type === "branch_summary";
      return items.slice(isSummary && used < budget * NEARLY_FULL ? at : at + 1);
    }
    used += item.tokens;
  }
  return items;
}
