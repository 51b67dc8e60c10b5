import type { PathItem } from "../path/path-item.js";

/** Items that are kept or summarised together: a message at which a path may be cut, and what hangs on it. */
export interface Group {
  /** Where its first item is. */
  readonly start: number;
  /** Role of its first message; null: what stands before the first cut point of a span. */
  readonly role: PathItem["messages"][number]["role"] | null;
  readonly messages: number;
  readonly tokens: number;
}

/** The role that decides whether a path may be cut before an item; undefined: the model reads nothing of it. */
function roleOf({ messages }: PathItem): Group["role"] | undefined {
  return messages[0]?.role;
}

/**
 * The groups of a span, oldest first. A path may be cut before a user's, assistant's, host's or command's message and
 * before a summary of a branch; never before a tool result, which so stays with its call (the rule of pi and oh-my-pi).
 * Settings and data stand at the end of the group before a cut point; `withMetadata` moves them over.
 */
export function groupsOf(items: readonly PathItem[]): readonly Group[] {
  const groups: Group[] = [];
  for (const [at, item] of items.entries()) {
    const role = roleOf(item);
    const last = groups.at(-1);
    if (last === undefined || (role !== undefined && role !== "toolResult")) {
      groups.push({
        start: at,
        role: role === undefined || role === "toolResult" ? null : role,
        messages: item.messages.length,
        tokens: item.tokens,
      });
    } else {
      groups[groups.length - 1] = { ...last, messages: last.messages + item.messages.length, tokens: last.tokens + item.tokens };
    }
  }
  return groups;
}

/** Whether a turn starts with the group (oh-my-pi's rule): somebody but the model spoke, or came back from a branch. */
export function startsTurn({ role }: Group): boolean {
  return role === "user" || role === "custom" || role === "bashExecution" || role === "branchSummary";
}

/** Whether the model has yet to answer the group, when nothing but its like follows. */
export function isInput({ role }: Group): boolean {
  return role === "user" || role === "custom" || role === "bashExecution";
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
