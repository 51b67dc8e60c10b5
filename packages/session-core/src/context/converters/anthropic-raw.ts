import type { AnthropicAssistantBlock, AnthropicRawBlock, AnthropicRedactedThinkingBlock } from "./anthropic-message.js";
import type { ProjectedForeign } from "./projected-message.js";
import { wellFormed } from "./well-formed.js";

type Raw = Readonly<Record<string, unknown>>;

/** A block that the API takes inside a user message or a tool result: a document or a search result. */
export function rawUserBlock(part: ProjectedForeign): AnthropicRawBlock | undefined {
  const raw = recordOf(part.raw);
  if (raw?.["type"] === "document" && recordOf(raw["source"]) !== undefined) return { ...raw, type: "document" };
  if (raw?.["type"] === "search_result" && Array.isArray(raw["content"])) return { ...raw, type: "search_result" };
  return undefined;
}

/** A block that the API takes inside an assistant message: a use of a tool that Anthropic runs, its result, hidden thought. */
export function rawAssistantBlock(part: ProjectedForeign): AnthropicRawBlock | AnthropicRedactedThinkingBlock | undefined {
  const raw = recordOf(part.raw);
  const type = raw?.["type"];
  if (raw === undefined || typeof type !== "string") return undefined;
  if (type === "redacted_thinking") return typeof raw["data"] === "string" ? { type, data: raw["data"] } : undefined;
  if (type === "server_tool_use" || type === "mcp_tool_use") return typeof raw["id"] === "string" ? { ...raw, type } : undefined;
  return isServerResult(type) && typeof raw["tool_use_id"] === "string" ? { ...raw, type } : undefined;
}

function isServerResult(type: string): type is `${string}_tool_result` {
  return type.endsWith("_tool_result");
}

/**
 * The blocks without any use of a server tool that has no result behind it, and without results of no use: a reply
 * that was broken off between them would make the API refuse every later request.
 */
export function withPairedServerTools(blocks: readonly AnthropicAssistantBlock[]): AnthropicAssistantBlock[] {
  const used = new Set(blocks.flatMap((block) => (isServerUse(block) ? [block["id"]] : [])));
  const answered = new Set(blocks.flatMap((block) => (isServerAnswer(block) ? [block["tool_use_id"]] : [])));
  return blocks.filter((block) => {
    if (isServerUse(block)) return answered.has(block["id"]);
    return !isServerAnswer(block) || used.has(block["tool_use_id"]);
  });
}

function isServerUse(block: AnthropicAssistantBlock): block is AnthropicRawBlock {
  return block.type === "server_tool_use" || block.type === "mcp_tool_use";
}

function isServerAnswer(block: AnthropicAssistantBlock): block is AnthropicRawBlock {
  return isServerResult(block.type);
}

function recordOf(value: unknown): Raw | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return wellFormed(value) as Raw;
}
