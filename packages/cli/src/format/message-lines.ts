import type { AssistantBlock, ContentBlock, ContextMessage, Message } from "@bough/session-core";
import { type Line, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import { bytes } from "./numbers.js";

/** What a message is called on screen. */
export function roleName(role: (Message | ContextMessage)["role"]): string {
  switch (role) {
    case "toolResult":
      return "tool result";
    case "bashExecution":
      return "command";
    case "compactionSummary":
      return "compaction summary";
    case "branchSummary":
      return "branch summary";
    case "system":
    case "user":
    case "assistant":
    case "custom":
      return role;
  }
}

/** The lines of a text, as it stands. */
export function textLines(text: string): readonly Line[] {
  return text === "" ? [] : safeLines(text).map((line) => [line]);
}

/** A value as indented JSON. */
export function jsonLines(value: unknown): readonly Line[] {
  return textLines(JSON.stringify(value, null, 2) ?? "");
}

/** Everything that a message says, in order, for reading. */
export function messageLines(message: Message | ContextMessage): readonly Line[] {
  switch (message.role) {
    case "user":
    case "custom":
    case "system":
      return contentLines(message.content);
    case "toolResult":
      return message.isError ? [[styled("error", "(error)")], ...contentLines(message.content)] : contentLines(message.content);
    case "assistant":
      return [...contentLines(message.content), ...(message.errorMessage === undefined ? [] : [[styled("error", message.errorMessage)]])];
    case "bashExecution":
      return [[styled("bold", `$ ${message.command}`)], ...textLines(message.output)];
    case "compactionSummary":
    case "branchSummary":
      return textLines(message.summary);
  }
}

function contentLines(content: string | readonly (ContentBlock | AssistantBlock)[]): readonly Line[] {
  return typeof content === "string" ? textLines(content) : content.flatMap(blockLines);
}

function blockLines(block: ContentBlock | AssistantBlock): readonly Line[] {
  switch (block.type) {
    case "text":
      return textLines(block.text);
    case "thinking":
      return [[styled("dim", "(thinking)")], ...safeLines(block.thinking).map((line) => [styled("dim", line)])];
    case "toolCall":
      return [[styled("bold", `[${block.name}]`), styled("dim", ` ${block.id}`)], ...jsonLines(block.arguments)];
    case "image":
      return [[styled("dim", `[image ${block.mimeType}, ${bytes(Math.floor((block.data.length * 3) / 4))}]`)]];
    case "foreign":
      return [[styled("dim", `[${block.originalType}]`)], ...jsonLines(block.raw)];
  }
}
