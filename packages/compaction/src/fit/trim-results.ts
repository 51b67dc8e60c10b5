import type { ContentBlock, ToolResultMessage } from "@bough/session-core";
import { cutMarker, headOf } from "../shrink/request/cut-text.js";
import { cutMessage } from "./cut-message.js";
import {
  type CountedMessage,
  type CountMessage,
  countSavedTokens,
  type FitStep,
  keepParts,
  type RequestParts,
  replaceParts,
} from "./request-parts.js";

// Room for the marker and a first word.
const LEAST_CHARS = 80;

/**
 * Cuts tool results to their first `trimChars` characters (UTF-16 units), a line that says how many are gone among them; all
 * but those of the newest reply, which the model has not read yet. co-cli's rule, whose last two messages are a reply and
 * all its results: so a long turn is trimmed while it runs. Tool name and call id stay, a result of JSON is measured and
 * cut as its JSON text. 0 disables; less than 80 counts as 80. Linear.
 */
export function trimResults(parts: RequestParts, trimChars: number, count: CountMessage): FitStep {
  if (trimChars === 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  const newestReply = parts.messages.findLastIndex(({ role }) => role === "assistant");
  for (const [at, message] of parts.messages.entries()) {
    if (at >= newestReply) break;
    if (message.role !== "toolResult") continue;
    const trimmed = trimResult(message, Math.max(LEAST_CHARS, trimChars));
    if (trimmed !== message) changed.set(at, { message: trimmed, tokens: count(trimmed) });
  }
  if (changed.size === 0) return keepParts(parts);
  const change = { kind: "trimmed", results: changed.size, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
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

/** The most that one tool result may take. */
export interface ResultCap {
  /** 0: there is no cap. */
  readonly capTokens: number;
  readonly headShare: number;
}

/**
 * Cuts the middle out of each tool result that is over the cap, whatever the request has in all. VS Code's rule; here also
 * for the output of a command that the person ran. Linear.
 */
export function capResults(parts: RequestParts, { capTokens, headShare }: ResultCap, count: CountMessage): FitStep {
  if (capTokens <= 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  for (const [at, message] of parts.messages.entries()) {
    const tokens = parts.tokens[at] ?? 0;
    if ((message.role !== "toolResult" && message.role !== "bashExecution") || tokens <= capTokens) continue;
    const cut = cutMessage({ message, tokens }, { budgetTokens: capTokens, headShare, count });
    if (cut.message !== message) changed.set(at, cut);
  }
  if (changed.size === 0) return keepParts(parts);
  const change = { kind: "cut-tool-results", results: changed.size, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
}
