import type { EntryId } from "@bough/session-core";
import type { PathItem } from "../path/path-item.js";
import { type Group, groupsOf, startsTurn, withMetadata } from "./groups.js";
import type { KeepRule } from "./keep-rule.js";
import { keptGroups } from "./kept-groups.js";
import type { CompactionPlan, NothingBecause } from "./plan.js";
import { unsentStart } from "./unsent.js";

export { type KeepBounds, type KeepRule, keepRuleOf } from "./keep-rule.js";

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
  if (isJustCompacted(items, inForce)) return nothing("just-compacted");
  const messages = items.reduce((sum, item) => sum + item.messages.length, 0);
  if (messages === 0 || messages < minMessages) return nothing("too-few-messages");
  const groups = groupsOf(items);
  const kept = keptGroups(groups, keep, items, unsentStart(items));
  const first = groups.length - kept;
  if (!groups.slice(0, first).some((group) => group.messages > 0)) return nothing(overflows(groups, keep) ? "no-cut-point" : "all-is-kept");
  return cutAt(items, groups, first);
}

function nothing(reason: NothingBecause): CompactionPlan {
  return { kind: "nothing-to-compact", reason };
}

/** Nothing that the model reads came after the compaction in force. */
function isJustCompacted(items: readonly PathItem[], inForce: EntryId | null): boolean {
  if (inForce === null) return false;
  return items.findLast(({ id, messages }) => messages.length > 0 || id === inForce)?.id === inForce;
}

function overflows(groups: readonly Group[], keep: KeepRule): boolean {
  return keep.by === "tokens" && groups.reduce((sum, { tokens }) => sum + tokens, 0) > keep.tokens;
}

function cutAt(items: readonly PathItem[], groups: readonly Group[], first: number): CompactionPlan {
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
