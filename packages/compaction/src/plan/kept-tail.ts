import type { EntryId } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { KEEP, KEEP_BOUNDS } from "../arguments/shapes.js";
import type { CompactionSettings } from "../settings/settings.js";
import { type MessageGroup, startsTurn } from "./cut-points.js";
import type { PathItem } from "./span.js";

/** How much of the newest is kept word for word. */
export type KeepRule =
  /** Up to `tokens`. The newest turn is kept whole up to `wholeTurnTokens`; 0: it is cut like any other. */
  | { readonly by: "tokens"; readonly tokens: number; readonly wholeTurnTokens: number }
  /** Up to so many messages, and up to `mostTokens` where that is given. */
  | { readonly by: "messages"; readonly messages: number; readonly mostTokens?: number | undefined }
  /** A round is a reply with the results of its calls. At most those of the newest turn, and up to `mostTokens`. */
  | { readonly by: "rounds"; readonly rounds: number; readonly mostTokens?: number | undefined }
  | { readonly by: "nothing" }
  /** This entry and all behind it, as somebody chose; where a path may not be cut before it, from the next place above. */
  | { readonly by: "entry"; readonly entryId: EntryId };

/** What the rule depends on besides the settings. */
export interface KeepBounds {
  readonly limitTokens: number;
  /** No rule keeps more, but for the newest message with its results and a prompt without an answer. */
  readonly mostKeptTokens: number;
  /** Prompt tokens that the provider reported to those that we estimated; 1 or more. */
  readonly ratio: number;
  readonly trigger: "manual" | "automatic";
  /** Where somebody said from which entry on everything is kept. */
  readonly keepFrom?: EntryId | undefined;
}

// co-cli: fewer than four messages are no context to go on with.
const MIN_MESSAGES = 4;

/** The rule that settings mean in a window. Pure. Where the provider counts more than we do, less is kept (oh-my-pi). */
export function keepRuleOf(keep: CompactionSettings["keep"], bounds: KeepBounds): KeepRule {
  rules.checkArgument("keep", keep, KEEP);
  rules.checkArgument("bounds", bounds, KEEP_BOUNDS);
  const { limitTokens, mostKeptTokens, ratio, trigger, keepFrom } = bounds;
  if (keepFrom !== undefined) return { by: "entry", entryId: keepFrom };
  if (trigger === "manual" && keep.manual === "nothing") return { by: "nothing" };
  const adapted = (tokens: number) => Math.floor(Math.min(tokens, mostKeptTokens) / (keep.adaptive ? Math.max(1, ratio) : 1));
  const mostTokens = adapted(mostKeptTokens);
  switch (keep.by) {
    case "nothing":
      return { by: "nothing" };
    case "tokens":
      return { by: "tokens", tokens: adapted(keep.recentTokens), wholeTurnTokens: 0 };
    case "share":
      return { by: "tokens", tokens: adapted(Math.floor(keep.recentShare * limitTokens)), wholeTurnTokens: mostTokens };
    case "messages":
      return { by: "messages", messages: Math.max(MIN_MESSAGES, keep.recentMessages), mostTokens };
    case "rounds":
      return { by: "rounds", rounds: Math.max(1, keep.recentRounds), mostTokens };
  }
}

/**
 * How many of the newest groups are kept. What stands at the item `unsent` or behind it always is (regression R99), and so is the
 * newest group, however large, unless nothing is to be kept: so there is always a place to cut (R98, R117).
 */
export function keptGroups(groups: readonly MessageGroup[], rule: KeepRule, items: readonly PathItem[], unsent: number | null): number {
  const kept =
    rule.by === "entry"
      ? groupsFromEntry(
          groups,
          items.findIndex(({ id }) => id === rule.entryId),
        )
      : keptByRule(groups, rule);
  return Math.max(unsent === null ? 0 : groupsFrom(groups, unsent), kept);
}

/** An entry that is not among the items stands above them: what is before it is summarised already. */
function groupsFromEntry(groups: readonly MessageGroup[], item: number): number {
  return item < 0 ? groups.length : groupsFrom(groups, item);
}

/** The group of an item and all behind it. */
function groupsFrom(groups: readonly MessageGroup[], item: number): number {
  return groups.length - groups.findLastIndex(({ start }) => start <= item);
}

function keptByRule(groups: readonly MessageGroup[], rule: Exclude<KeepRule, { by: "entry" }>): number {
  switch (rule.by) {
    case "nothing":
      return 0;
    case "tokens":
      return Math.max(countWithinTokens(groups, rule.tokens), newestTurnGroups(groups, rule.wholeTurnTokens));
    case "messages":
      return Math.min(
        countWithin(groups, rule.messages, ({ messages }) => messages),
        countWithinTokens(groups, rule.mostTokens),
      );
    case "rounds":
      return Math.min(newestRoundGroups(groups, rule.rounds), countWithinTokens(groups, rule.mostTokens));
  }
}

function countWithinTokens(groups: readonly MessageGroup[], bound = Number.POSITIVE_INFINITY): number {
  return countWithin(groups, bound, ({ tokens }) => tokens);
}

/** From the newest back while the sum stays within the bound; at least one. */
function countWithin(groups: readonly MessageGroup[], bound: number, size: (group: MessageGroup) => number): number {
  let sum = 0;
  for (const [back, group] of groups.toReversed().entries()) {
    sum += size(group);
    if (sum > bound) return Math.max(1, back);
  }
  return groups.length;
}

/** The newest turn; 0 where it is larger than `bound`, or all there is: then it is cut, as else nothing would be won (R117). */
function newestTurnGroups(groups: readonly MessageGroup[], bound: number): number {
  const start = groups.findLastIndex(startsTurn);
  const size = groups.slice(Math.max(0, start)).reduce((sum, { tokens }) => sum + tokens, 0);
  return start <= 0 || size > bound ? 0 : groups.length - start;
}

/** VS Code's cut: so many rounds of the newest turn, or where it has no more than these, the turn with its prompt. */
function newestRoundGroups(groups: readonly MessageGroup[], rounds: number): number {
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
