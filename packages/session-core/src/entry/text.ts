import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, ContentBlock, Message } from "./message.js";

/** What a person, a tool or a model said: a text or blocks. */
export type Content = string | readonly (ContentBlock | AssistantBlock)[];

/** The text blocks of a content, joined by line breaks; everything else is left out. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/**
 * What a search looks at in an entry: texts, thoughts, the arguments of tool calls, tool output, commands, summaries
 * and their file lists. Never images, ids, or what only hosts read (`details`, `custom` data, foreign records).
 */
export function searchableText(payload: EntryPayload): string {
  switch (payload.type) {
    case "message":
      return messageText(payload.message);
    case "compaction":
      return joinTexts([payload.title, payload.shortSummary, payload.summary, ...textsIn(payload.details)]);
    case "branch_summary":
      return joinTexts([payload.summary, ...textsIn(payload.details)]);
    case "custom_message":
      return textOf(payload.content);
    case "context_edit":
      return payload.replacement === null ? "" : joinTexts(textsIn(payload.replacement.content));
    case "model_change":
    case "thinking_level_change":
    case "custom":
    case "foreign":
      return "";
  }
}

function messageText(message: Message): string {
  switch (message.role) {
    case "system":
    case "user":
    case "toolResult":
    case "custom":
      return textOf(message.content);
    case "bashExecution":
      return joinTexts([message.command, message.output]);
    case "assistant":
      return joinTexts([...message.content.flatMap(blockTexts), message.errorMessage]);
  }
}

function blockTexts(block: AssistantBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "thinking":
      return [block.thinking];
    case "toolCall":
      return [block.name, ...textsIn(block.arguments)];
    case "image":
    case "foreign":
      return [];
  }
}

/** Every text inside a JSON value, in order. Depth is bounded by the gate. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function joinTexts(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}
