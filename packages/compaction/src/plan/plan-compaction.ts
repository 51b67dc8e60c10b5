import type { ContextMessage, EntryId } from "@bough/session-core";
import { groupMessages, type MessageGroup, startsTurn, unsentStart, withMetadata } from "./cut-points.js";
import { type KeepRule, keptGroups } from "./kept-tail.js";
import type { PathItem } from "./span.js";

/** What started a compaction; stored with it. */
export type Trigger = "threshold" | "context_limit_retry" | "manual" | "memory_pressure" | "model_switch";

/** Why there is nothing to compact. */
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

/** How a path is compacted. Every message is in exactly one of `summarize`, `prefix` and `keep`. */
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
 * Decides what is summarized and what is kept. Pure and deterministic; linear in the items.
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
