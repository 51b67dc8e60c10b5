import type { ContextMessage, EntryId } from "@bough/session-core";
import { CONVERSATION_TYPES } from "@bough/session-core/view";
import type { CompactionSettings } from "../settings/settings.js";
import type { PathItem } from "./span.js";

/** The cause of a compaction; stored with it. */
export type Trigger = "threshold" | "context_limit_retry" | "manual" | "memory_pressure" | "model_switch";

/** The reason why there is nothing to compact. */
export type NothingBecause =
  /** No message came after the compaction in force. */
  | "just-compacted"
  /** Fewer messages than the minimum. */
  | "too-few-messages"
  /** The text to summarize is so short that a summary would not be smaller. */
  | "too-little-text"
  /** Everything is in the kept tail. */
  | "all-is-kept"
  /** The tail is too large, but no entry before it can be cut off: the only turn must be kept. */
  | "no-cut-point";

/** The plan of compacting a path. Every message is in exactly one of `summarize`, `prefix` and `keep`. */
export type CompactionPlan =
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | {
      /** The cut is between two turns, or nothing is kept. */
      readonly kind: "whole-turns";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly [];
      readonly keep: readonly PathItem[];
      /** null: nothing is kept. */
      readonly firstKeptEntryId: EntryId | null;
    }
  | {
      /** The cut is inside a turn: `prefix` is the start of that turn and gets a summary of its own. `summarize` may be empty. */
      readonly kind: "split-turn";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly PathItem[];
      readonly keep: readonly PathItem[];
      readonly firstKeptEntryId: EntryId;
    };

/** A plan that compacts something. */
export type Compactable = Exclude<CompactionPlan, { kind: "nothing-to-compact" }>;

/** Input of `planCompaction`. */
export interface PlanInput {
  /** From the first entry that the compaction in force kept (without one, the first entry) to the leaf. */
  readonly items: readonly PathItem[];
  readonly keep: KeepRule;
  /** Items with fewer messages are not compacted. */
  readonly minMessages: number;
  /** The compaction in force, whose summary starts the context; null: none. */
  readonly inForce: EntryId | null;
}

/**
 * Chooses the cut: what is summarized and what is kept. Pure and deterministic; linear in the items.
 *
 * @example
 * const plan = planCompaction({ items, keep: { by: "tokens", tokens: 20_000, wholeTurnTokens: 0 }, minMessages: 4, inForce: null });
 * if (plan.kind !== "nothing-to-compact") plan.firstKeptEntryId; // never a tool result
 */
export function planCompaction(input: PlanInput): CompactionPlan {
  const { items, keep, minMessages, inForce } = input;
  if (isJustCompacted(items, inForce)) return nothingToCompact("just-compacted");
  const messages = items.reduce((sum, item) => sum + item.messages.length, 0);
  if (messages === 0 || messages < minMessages) return nothingToCompact("too-few-messages");
  const groups = groupMessages(items);
  const kept = keptGroups(groups, keep, items, unsentStart(items));
  const first = groups.length - kept;
  if (!groups.slice(0, first).some((group) => group.messages > 0))
    return nothingToCompact(exceedsRule(groups, keep) ? "no-cut-point" : "all-is-kept");
  return planWithCut(items, groups, first);
}

function nothingToCompact(reason: NothingBecause): CompactionPlan {
  return { kind: "nothing-to-compact", reason };
}

/** No message of the context came after the compaction in force. */
function isJustCompacted(items: readonly PathItem[], inForce: EntryId | null): boolean {
  if (inForce === null) return false;
  return items.findLast(({ id, messages }) => messages.length > 0 || id === inForce)?.id === inForce;
}

function exceedsRule(groups: readonly MessageGroup[], keep: KeepRule): boolean {
  return keep.by === "tokens" && groups.reduce((sum, { tokens }) => sum + tokens, 0) > keep.tokens;
}

