import type { PathItem } from "../path/path-item.js";

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
