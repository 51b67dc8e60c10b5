import { type Group, type Layout, newestReply } from "./layout.js";
import type { Stage } from "./removal.js";

// VS Code's figures. The prompt has 900 there: it is in no stage, which says the same.
const HISTORY = 700;
const ROUND = 899;

/**
 * VS Code's pruning: what has the lowest priority goes first, and of one priority the oldest. History before the newest
 * prompt has 700, rounds of tool calls behind it 899. Calls of protected tools go last of their priority. Summaries and
 * the newest reply are left to `lastResort`, as in the three passes.
 */
export function priorities(layout: Layout): readonly Stage[] {
  const newest = newestReply(layout);
  const ranked = [
    ...layout.old.filter(({ kind }) => kind !== "summary").map((group) => ({ group, priority: HISTORY })),
    ...layout.turn.filter((group) => group.kind === "reply" && group !== newest).map((group) => ({ group, priority: ROUND })),
  ];
  // The sort is stable: what is equal stays in its order of age.
  const sorted = ranked.toSorted((one, other) => one.priority - other.priority || order(one.group) - order(other.group));
  return [{ pass: "priority", groups: sorted.map(({ group }) => group) }];
}

function order({ isProtected }: Group): number {
  return isProtected ? 1 : 0;
}
