import { shorten } from "../text/cut.js";
import { LINE_CHARS, oneLine } from "../text/one-line.js";
import { previewArgument } from "../tools/arguments.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, AssistantMessage, Message, ToolCallBlock } from "./message.js";
import type { Content } from "./text.js";

/** One line that says what an entry is about: its first words, or its tool calls as `[read src/a.ts]`. */
export function previewOf(payload: EntryPayload): string {
  return oneLine(previewText(payload));
}

function previewText(payload: EntryPayload): string {
  switch (payload.type) {
    case "message":
      return messagePreview(payload.message);
    case "compaction":
      return payload.title ?? payload.shortSummary ?? ownWords(payload.summary);
    case "branch_summary":
      return ownWords(payload.summary);
    case "model_change":
      return payload.provider === undefined ? payload.modelId : `${payload.provider}/${payload.modelId}`;
    case "thinking_level_change":
      return payload.thinkingLevel ?? "default";
    case "context_edit":
      return payload.replacement === null ? `omits ${payload.targetId}` : `replaces ${payload.targetId}`;
    case "custom_message":
      return contentPreview(payload.content);
    case "custom":
      return payload.customType;
    case "foreign":
      return payload.originalType;
  }
}

/** What a summary begins with between tags is a note for the model, the same in each; where it is all there is, it stays. */
function ownWords(summary: string): string {
  return summary.replace(/^\s*<([a-z-]+)>[\s\S]*?<\/\1>\s*(?=\S)/, "");
}

function messagePreview(message: Message): string {
  switch (message.role) {
    case "assistant":
      return assistantPreview(message);
    case "bashExecution":
      return `$ ${message.command}`;
    case "toolResult": {
      const text = contentPreview(message.content);
      return message.isError ? `error: ${text}` : text;
    }
    case "system":
    case "user":
    case "custom":
      return contentPreview(message.content);
  }
}

function assistantPreview(message: AssistantMessage): string {
  const calls = message.content.some((block) => block.type === "toolCall") ? callsPreview(message.content) : "";
  const text = oneLine(openingOf(message.content));
  if (text === "" && calls === "") return message.errorMessage ?? thought(message.content);
  if (text === "" || calls === "") return text || calls;
  // The calls must stay readable behind a long text, so the text gives way first.
  const room = Math.max(LINE_CHARS - calls.length - 1, 40);
  return `${shorten(text, room)} ${calls}`;
}

function callsPreview(content: readonly AssistantBlock[]): string {
  return content.flatMap((block) => (block.type === "toolCall" ? [callPreview(block)] : [])).join(" ");
}

/** As much of the text of a content as a line can need: a megabyte of tool output is not joined for it. */
function openingOf(content: Content): string {
  if (typeof content === "string") return content;
  let text = "";
  for (const block of content) {
    if (block.type === "text") text = text === "" ? block.text : `${text}\n${block.text}`;
    if (text.length > LINE_CHARS * 2) break;
  }
  return text;
}

function thought(content: readonly AssistantBlock[]): string {
  const thinking = content.find((block) => block.type === "thinking");
  return thinking === undefined ? "" : `(thinking) ${thinking.thinking}`;
}

function contentPreview(content: Content): string {
  const text = openingOf(content);
  if (text !== "" || typeof content === "string") return text;
  return content.map((block) => (block.type === "foreign" ? `[${block.originalType}]` : `[${block.type}]`)).join(" ");
}

/** A tool call in a few words: its name and the argument that identifies it, at most 60 code units. */
export function callPreview(call: ToolCallBlock): string {
  const short = oneLine(previewArgument(call.arguments), 50);
  return short === "" ? `[${call.name}]` : `[${call.name} ${short}]`;
}
