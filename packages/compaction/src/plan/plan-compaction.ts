import type { ContextMessage, EntryId } from "@bough/session-core";
import { groupMessages, type MessageGroup, startsTurn, unsentStart, withMetadata } from "./cut-points.js";
import { type KeepRule, keptGroups } from "./kept-tail.js";
import type { PathItem } from "./span.js";

/** Why there is nothing to compact. */
export type NothingBecause =
  /** The last entry that matters is a compaction. */
  | "just-compacted"
  /** Fewer messages than the minimum. */
  | "too-few-messages"
  /** What would be summarised is so short that no summary is smaller. */
  | "too-little-text"
  /** Everything fits into what is to be kept. */
  | "all-is-kept"
  /** No entry can be the first kept one: a single turn that must stay. */
  | "no-cut-point";

/** How a path is to be shortened. Every message of the path is in exactly one of `summarize`, `prefix` and `keep`. */
export type CompactionPlan =
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | {
      /** The cut is between two turns (or nothing is kept). */
      readonly kind: "whole-turns";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly [];
      readonly keep: readonly PathItem[];
      /** null: nothing is kept. */
      readonly firstKeptEntryId: EntryId | null;
    }
  | {
      /** The cut is inside a turn: `prefix` is its summarised start. `summarize` may be empty. */
      readonly kind: "split-turn";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly PathItem[];
      readonly keep: readonly PathItem[];
      readonly firstKeptEntryId: EntryId;
    };

/** What there is to do, when there is something. */
export type Compactable = Exclude<CompactionPlan, { kind: "nothing-to-compact" }>;

/** What a plan is made from. */
export interface PlanInput {
  /** From the first entry that the compaction in force kept (or the first of all) to the leaf, in the order of the path. */
  readonly items: readonly PathItem[];
  readonly keep: KeepRule;
  /** A span with fewer messages is left alone. */
  readonly minMessages: number;
  /** The compaction that the context starts with; null: none. */
  readonly inForce: EntryId | null;
}

/**
 * Decides what is summarised and what is kept. Pure: the same plan for the same input; linear in the items.
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

/** Nothing that the model reads came after the compaction in force. */
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
  const firstKeptEntryId = (items[cut] as PathItem).id;
  const keep = items.slice(cut);
  // A turn that an earlier compaction cut has its start in the earlier summary, which is updated with the rest of it.
  const turn = startsTurn(group) ? undefined : groups.slice(0, first).findLast(startsTurn);
  if (turn === undefined) return { kind: "whole-turns", summarize: items.slice(0, cut), prefix: [], keep, firstKeptEntryId };
  return { kind: "split-turn", summarize: items.slice(0, turn.start), prefix: items.slice(turn.start, cut), keep, firstKeptEntryId };
}

/** The items that a plan takes out of the context, oldest first. */
export function coveredItems({ summarize, prefix }: Compactable): readonly PathItem[] {
  return [...summarize, ...prefix];
}

/** Their messages. */
export function coveredMessages(plan: Compactable): readonly ContextMessage[] {
  return coveredItems(plan).flatMap(({ messages }) => messages);
}

/** Their tokens. */
export function coveredTokens(plan: Compactable): number {
  return coveredItems(plan).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** What made a compaction run; stored with it. Copilot CLI's names. */
export type Trigger = "threshold" | "context_limit_retry" | "manual" | "memory_pressure" | "model_switch";
