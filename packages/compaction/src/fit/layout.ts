import type { ContextMessage } from "@bough/session-core";
import { callsOf } from "@bough/session-core/internals";

/** Messages that are left out together or not at all: a reply with the results of its calls, or one other message. */
export interface Group {
  /** Its messages are those from `start` up to, without, `end`. */
  readonly start: number;
  readonly end: number;
  /** `said`: by a person or a host; `summary`: of a compaction or a branch, the memory of what is no longer there. */
  readonly kind: "reply" | "said" | "summary";
  /** It calls a tool whose calls are left out last. */
  readonly isProtected: boolean;
}

/** A request as the rules for leaving out messages see it. */
export interface RequestGroups {
  /** What stands before the newest prompt, oldest first. */
  readonly old: readonly Group[];
  /** null: nobody said anything. */
  readonly prompt: Group | null;
  /** What stands behind the newest prompt, oldest first. */
  readonly turn: readonly Group[];
}

/** Groups the messages of a request whose results stand behind their calls. Linear. */
export function groupRequest(messages: readonly ContextMessage[], protectedTools: readonly string[]): RequestGroups {
  const promptAt = findPromptIndex(messages);
  const groups = groupsOf(messages, new Set(protectedTools));
  return {
    old: groups.filter(({ start }) => start < promptAt),
    prompt: groups.find(({ start }) => start === promptAt) ?? null,
    turn: groups.filter(({ start }) => start > promptAt),
  };
}

/** The newest reply of the turn with its results: what the model has to go on from. */
export function findNewestReply({ turn }: RequestGroups): Group | undefined {
  return turn.findLast(({ kind }) => kind === "reply");
}

/**
 * The place of the newest prompt, −1 for none. After a compaction inside a long turn no message of a person may be
 * left; then the newest summary, which holds the prompt, stands for it.
 */
export function findPromptIndex(messages: readonly ContextMessage[]): number {
  const byPerson = messages.findLastIndex(({ role }) => role === "user");
  if (byPerson >= 0) return byPerson;
  const summary = messages.findLastIndex(isSummary);
  return summary >= 0 ? summary : messages.findLastIndex(({ role }) => role === "custom" || role === "bashExecution");
}

function groupsOf(messages: readonly ContextMessage[], protectedTools: ReadonlySet<string>): readonly Group[] {
  const groups: Group[] = [];
  for (let start = 0; start < messages.length; ) {
    const message = messages[start];
    let end = start + 1;
    if (message?.role === "assistant") while (messages[end]?.role === "toolResult") end += 1;
    groups.push({ start, end, kind: kindOf(message), isProtected: callsAnyTool(message, protectedTools) });
    start = end;
  }
  return groups;
}

function kindOf(message: ContextMessage | undefined): Group["kind"] {
  if (message?.role === "assistant") return "reply";
  return message !== undefined && isSummary(message) ? "summary" : "said";
}

function isSummary({ role }: ContextMessage): boolean {
  return role === "compactionSummary" || role === "branchSummary";
}

function callsAnyTool(message: ContextMessage | undefined, tools: ReadonlySet<string>): boolean {
  return tools.size > 0 && message?.role === "assistant" && callsOf(message).some(({ name }) => tools.has(name));
}
