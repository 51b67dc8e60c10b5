import { findNewestReply, type Group, type RequestGroups } from "./layout.js";
import {
  type Change,
  type FitBudget,
  type FitStep,
  filterParts,
  keepParts,
  type RemovalPass,
  type RequestParts,
  sumTokens,
} from "./request-parts.js";

/** Groups that may go, in the order in which they go. */
export interface DropPass {
  readonly pass: RemovalPass;
  readonly groups: readonly Group[];
}

/**
 * Leaves out groups, stage by stage. A stage begins only while the request is over the limit, and then goes on to the
 * target, as Copilot CLI's passes do. A group may stand in several stages. Linear.
 */
export function dropInPasses(parts: RequestParts, stages: readonly DropPass[], room: FitBudget): FitStep {
  const gone = new Set<number>();
  const changes: Change[] = [];
  let total = sumTokens(parts);
  for (const { pass, groups } of stages) {
    if (total <= room.limitTokens) break;
    const before = { messages: gone.size, tokens: total };
    for (const group of groups) {
      if (total <= room.targetTokens) break;
      total -= markDropped(parts, group, gone);
    }
    if (gone.size > before.messages) {
      changes.push({ kind: "removed-messages", pass, messages: gone.size - before.messages, tokens: before.tokens - total });
    }
  }
  return changes.length === 0 ? keepParts(parts) : { parts: filterParts(parts, (at) => !gone.has(at)), changes };
}

/** Marks the messages of a group as gone. @returns their tokens. */
function markDropped({ tokens }: RequestParts, { start, end }: Group, gone: Set<number>): number {
  let saved = 0;
  for (let at = start; at < end; at += 1) {
    if (gone.has(at)) continue;
    gone.add(at);
    saved += tokens[at] ?? 0;
  }
  return saved;
}

/**
 * Copilot CLI's truncator. Pass 1: replies before the newest prompt with their results, so that what the person said
 * stays longest; pass 2: everything before the newest prompt; pass 3: replies behind it too. Oldest first. Calls of
 * protected tools stay in passes 1 and 3; the newest prompt stays in all.
 *
 * Two things are better than there. Summaries are user messages to that truncator and go in pass 2; here they stay,
 * being all that is known of what is no longer there. And the newest reply stays, since a model that does not see what
 * it just did does it again. Both go only when nothing else is left: see `lastResort`.
 */
export function planOldestFirst(layout: RequestGroups): readonly DropPass[] {
  const newest = findNewestReply(layout);
  return [
    { pass: 1, groups: layout.old.filter(isFreeReply) },
    { pass: 2, groups: layout.old.filter(({ kind }) => kind !== "summary") },
    { pass: 3, groups: layout.turn.filter((group) => isFreeReply(group) && group !== newest) },
  ];
}

function isFreeReply({ kind, isProtected }: Group): boolean {
  return kind === "reply" && !isProtected;
}

// VS Code's figures. The prompt has 900 there: it is in no stage, which says the same.
const HISTORY = 700;
const ROUND = 899;

/**
 * VS Code's pruning: what has the lowest priority goes first, and of one priority the oldest. History before the newest
 * prompt has 700, rounds of tool calls behind it 899. Calls of protected tools go last of their priority. Summaries and
 * the newest reply are left to `lastResort`, as in the three passes.
 */
export function planByPriority(layout: RequestGroups): readonly DropPass[] {
  const newest = findNewestReply(layout);
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