function planWithCut(items: readonly PathItem[], groups: readonly MessageGroup[], first: number): CompactionPlan {
  const group = groups[first];
  if (group === undefined) return { kind: "whole-turns", summarize: items, prefix: [], keep: [], firstKeptEntryId: null };
  const cut = withMetadata(items, group.start);
  const keep = items.slice(cut);
  const [firstKept] = keep;
  if (firstKept === undefined) throw new RangeError(`group ${first} starts behind the last item`);
  const firstKeptEntryId = firstKept.id;
  // A turn whose start an earlier compaction summarized is not split again: its rest updates the earlier summary.
  const turn = startsTurn(group) ? undefined : groups.slice(0, first).findLast(startsTurn);
  if (turn === undefined) return { kind: "whole-turns", summarize: items.slice(0, cut), prefix: [], keep, firstKeptEntryId };
  return { kind: "split-turn", summarize: items.slice(0, turn.start), prefix: items.slice(turn.start, cut), keep, firstKeptEntryId };
}

/** The items that the summary replaces, oldest first. */
export function coveredItems({ summarize, prefix }: Compactable): readonly PathItem[] {
  return [...summarize, ...prefix];
}

/** Messages of the items that the summary replaces. */
export function coveredMessages(plan: Compactable): readonly ContextMessage[] {
  return coveredItems(plan).flatMap(({ messages }) => messages);
}

