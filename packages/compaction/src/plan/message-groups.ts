import { CONVERSATION_TYPES } from "@bough/session-core/view";
import type { PathItem } from "./span.js";

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
export function startsTurn({ role }: MessageGroup): boolean {
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
