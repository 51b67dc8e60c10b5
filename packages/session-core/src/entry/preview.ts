import { LINE_CHARS, oneLine } from "../text/one-line.js";
import { summaryGist } from "../text/summary-text.js";
import { describeCall } from "../tools/describe-call.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, AssistantMessage, ContentBlock, Message } from "./message.js";
import { shareLine } from "./preview-calls.js";
import { type Content, describeFile } from "./text.js";
import { typedText } from "./typed-text.js";

/** The longest preview of what users and models wrote: a row of a wide terminal. */
const PREVIEW_CHARS = 240;

const CONVERSATION: ReadonlySet<string> = new Set(["user", "assistant", "custom"]);

/**
 * One line that describes an entry: its first words, then its tool calls as `[read src/a.ts]`; `splitPreview` takes them apart.
 *
 * @param directory The session's directory, see `describeCall`.
 */
export function previewOf(payload: EntryPayload, directory?: string | null): string {
  const isLong = payload.type === "message" && CONVERSATION.has(payload.message.role);
  return oneLine(previewText(payload, directory ?? undefined), isLong ? PREVIEW_CHARS : LINE_CHARS);
}

function previewText(payload: EntryPayload, directory: string | undefined): string {
  switch (payload.type) {
    case "message":
      return messagePreview(payload.message, directory);
    case "compaction":
      return payload.title ?? payload.shortSummary ?? summaryGist(payload.summary);
    case "branch_summary":
      return summaryGist(payload.summary);
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

function messagePreview(message: Message, directory: string | undefined): string {
  switch (message.role) {
    case "assistant":
      return assistantPreview(message, directory);
    case "bashExecution":
      return `$ ${message.command}`;
    case "toolResult": {
      const text = contentPreview(message.content);
      return message.isError ? `error: ${text}` : text;
    }
    case "user":
    case "custom":
      return typedText(message) ?? contentPreview(message.content);
    case "system":
      return contentPreview(message.content);
  }
}

function assistantPreview({ content, errorMessage }: AssistantMessage, directory: string | undefined): string {
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [describeCall(block, { directory })] : []));
  const text = oneLine(takeOpening(content), PREVIEW_CHARS);
  if (calls.length > 0) return shareLine(text, calls, PREVIEW_CHARS);
  return text || errorMessage || thought(content) || contentPreview(content);
}

/** The start of the text of a content, at least as long as a preview: further blocks are not joined. */
function takeOpening(content: Content): string {
  if (typeof content === "string") return content;
  let text = "";
  for (const block of content) {
    if (block.type === "text") text = text === "" ? block.text : `${text}\n${block.text}`;
    if (text.length > PREVIEW_CHARS * 2) break;
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
