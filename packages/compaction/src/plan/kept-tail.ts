import type { EntryId } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { KEEP, KEEP_BOUNDS } from "../arguments/shapes.js";
import type { CompactionSettings } from "../settings/settings.js";
import { type MessageGroup, startsTurn } from "./cut-points.js";
import type { PathItem } from "./span.js";

/** How the kept tail is measured. */
export type KeepRule =
  /** Up to `tokens`. The newest turn is kept whole if it has at most `wholeTurnTokens`; 0: it may be cut. */
  | { readonly by: "tokens"; readonly tokens: number; readonly wholeTurnTokens: number }
  /** Up to this many messages and at most `mostTokens`. */
  | { readonly by: "messages"; readonly messages: number; readonly mostTokens?: number | undefined }
  /** Up to this many rounds (a reply with the results of its calls) of the newest turn, and at most `mostTokens`. */
  | { readonly by: "rounds"; readonly rounds: number; readonly mostTokens?: number | undefined }
  | { readonly by: "nothing" }
  /** This entry and everything after it; if the path cannot be cut before it, from the cut point above. */
  | { readonly by: "entry"; readonly entryId: EntryId };

/** What a keep rule depends on besides the settings. */
interface KeepBounds {
  readonly limitTokens: number;
  /** No rule keeps more, except for the newest message with its results and an unanswered prompt. */
  readonly mostKeptTokens: number;
  /** Prompt tokens that the provider reported, divided by our count of them; at least 1. */
  readonly ratio: number;
  readonly trigger: "manual" | "automatic";
  /** The first entry of the kept tail, if the caller chose it. */
  readonly keepFrom?: EntryId | undefined;
}

// Fewer messages are not enough context to continue with.
const MIN_MESSAGES = 4;

/** The keep rule of the settings in a window. Pure. If the provider counts more tokens than we do, the tail is smaller in proportion. */
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
 * The number of newest groups that are kept. The items from `unsent` on are always kept, and so is the newest group however
 * large it is, unless the rule keeps nothing; so there is always a cut point.
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

/** An entry that is not among the items is above them, in the part that is summarized already. */
function groupsFromEntry(groups: readonly MessageGroup[], item: number): number {
  return item < 0 ? groups.length : groupsFrom(groups, item);
}

/** The number of groups from the one with the item on. */
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

/** The number of newest groups whose sizes add up to at most the bound; at least one. */
function countWithin(groups: readonly MessageGroup[], bound: number, size: (group: MessageGroup) => number): number {
  let sum = 0;
  for (const [back, group] of groups.toReversed().entries()) {
    sum += size(group);
    if (sum > bound) return Math.max(1, back);
  }
  return groups.length;
}

/** The groups of the newest turn; 0 if it is larger than `bound`, or if there is nothing before it to summarize. */
function newestTurnGroups(groups: readonly MessageGroup[], bound: number): number {
  const start = groups.findLastIndex(startsTurn);
  const size = groups.slice(Math.max(0, start)).reduce((sum, { tokens }) => sum + tokens, 0);
  return start <= 0 || size > bound ? 0 : groups.length - start;
}

/** The groups of this many rounds of the newest turn; if it has no more rounds than that, the turn with its prompt. */
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
