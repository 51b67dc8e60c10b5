import type { ContextMessage } from "@bough/session-core";
import { listToolCalls } from "@bough/session-core/wire";
import { groupMessages, type MessageGroup } from "../plan/plan-compaction.js";
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

/** Messages that are dropped together: a reply with the results of its calls, or one other message. */
export interface RequestGroup extends MessageGroup {
  /** The reply calls a protected tool, so it is dropped last. */
  readonly isProtected: boolean;
}

/** The groups of a request, split at the newest prompt; each list oldest first. */
interface RequestGroups {
  /** Before the newest prompt. */
  readonly old: readonly RequestGroup[];
  /** null: the request has no prompt (`findPromptIndex` is -1). */
  readonly prompt: RequestGroup | null;
  /** After the newest prompt. */
  readonly turn: readonly RequestGroup[];
}

/** Groups that may be dropped, in the order in which they are dropped. */
interface DropPass {
  readonly pass: RemovalPass;
  readonly groups: readonly RequestGroup[];
}

/**
 * Drops groups pass by pass. A pass starts only while the request is over the limit and then drops down to the target. A
 * group may be in several passes. Linear.
 */
export function dropInPasses(parts: RequestParts, passes: readonly DropPass[], budget: FitBudget): FitStep {
  const dropped = new Set<number>();
  const changes: Change[] = [];
  let total = sumTokens(parts);
  for (const { pass, groups } of passes) {
    if (total <= budget.limitTokens) break;
    const before = { messages: dropped.size, tokens: total };
    for (const group of groups) {
      if (total <= budget.targetTokens) break;
      total -= markDropped(parts, group, dropped);
    }
    if (dropped.size > before.messages) {
      changes.push({ kind: "removed-messages", pass, messages: dropped.size - before.messages, tokens: before.tokens - total });
    }
  }
  return changes.length === 0 ? keepParts(parts) : { parts: filterParts(parts, (at) => !dropped.has(at)), changes };
}

/** Adds the messages of a group to `dropped`. @returns the tokens of the messages that were not in it before. */
export function markDropped({ tokens }: RequestParts, { start, messages }: RequestGroup, dropped: Set<number>): number {
  let saved = 0;
  for (let at = start; at < start + messages; at += 1) {
    if (dropped.has(at)) continue;
    dropped.add(at);
    saved += tokens[at] ?? 0;
  }
  return saved;
}

/**
 * The passes of `request.fit: "dropOldest"`, as in the truncator of Copilot CLI, each oldest first: replies before the
 * newest prompt with their results, so that user messages stay longest; then everything before the newest prompt; then
 * replies after it. Calls of protected tools stay in the first and third pass, the newest prompt stays in all.
 *
 * Unlike that truncator, no pass drops summaries, which are the only record of earlier messages, or the newest reply,
 * which the model would repeat. `applyLastResort` drops both if nothing else is left.
 */
export function planOldestFirst(groups: RequestGroups): readonly DropPass[] {
  const newest = findNewestReply(groups);
  const isUnprotectedReply = (group: RequestGroup): boolean => isReply(group) && !group.isProtected;
  return [
    { pass: "old-replies", groups: groups.old.filter(isUnprotectedReply) },
    { pass: "old-messages", groups: groups.old.filter((group) => !isSummary(group)) },
    { pass: "turn-replies", groups: groups.turn.filter((group) => isUnprotectedReply(group) && group !== newest) },
  ];
}

// The priorities of VS Code. A prompt has 900 there; here it is never dropped.
const HISTORY = 700;

const ROUND = 899;

/**
 * The pass of `request.fit: "byPriority"`, as in VS Code: lowest priority first, then oldest first. Messages before the
 * newest prompt have priority 700, rounds of tool calls after it 899. Calls of protected tools are last of their priority.
 * Summaries and the newest reply stay, as in `planOldestFirst`.
 */
export function planByPriority(groups: RequestGroups): readonly DropPass[] {
  const newest = findNewestReply(groups);
  const ranked = [
    ...groups.old.filter((group) => !isSummary(group)).map((group) => ({ group, priority: HISTORY })),
    ...groups.turn.filter((group) => isReply(group) && group !== newest).map((group) => ({ group, priority: ROUND })),
  ];
  // The sort is stable, so groups of equal rank stay in order of age.
  const sorted = ranked.toSorted(
    (one, other) => one.priority - other.priority || Number(one.group.isProtected) - Number(other.group.isProtected),
  );
  return [{ pass: "priority", groups: sorted.map(({ group }) => group) }];
}

/** Groups the messages of a request in which each result follows its call. Linear. */
export function groupRequest({ messages, tokens }: RequestParts, protectedTools: readonly string[]): RequestGroups {
  const promptAt = findPromptIndex(messages);
  const tools = new Set(protectedTools);
  const items = messages.map((message, at) => ({ messages: [message], tokens: tokens[at] ?? 0 }));
  const groups = groupMessages(items).map((group) => ({ ...group, isProtected: callsAnyTool(messages[group.start], tools) }));
  return {
    old: groups.filter(({ start }) => start < promptAt),
    prompt: groups.find(({ start }) => start === promptAt) ?? null,
    turn: groups.filter(({ start }) => start > promptAt),
  };
}

/** The newest reply of the turn with its results: the model continues from it. */
function findNewestReply({ turn }: RequestGroups): RequestGroup | undefined {
  return turn.findLast(isReply);
}

/** True if a group is a reply with its results. */
function isReply({ role }: MessageGroup): boolean {
  return role === "assistant";
}

/** True if a group is the summary of a compaction or of a branch. */
export function isSummary({ role }: Pick<MessageGroup, "role">): boolean {
  return role === "compactionSummary" || role === "branchSummary";
}

/**
 * The index of the newest prompt, -1 for none: the last user message; if there is none, because a compaction summarized
 * the prompt of a long turn, the newest summary; else the last message of the host or command of the user.
 */
export function findPromptIndex(messages: readonly ContextMessage[]): number {
  const byUser = messages.findLastIndex(({ role }) => role === "user");
  if (byUser >= 0) return byUser;
  const summary = messages.findLastIndex(isSummary);
  return summary >= 0 ? summary : messages.findLastIndex(({ role }) => role === "custom" || role === "bashExecution");
}

function callsAnyTool(message: ContextMessage | undefined, tools: ReadonlySet<string>): boolean {
  return tools.size > 0 && message?.role === "assistant" && listToolCalls(message).some(({ name }) => tools.has(name));
}
