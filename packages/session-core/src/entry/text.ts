import { checked } from "../arguments/rules.js";
import { MESSAGE_CONTENT } from "../arguments/shapes.js";
import { shorten } from "../text/cut.js";
import { LINE_CHARS, oneLine } from "../text/one-line.js";
import { choosePreviewText } from "../tools/arguments.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, AssistantMessage, ContentBlock, FileBlock, Message, ToolCallBlock } from "./message.js";

/** The content of a message: a text or blocks. */
export type Content = string | readonly (ContentBlock | AssistantBlock)[];

/**
 * The text blocks of a message's content, joined by line breaks. Other blocks are left out.
 *
 * @throws {InvalidArgumentError} `content` is neither a text nor an array of blocks.
 */
export const textOf: (content: string | readonly (ContentBlock | AssistantBlock)[]) => string = checked(joinTextBlocks, [
  "content",
  MESSAGE_CONTENT,
]);

/** `textOf` without the check of its argument, for content that is stored or validated. */
export function joinTextBlocks(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** A file in a few words, without its content: its name and its type, such as `plan.pdf (application/pdf)`; without a name its URL. */
export function describeFile(file: FileBlock): string {
  const name = file.filename ?? file.url;
  return name === undefined ? file.mediaType : `${name} (${file.mediaType})`;
}

/**
 * Whether a user kept an entry out of the conversation: a command with `excludeFromContext`. No context contains it, and searches
 * leave it out unless `includePrivate` is set.
 */
export function isPrivate(payload: EntryPayload): boolean {
  return payload.type === "message" && payload.message.role === "bashExecution" && payload.message.excludeFromContext === true;
}

/**
 * The text of an entry that the search indexes: texts, thinking, arguments of tool calls, tool output, commands, names and types
 * of files, summaries and their file lists. The content of files, images, ids, `details` of messages, `custom` data and foreign records are not indexed.
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
      return contentText(payload.content);
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
      return contentText(message.content);
    case "bashExecution":
      return joinTexts([message.command, message.output]);
    case "assistant":
      return joinTexts([...message.content.flatMap(blockTexts), message.errorMessage]);
  }
}

function contentText(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" || block.type === "file" ? blockTexts(block) : [])).join("\n");
}

function blockTexts(block: AssistantBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "thinking":
      return [block.thinking];
    case "toolCall":
      return [block.name, ...textsIn(block.arguments)];
    case "file":
      return [describeFile(block)];
    case "image":
    case "foreign":
      return [];
  }
}

/** Every text inside a JSON value, in order. `assertJson` has limited the depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  return Object.values(value).flatMap(textsIn);
}

function joinTexts(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/** One line that describes an entry: its first words, or its tool calls as `[read src/a.ts]`. */
export function previewOf(payload: EntryPayload): string {
  return oneLine(previewText(payload));
}

function previewText(payload: EntryPayload): string {
  switch (payload.type) {
    case "message":
      return messagePreview(payload.message);
    case "compaction":
      return payload.title ?? payload.shortSummary ?? withoutNoteForModel(payload.summary);
    case "branch_summary":
      return withoutNoteForModel(payload.summary);
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

/**
 * Removes the note for the model, between tags, at the start of a summary: it is the same in each summary. A summary that
 * contains only this note is unchanged.
 */
function withoutNoteForModel(summary: string): string {
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
  const text = oneLine(takeOpening(message.content));
  if (text === "" && calls === "") return message.errorMessage ?? (thought(message.content) || contentPreview(message.content));
  if (text === "" || calls === "") return text || calls;
  // A long text is shortened first, so that the calls after it stay readable.
  const room = Math.max(LINE_CHARS - calls.length - 1, 40);
  return `${shorten(text, room)} ${calls}`;
}

function callsPreview(content: readonly AssistantBlock[]): string {
  return content.flatMap((block) => (block.type === "toolCall" ? [callPreview(block)] : [])).join(" ");
}

/** The start of the text of a content, at least as long as a preview: further blocks are not joined. */
function takeOpening(content: Content): string {
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
  const text = takeOpening(content);
  if (text !== "" || typeof content === "string") return text;
  return content.map(blockName).join(" ");
}

function blockName(block: ContentBlock | AssistantBlock): string {
  switch (block.type) {
    case "foreign":
      return `[${block.originalType}]`;
    case "file":
      return `[${describeFile(block)}]`;
    case "text":
    case "image":
    case "thinking":
    case "toolCall":
      return `[${block.type}]`;
  }
}

/** A tool call in a few words: its name and the argument that identifies it, at most 60 code units. */
export function callPreview(call: ToolCallBlock): string {
  const short = oneLine(choosePreviewText(call.arguments), 50);
  return short === "" ? `[${call.name}]` : `[${call.name} ${short}]`;
}
