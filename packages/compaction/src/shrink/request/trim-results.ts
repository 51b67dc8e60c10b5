import type { ContentBlock, ToolResultMessage } from "@bough/session-core";
import { cutMarker, headOf } from "./cut-text.js";
import { promptPlace } from "./layout.js";
import { type Counted, type CountMessage, partsWith, type RequestParts, type Shaping, savedBy, unchanged } from "./request-parts.js";

// Room for the marker and a first word.
const LEAST_CHARS = 80;

/**
 * Cuts tool results that stand before the newest prompt to their first `trimChars` characters (UTF-16 units), a line that
 * says how many are gone among them. co-cli's rule: the newest turn is untouched, tool name and call id stay, a result of
 * JSON is measured and cut as its JSON text. 0 disables; less than 80 counts as 80. Linear.
 */
export function trimResults(parts: RequestParts, trimChars: number, count: CountMessage): Shaping {
  if (trimChars === 0) return unchanged(parts);
  const changed = new Map<number, Counted>();
  const promptAt = promptPlace(parts.messages);
  for (const [at, message] of parts.messages.entries()) {
    if (at >= promptAt) break;
    if (message.role !== "toolResult") continue;
    const trimmed = trimResult(message, Math.max(LEAST_CHARS, trimChars));
    if (trimmed !== message) changed.set(at, { message: trimmed, tokens: count(trimmed) });
  }
  if (changed.size === 0) return unchanged(parts);
  const change = { kind: "trimmed", results: changed.size, tokens: savedBy(parts, changed) } as const;
  return { parts: partsWith(parts, changed), changes: [change] };
}

function trimResult(message: ToolResultMessage, chars: number): ToolResultMessage {
  const { content } = message;
  const text = typeof content === "string" ? content : content.flatMap(blockText).join("\n");
  if (text.length <= chars) return message;
  const head = headOf(text, chars - cutMarker(text.length, 0).length - 1);
  const trimmed = `${head}\n${cutMarker(text.length - head.length, 0)}`;
  if (typeof content === "string") return { ...message, content: trimmed };
  return { ...message, content: [{ type: "text", text: trimmed }, ...content.filter(({ type }) => type === "image")] };
}

function blockText(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "foreign":
      return [JSON.stringify(block.raw) ?? ""];
    case "image":
      return [];
  }
}
