import type { Entry, SearchHit } from "@bough/session-core";
import type { EntrySource } from "./entry-source.js";

/** Whether an entry calls a tool, or is its result. */
function usesTool(entry: Entry, tool: string): boolean {
  if (entry.type !== "message") return false;
  const isNamed = (name: string | undefined) => name?.toLowerCase() === tool.toLowerCase();
  const { message } = entry;
  if (message.role === "toolResult") return isNamed(message.toolName);
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall" && isNamed(block.name));
}

/** Whether a hit calls a tool, or is its result. Cost: its payload. */
export async function isOfTool(source: EntrySource, { sessionId, entryId }: SearchHit, tool: string): Promise<boolean> {
  const entry = entryId === null ? undefined : await source.find(sessionId, entryId);
  return entry !== undefined && usesTool(entry, tool);
}
