import type { AssistantBlock, ContentBlock, ContextEditPayload, Entry, Message } from "@bough/session-core";
import { cleanText, describeFile, isPrivate } from "@bough/session-core/view";
import { formatIsoTime } from "../checkpoints/checkpoint.js";
import { formatCall } from "./call-text.js";

/** A line in the text of an entry that looks like the heading of another one. */
const HEAD = /^(?=[^\S\n]{0,100}[[［][^\]］\n]{1,128}[\]］][^\S\n]{0,20}(?:\d{4}-\d\d-\d\d\b|time unknown))/gm;

/** One line: id, time and who speaks. */
export function formatHead(entry: Entry): string {
  const mark = isPrivate(entry) ? ", private" : "";
  return cleanText(`[${entry.id}] ${formatTime(entry.createdAtMs)} ${formatSpeaker(entry)}${mark}`).replace(/\s+/g, " ");
}

/**
 * The content of an entry word for word: texts, arguments of tools with their line breaks, tool output; images by their kind. Omits data
 * of the host, and commands that the user ran outside of the conversation unless `includePrivate` is set. Removes control characters and
 * quotes lines that look like the heading of another entry.
 */
export function formatBody(entry: Entry, includePrivate = false): string {
  if (isPrivate(entry) && !includePrivate) return "(a command that the user ran outside of this conversation)";
  return cleanText(formatContent(entry)).replace(HEAD, "> ").trimEnd();
}

/** Who speaks: the role of a message, the tool of a result, the type of another entry. */
export function formatSpeaker(entry: Entry): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  const { message } = entry;
  if (message.role !== "toolResult") return message.role;
  return `${message.isError ? "error" : "result"} of ${message.toolName ?? "a tool"}`;
}

function formatContent(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return formatMessage(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return formatBlocks(entry.content);
    case "model_change":
      return entry.modelId;
    case "thinking_level_change":
      return entry.thinkingLevel ?? "default";
    case "context_edit":
      return formatEdit(entry.targetId, entry.replacement);
    case "custom":
      return `(data of the host: ${entry.customType})`;
    case "foreign":
      return `(a record of another program: ${entry.originalType})`;
  }
}

function formatEdit(targetId: string, replacement: ContextEditPayload["replacement"]): string {
  if (replacement === null) return `removes ${targetId} from the context`;
  const { content } = replacement;
  const texts = typeof content === "string" ? [content] : content.flatMap(readBlockText);
  return `replaces ${targetId} in the context:\n${texts.join("\n")}`;
}

/** The blocks of an edit are not validated. */
function readBlockText(block: unknown): readonly string[] {
  return typeof block === "object" && block !== null && "text" in block && typeof block.text === "string" ? [block.text] : [];
}

function formatMessage(message: Message): string {
  switch (message.role) {
    case "bashExecution":
      return `$ ${message.command}\n${message.output}`;
    case "system":
    case "user":
    case "custom":
    case "toolResult":
      return formatBlocks(message.content);
    case "assistant":
      return [formatBlocks(message.content), message.errorMessage === undefined ? "" : `(failed: ${message.errorMessage})`]
        .filter((part) => part !== "")
        .join("\n");
  }
}

function formatBlocks(content: string | readonly (AssistantBlock | ContentBlock)[]): string {
  if (typeof content === "string") return content;
  return content
    .map(formatBlock)
    .filter((text) => text !== "")
    .join("\n");
}

function formatBlock(block: AssistantBlock | ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking.trim() === "" || block.redacted === true ? "" : `(thinking) ${block.thinking}`;
    case "toolCall":
      return formatCall(block);
    case "image":
      return "(image)";
    case "file":
      return `(file ${describeFile(block)})`;
    case "foreign":
      return `(${block.originalType})`;
  }
}

/** A time in UTC, to the minute. */
export function formatTime(ms: number): string {
  return formatIsoTime(ms)?.slice(0, 16).replace("T", " ") ?? "time unknown";
}