/** Tokens of the items that the summary replaces. */
export function coveredTokens(plan: Compactable): number {
  return coveredItems(plan).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The rule that measures the kept tail. */
export type KeepRule =
  /**
   * Up to `tokens`. The newest turn is kept whole if it has at most `wholeTurnTokens`; 0: it may be cut. With `crossingTokens` also
   * the message that crosses `tokens`, if the tail has at most `crossingTokens` with it.
   */
  | { readonly by: "tokens"; readonly tokens: number; readonly wholeTurnTokens: number; readonly crossingTokens?: number | undefined }
  /** Up to this many messages and at most `mostTokens`. */
  | { readonly by: "messages"; readonly messages: number; readonly mostTokens?: number | undefined }
  /** Up to this many rounds (a reply with the results of its calls) of the newest turn, and at most `mostTokens`. */
  | { readonly by: "rounds"; readonly rounds: number; readonly mostTokens?: number | undefined }
  | { readonly by: "nothing" }
  /** This entry and everything after it; if the path cannot be cut before it, from the cut point above. */
  | { readonly by: "entry"; readonly entryId: EntryId };

/** The inputs of a keep rule besides the settings. */
export interface KeepBounds {
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
  const { limitTokens, mostKeptTokens, ratio, trigger, keepFrom } = bounds;
  if (keepFrom !== undefined) return { by: "entry", entryId: keepFrom };
  if (trigger === "manual" && keep.manual === "nothing") return { by: "nothing" };
  const adapted = (tokens: number) => Math.floor(Math.min(tokens, mostKeptTokens) / (keep.adaptive ? Math.max(1, ratio) : 1));
  const mostTokens = adapted(mostKeptTokens);
  switch (keep.by) {
    case "nothing":
      return { by: "nothing" };
    case "tokens":
      return {
        by: "tokens",
        tokens: adapted(keep.recentTokens),
        wholeTurnTokens: 0,
        ...(keep.crossing ? { crossingTokens: mostTokens } : {}),
      };
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
function keptGroups(groups: readonly MessageGroup[], rule: KeepRule, items: readonly PathItem[], unsent: number | null): number {
  const kept =
    rule.by === "entry"
      ? groupsFromEntry(
          groups,
          items.findIndex(({ id }) => id === rule.entryId),
        )
      : keptByRule(groups, rule, items);
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

function keptByRule(groups: readonly MessageGroup[], rule: Exclude<KeepRule, { by: "entry" }>, items: readonly PathItem[]): number {
  switch (rule.by) {
    case "nothing":
      return 0;
    case "tokens":
      return Math.max(
        rule.crossingTokens === undefined
          ? countWithinTokens(groups, rule.tokens)
          : Math.min(countCrossing(groups, items, rule.tokens), countWithinTokens(groups, rule.crossingTokens)),
        newestTurnGroups(groups, rule.wholeTurnTokens),
      );
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

/**
 * The number of newest groups from the first cut point at or after the message with which the newest ones have at least `tokens`; at
 * least one. The rule of pi 0.73 to 1.5 (`findCutPoint`): a message of the user or the model that crosses the size is kept, and a
 * result that crosses it is not.
 */
function countCrossing(groups: readonly MessageGroup[], items: readonly PathItem[], tokens: number): number {
  let sum = 0;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    sum += items[at]?.tokens ?? 0;
    if (sum < tokens || items[at]?.tokens === 0) continue;
    const first = groups.findIndex(({ start }) => start >= at);
    return first === -1 ? 1 : groups.length - first;
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

/** An item to group: an item of a path, or a message of a request. */
type GroupedItem = Pick<PathItem, "messages" | "tokens">;

/** Items that are kept or summarized together: the message at a cut point and everything up to the next cut point. */
export interface MessageGroup {
  /** Index of its first item. */
  readonly start: number;
  /** Role of its first message; null: the group before the first cut point. */
  readonly role: PathItem["messages"][number]["role"] | null;
  readonly messages: number;
  readonly tokens: number;
}

/** undefined: the item has no message in the context. */
function roleOf({ messages }: GroupedItem): MessageGroup["role"] | undefined {
  return messages[0]?.role;
}

/**
 * Groups items at the allowed cut points, oldest first; `planCompaction` (plan-compaction.ts) chooses the cut among them.
 * A cut is allowed before the message of a user, the model, the host or a command, and before a branch summary; never before
 * a tool result, nor between a call and its result when another message came between, because the context drops a result
 * whose call is summarized. Settings and data belong to the group before a cut point; `withMetadata` moves them to the one
 * after it. Linear in the items.
 */
export function groupMessages(items: readonly GroupedItem[]): readonly MessageGroup[] {
  const groups: MessageGroup[] = [];
  const calledAt = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    groups.push({ start: at, role: cutRole(item), messages: item.messages.length, tokens: item.tokens });
    mergeGroupsAfter(groups, oldestTogether(item, at, calledAt));
    for (const call of callsOf(item)) calledAt.set(call, at);
  }
  return groups;
}

function cutRole(item: GroupedItem): MessageGroup["role"] {
  const role = roleOf(item);
  return role === undefined || role === "toolResult" ? null : role;
}

/** The oldest item that must be in the same group as the item at `at`. */
function oldestTogether(item: GroupedItem, at: number, calledAt: ReadonlyMap<string, number>): number {
  if (cutRole(item) !== null) return at;
  const [message] = item.messages;
  const call = message?.role === "toolResult" ? calledAt.get(message.toolCallId) : undefined;
  return call ?? at - 1;
}

/** Call ids may be reused in a later reply; a result belongs to the nearest call before it, as in a context. */
function callsOf({ messages: [message] }: GroupedItem): readonly string[] {
  return message?.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
}

/** Merges all groups that start after `position` with the group before them. */
function mergeGroupsAfter(groups: MessageGroup[], position: number): void {
  for (let last = groups.at(-1); last !== undefined && last.start > position; last = groups.at(-1)) {
    const before = groups[groups.length - 2];
    if (before === undefined) return;
    groups.splice(-2, 2, { ...before, messages: before.messages + last.messages, tokens: before.tokens + last.tokens });
  }
}

/** True if a turn starts with the group: its message is not from the model, or the user came back from a branch. */
function startsTurn({ role }: MessageGroup): boolean {
  return role === "user" || role === "custom" || role === "bashExecution" || role === "branchSummary";
}

/** The cut at `start` moved before the settings and data directly above it, so that these are kept. */
export function withMetadata(items: readonly PathItem[], start: number): number {
  let cut = start;
  for (let before = items[cut - 1]; before !== undefined && isMetadata(before); before = items[cut - 1]) cut -= 1;
  return cut;
}

// A message that an edit omits is not metadata: it stays with the items before it.
function isMetadata({ type, messages }: PathItem): boolean {
  return messages.length === 0 && !CONVERSATION_TYPES.includes(type);
}

/**
 * Index of the first item that the model has not answered: messages of the user, host and commands after its last reply;
 * also that reply if a tool call of it still runs, because the result will be appended after the compaction and needs its
 * call. null: there is none. These items are always kept.
 */
export function unsentStart(items: readonly PathItem[]): number | null {
  let start: number | null = null;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    const role = item?.messages[0]?.role;
    if (item === undefined || role === undefined || role === "toolResult") continue;
    if (role === "assistant") return hasRunningTool(item) ? at : start;
    if (role !== "user" && role !== "custom" && role !== "bashExecution") return start;
    start = at;
  }
  return start;
}

/** The context adds a synthetic result to the item of a reply whose call has none. */
function hasRunningTool({ messages }: PathItem): boolean {
  return messages.length > 1;
}
