import type { AssistantBlock, ContentBlock, ContextEditPayload, Entry, Message } from "@bough/session-core";
import { cleanText } from "../text/clean-text.js";
import { when } from "./when.js";

/** A line in the text of an entry that would read as the head of another one. */
const HEAD = /^(?=\[[^\]\s]{1,128}\] (?:\d{4}-\d\d-\d\d \d\d:\d\d|time unknown) )/gm;

/**
 * An entry word for word, as a model may read it: its id, when, who said it, and all that it says; images by their kind.
 * Two things are kept from it: what the person ran outside of the conversation, and data that only hosts read. Control
 * characters go, and no text can pass for the head of another entry.
 */
export function entryText(entry: Entry): string {
  const head = `[${entry.id}] ${when(entry.createdAtMs)} ${speaker(entry)}`;
  return `${cleanText(head).replace(/\s+/g, " ")}\n${cleanText(body(entry)).replace(HEAD, "> ")}`.trimEnd();
}

/** Whether a model may never read an entry: the person kept it out of the conversation. */
export function isPrivate(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "bashExecution" && entry.message.excludeFromContext === true;
}

function speaker(entry: Entry): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  const { message } = entry;
  if (message.role !== "toolResult") return message.role;
  return `${message.isError ? "error" : "result"} of ${message.toolName ?? "a tool"}`;
}

function body(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return isPrivate(entry) ? "(a command that the person ran outside of this conversation)" : messageBody(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return blocksText(entry.content);
    case "model_change":
      return entry.modelId;
    case "thinking_level_change":
      return entry.thinkingLevel ?? "default";
    case "context_edit":
      return editBody(entry.targetId, entry.replacement);
    case "custom":
      return `(data of the host: ${entry.customType})`;
    case "foreign":
      return `(a record of another program: ${entry.originalType})`;
  }
}

function editBody(targetId: string, replacement: ContextEditPayload["replacement"]): string {
  if (replacement === null) return `takes ${targetId} out of the context`;
  const { content } = replacement;
  const texts = typeof content === "string" ? [content] : content.flatMap(textIn);
  return `stands in the context for ${targetId}:\n${texts.join("\n")}`;
}

/** What an edit brings is not judged block by block. */
function textIn(block: unknown): readonly string[] {
  return typeof block === "object" && block !== null && "text" in block && typeof block.text === "string" ? [block.text] : [];
}

function messageBody(message: Message): string {
  switch (message.role) {
    case "bashExecution":
      return `$ ${message.command}\n${message.output}`;
    case "system":
    case "user":
    case "custom":
    case "toolResult":
      return blocksText(message.content);
    case "assistant":
      return [blocksText(message.content), message.errorMessage === undefined ? "" : `(failed: ${message.errorMessage})`]
        .filter((part) => part !== "")
        .join("\n");
  }
}

function blocksText(content: string | readonly (AssistantBlock | ContentBlock)[]): string {
  if (typeof content === "string") return content;
  return content
    .map(blockText)
    .filter((text) => text !== "")
    .join("\n");
}

function blockText(block: AssistantBlock | ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking.trim() === "" || block.redacted === true ? "" : `(thinking) ${block.thinking}`;
    case "toolCall":
      return `(calls ${block.name}) ${JSON.stringify(block.arguments)}`;
    case "image":
      return "(image)";
    case "foreign":
      return `(${block.originalType})`;
  }
}
