import { checked } from "../arguments/rules.js";
import { MESSAGE_CONTENT } from "../arguments/shapes.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, ContentBlock, FileBlock, Message } from "./message.js";

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
 * True if the user kept an entry out of the conversation: a command with `excludeFromContext`. No context contains it, and searches
 * skip it unless `includePrivate` is set.
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
