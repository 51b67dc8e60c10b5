import type { PathItem } from "../path/path-item.js";
import { type Group, startsTurn } from "./groups.js";
import type { KeepRule } from "./keep-rule.js";

/**
 * How many of the newest groups are kept. What stands at the item `unsent` or behind it always is (regression R99), and so is the
 * newest group, however large, unless nothing is to be kept: so there is always a place to cut (R98, R117).
 */
export function keptGroups(groups: readonly Group[], rule: KeepRule, items: readonly PathItem[], unsent: number | null): number {
  const kept =
    rule.by === "entry"
      ? chosen(
          groups,
          items.findIndex(({ id }) => id === rule.entryId),
        )
      : byRule(groups, rule);
  return Math.max(unsent === null ? 0 : groupsFrom(groups, unsent), kept);
}

/** An entry that is not among the items stands above them: what is before it is summarised already. */
function chosen(groups: readonly Group[], item: number): number {
  return item < 0 ? groups.length : groupsFrom(groups, item);
}

/** The group of an item and all behind it. */
function groupsFrom(groups: readonly Group[], item: number): number {
  return groups.length - groups.findLastIndex(({ start }) => start <= item);
}

function byRule(groups: readonly Group[], rule: Exclude<KeepRule, { by: "entry" }>): number {
  switch (rule.by) {
    case "nothing":
      return 0;
    case "tokens":
      return Math.max(withinTokens(groups, rule.tokens), newestTurn(groups, rule.wholeTurnTokens));
    case "messages":
      return Math.min(
        within(groups, rule.messages, ({ messages }) => messages),
        withinTokens(groups, rule.mostTokens),
      );
    case "rounds":
      return Math.min(newestRounds(groups, rule.rounds), withinTokens(groups, rule.mostTokens));
  }
}

function withinTokens(groups: readonly Group[], bound = Number.POSITIVE_INFINITY): number {
  return within(groups, bound, ({ tokens }) => tokens);
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

/** The newest turn; 0 where it is larger than `bound`, or all there is: then it is cut, as else nothing would be won (R117). */
function newestTurn(groups: readonly Group[], bound: number): number {
  const start = groups.findLastIndex(startsTurn);
  const size = groups.slice(Math.max(0, start)).reduce((sum, { tokens }) => sum + tokens, 0);
  return start <= 0 || size > bound ? 0 : groups.length - start;
}

/** VS Code's cut: so many rounds of the newest turn, or where it has no more than these, the turn with its prompt. */
function newestRounds(groups: readonly Group[], rounds: number): number {
  let seen = 0;
  let kept = groups.length;
  for (const [back, group] of groups.toReversed().entries()) {
    if (startsTurn(group)) return seen > rounds ? kept : back + 1;
    if (group.role !== "assistant") continue;
    seen += 1;
    if (seen === rounds) kept = back + 1;
  }
  return kept;
}
