import { previewArgument } from "../tools/arguments.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, AssistantMessage, Message, ToolCallBlock } from "./message.js";
import type { Content } from "./text.js";

/** Longest preview, in UTF-16 code units: one line of a wide terminal, and short enough to live in the row. */
export const PREVIEW_LENGTH = 160;

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
  const room = Math.max(PREVIEW_LENGTH - calls.length - 1, 40);
  return `${text.length > room ? `${cut(text, room - 1)}…` : text} ${calls}`;
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
    if (text.length > PREVIEW_LENGTH * 2) break;
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
  const text = oneLine(previewArgument(call.arguments));
  const short = text.length > 50 ? `${cut(text, 49)}…` : text;
  return short === "" ? `[${call.name}]` : `[${call.name} ${short}]`;
}

// What cannot stand in a line as it is: white space but single plain spaces, control and direction characters. It does
// not match where nothing has to change, which is nearly everywhere.
const MISFITS =
  / *[\t-\r\u0000-\u0008\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff][\s\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069]*| {2,}/g;

/** Text on one line, at most PREVIEW_LENGTH code units; runs of white space and control characters become one space. */
export function oneLine(text: string): string {
  // Half as much again is enough to fill the line unless the text is mostly white space; a megabyte need not be scanned.
  const line = cut(text.trimStart(), PREVIEW_LENGTH + 80)
    .replace(MISFITS, " ")
    .trim();
  return line.length > PREVIEW_LENGTH ? `${cut(line, PREVIEW_LENGTH - 1)}…` : line;
}

/** The first `length` code units of `text`, one less where that would split a surrogate pair; lone halves become U+FFFD. */
function cut(text: string, length: number): string {
  const piece = text.slice(0, length);
  const last = piece.charCodeAt(piece.length - 1);
  const whole = piece.length < text.length && last >= 0xd800 && last <= 0xdbff ? piece.slice(0, -1) : piece;
  return whole.toWellFormed();
}
