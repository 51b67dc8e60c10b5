import type { ContextMessage, EntryId, ToolCallBlock } from "@bough/session-core";
import type { PathItem } from "../../plan/span.js";

/** What a tool answered, as it stands on a path, with the call that it answers. */
export interface ToolOutput {
  /** Where it is among the items. */
  readonly at: number;
  readonly id: EntryId;
  readonly tokens: number;
  readonly result: Extract<ContextMessage, { role: "toolResult" }>;
  /** Name of the tool; empty: neither the result nor its call tells. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The tool outputs among items, in their order. A call id may occur again: a result belongs to the nearest call before it. */
export function toolOutputs(items: readonly PathItem[]): readonly ToolOutput[] {
  const calls = new Map<string, ToolCallBlock>();
  const outputs: ToolOutput[] = [];
  for (const [at, { id, tokens, messages }] of items.entries()) {
    const [message] = messages;
    if (message?.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, block);
    } else if (message?.role === "toolResult") {
      const call = calls.get(message.toolCallId);
      outputs.push({ at, id, tokens, result: message, tool: message.toolName ?? call?.name ?? "", arguments: call?.arguments ?? {} });
    }
  }
  return outputs;
}

/** `mcp__files__Read_File`, `read_file` and `readFile` are one tool: the last part, letters and digits only. */
export function normalisedTool(tool: string): string {
  const last = tool.split(/__|[./:]/).at(-1) ?? tool;
  return last.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
