import type { PathItem } from "./span.js";

/** What is grouped: an item of a path, or one message of a request. */
export type GroupedItem = Pick<PathItem, "messages" | "tokens">;

/** Items that are kept or summarised together: a message at which a path may be cut, and all up to the next one. */
export interface MessageGroup {
  /** Where its first item is. */
  readonly start: number;
  /** Role of its first message; null: what stands before the first cut point of a span. */
  readonly role: PathItem["messages"][number]["role"] | null;
  readonly messages: number;
  readonly tokens: number;
}

/** The role that decides whether a path may be cut before an item; undefined: the model reads nothing of it. */
function roleOf({ messages }: GroupedItem): MessageGroup["role"] | undefined {
  return messages[0]?.role;
}

/**
 * The groups of a span, oldest first. A path may be cut before a user's, assistant's, host's or command's message and
 * before a summary of a branch; never before a tool result (the rule of pi and oh-my-pi), nor between a call and its
 * result where somebody spoke meanwhile: the context would drop a result whose call is summarised. Settings and data stand
 * at the end of the group before a cut point; `withMetadata` moves them over. Linear in the items.
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

/** The oldest item that must be on the same side of a cut as the one at `at`. */
function oldestTogether(item: GroupedItem, at: number, calledAt: ReadonlyMap<string, number>): number {
  if (cutRole(item) !== null) return at;
  const [message] = item.messages;
  const call = message?.role === "toolResult" ? calledAt.get(message.toolCallId) : undefined;
  return call ?? at - 1;
}

/** Ids may occur again in a later reply: a result belongs to the nearest one before it, as in a context. */
function callsOf({ messages: [message] }: GroupedItem): readonly string[] {
  return message?.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
}

/** Makes one group of all that start behind `position` and the one before them. */
function mergeGroupsAfter(groups: MessageGroup[], position: number): void {
  for (let last = groups.at(-1); last !== undefined && last.start > position; last = groups.at(-1)) {
    const before = groups[groups.length - 2];
    if (before === undefined) return;
    groups.splice(-2, 2, { ...before, messages: before.messages + last.messages, tokens: before.tokens + last.tokens });
  }
}

/** Whether a turn starts with the group (oh-my-pi's rule): somebody but the model spoke, or came back from a branch. */
export function startsTurn({ role }: MessageGroup): boolean {
  return role === "user" || role === "custom" || role === "bashExecution" || role === "branchSummary";
}

/** A cut at `start`, moved up over the settings and data directly before it, which then are kept (oh-my-pi's rule). */
export function withMetadata(items: readonly PathItem[], start: number): number {
  let cut = start;
  for (let before = items[cut - 1]; before !== undefined && isMetadata(before); before = items[cut - 1]) cut -= 1;
  return cut;
}

// A message that an edit took out is no setting: it goes where its neighbours before it go.
function isMetadata({ type, messages }: PathItem): boolean {
  return messages.length === 0 && type !== "compaction" && type !== "message" && type !== "custom_message" && type !== "branch_summary";
}

/**
 * Where the part begins that the model has yet to answer: what people, hosts and commands put in after its last reply
 * (regression R99), and that reply too where a tool of it is still at work, as its result comes after the compaction and
 * would find no call. null: there is no such part.
 */
export function unsentStart(items: readonly PathItem[]): number | null {
  let start: number | null = null;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    const role = item?.messages[0]?.role;
    if (item === undefined || role === undefined || role === "toolResult") continue;
    if (role === "assistant") return waitsForTool(item) ? at : start;
    if (role !== "user" && role !== "custom" && role !== "bashExecution") return start;
    start = at;
  }
  return start;
}

/** A context closes calls without a result by one of its own, which hangs on the reply. */
function waitsForTool({ messages }: PathItem): boolean {
  return messages.length > 1;
}
