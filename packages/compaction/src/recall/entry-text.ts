import { type Entry, type Message, textOf } from "@bough/session-core";
import { cleanText } from "../summary/text/clean-text.js";

/** An entry word for word, as a model may read it: who said it, its id, everything it says; images by their kind. */
export function entryText(entry: Entry): string {
  const head = `[${entry.id}] ${new Date(entry.createdAtMs).toISOString().slice(0, 16).replace("T", " ")} ${speaker(entry)}`;
  return cleanText(`${head}\n${body(entry)}`).trimEnd();
}

/** Who or what an entry is from. */
export function speaker(entry: Entry): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  return entry.message.role === "toolResult" ? `result of ${entry.message.toolName ?? "a tool"}` : entry.message.role;
}

function body(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messageBody(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return textOf(entry.content);
    case "model_change":
      return entry.modelId;
    case "thinking_level_change":
      return entry.thinkingLevel ?? "default";
    case "context_edit":
      return `${entry.replacement === null ? "omits" : "replaces"} ${entry.targetId}`;
    case "custom":
      return entry.customType;
    case "foreign":
      return entry.originalType;
  }
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
      return blocksText(message.content);
  }
}

function blocksText(content: string | readonly { readonly type: string; readonly [member: string]: unknown }[]): string {
  if (typeof content === "string") return content;
  return content.map(blockText).join("\n");
}

function blockText(block: { readonly type: string; readonly [member: string]: unknown }): string {
  if (block.type === "text") return String(block["text"]);
  if (block.type === "thinking") return `(thinking) ${String(block["thinking"])}`;
  if (block.type === "toolCall") return `(calls ${String(block["name"])}) ${JSON.stringify(block["arguments"])}`;
  return `(${block.type})`;
}
