import type { ContextMessage } from "@bough/session-core";
import { callsOf } from "@bough/session-core/internals";
import { groupMessages, type MessageGroup } from "../plan/cut-points.js";
import type { RequestParts } from "./request-parts.js";

/** Messages that are dropped together: a reply with the results of its calls, or one other message. */
export interface RequestGroup extends MessageGroup {
  /** The reply calls a protected tool, so it is dropped last. */
  readonly isProtected: boolean;
}

/** The groups of a request, split at the newest prompt; each list oldest first. */
export interface RequestGroups {
  /** Before the newest prompt. */
  readonly old: readonly RequestGroup[];
  /** null: the request has no prompt (`findPromptIndex` is -1). */
  readonly prompt: RequestGroup | null;
  /** After the newest prompt. */
  readonly turn: readonly RequestGroup[];
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
export function findNewestReply({ turn }: RequestGroups): RequestGroup | undefined {
  return turn.findLast(isReply);
}

/** Whether a group is a reply with its results. */
export function isReply({ role }: MessageGroup): boolean {
  return role === "assistant";
}

/** Whether a group is the summary of a compaction or of a branch. */
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
  return tools.size > 0 && message?.role === "assistant" && callsOf(message).some(({ name }) => tools.has(name));
}
