import { type Group, isInput, startsTurn } from "./groups.js";
import type { KeepRule } from "./keep-rule.js";

/**
 * How many of the newest groups are kept. What the model has not answered yet is always among them (regression R99), and so
 * is the newest group, however large, unless nothing is to be kept: so there is always a place to cut (R98, R117).
 */
export function keptGroups(groups: readonly Group[], rule: KeepRule): number {
  const unsent = unsentGroups(groups);
  return Math.max(unsent, byRule(groups, rule));
}

/** The groups at the end that no reply followed. */
function unsentGroups(groups: readonly Group[]): number {
  const answered = groups.findLastIndex((group) => !isInput(group));
  return groups.length - 1 - answered;
}

function byRule(groups: readonly Group[], rule: KeepRule): number {
  switch (rule.by) {
    case "nothing":
      return 0;
    case "tokens": {
      const kept = within(groups, rule.tokens, ({ tokens }) => tokens);
      return rule.atLeastOneTurn ? Math.max(kept, newestTurn(groups)) : kept;
    }
    case "messages":
      return within(groups, rule.messages, ({ messages }) => messages);
    case "rounds":
      return newestRounds(groups, rule.rounds);
  }
}

/** From the newest back while the sum stays within the bound; at least one. */
function within(groups: readonly Group[], bound: number, size: (group: Group) => number): number {
  let sum = 0;
  for (const [back, group] of groups.toReversed().entries()) {
    sum += size(group);
    if (sum > bound) return Math.max(1, back);
  }
  return groups.length;
}

/** The newest turn; 0 where it is all there is, as nothing could be summarised then. */
function newestTurn(groups: readonly Group[]): number {
  const start = groups.findLastIndex(startsTurn);
  return start <= 0 ? 0 : groups.length - start;
}

/** VS Code's cut: so many rounds of the newest turn, or where it has fewer, the turn. */
function newestRounds(groups: readonly Group[], rounds: number): number {
  let seen = 0;
  for (const [back, group] of groups.toReversed().entries()) {
    if (group.role === "assistant") seen += 1;
    if (seen === rounds || startsTurn(group)) return back + 1;
  }
  return groups.length;
}
