import { isObject } from "./json.js";
import type { AssistantBlock, ContentBlock, ForeignBlock } from "./message.js";

/** The blocks of a reply as blocks of a user message or tool result: thinking and tool calls become foreign blocks. */
export function toContentBlocks(content: readonly AssistantBlock[]): readonly ContentBlock[] {
  return content.map((block) => (block.type === "thinking" || block.type === "toolCall" ? toForeignBlock(block) : block));
}

/** Wraps a block of an unknown type: its type, and the block unchanged. */
export function toForeignBlock(block: unknown): ForeignBlock {
  const type = isObject(block) ? block["type"] : undefined;
  return { type: "foreign", originalType: typeof type === "string" ? type : "unknown", raw: block ?? null };
}
