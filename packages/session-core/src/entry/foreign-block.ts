import { isObject } from "./json.js";
import type { AssistantBlock, ContentBlock, ForeignBlock } from "./message.js";

/** The blocks as a person, a tool or a host can say them: thoughts and calls become foreign blocks. */
export function toContentBlocks(content: readonly AssistantBlock[]): readonly ContentBlock[] {
  return content.map((block) => (block.type === "thinking" || block.type === "toolCall" ? toForeignBlock(block) : block));
}

/** What stands for a block of another program: its type, and the block as it came. */
export function toForeignBlock(block: unknown): ForeignBlock {
  const type = isObject(block) ? block["type"] : undefined;
  return { type: "foreign", originalType: typeof type === "string" ? type : "unknown", raw: block ?? null };
}
