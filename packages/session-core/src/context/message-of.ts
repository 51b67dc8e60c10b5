import type { ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { saidBlocks } from "../entry/foreign-block.js";
import type { Message } from "../entry/message.js";
import { textOf } from "../entry/text.js";
import type { ContextMessage } from "./context.js";

/** What an edit puts in place of an entry's content; null: the entry is omitted. */
export type Replacement = ContextEditPayload["replacement"];

/**
 * How an entry appears to the model, or null where it does not. The one place that decides it.
 *
 * System messages do not appear here: the latest one of the path is the context's `system`.
 */
export function messageOf(payload: EntryPayload): ContextMessage | null {
  switch (payload.type) {
    case "message":
      return conversationMessage(payload.message);
    case "compaction":
      return { role: "compactionSummary", summary: payload.summary, tokensBefore: payload.tokensBefore };
    case "branch_summary":
      return { role: "branchSummary", summary: payload.summary, fromId: payload.fromId };
    case "custom_message": {
      const { customType, content, display, details } = payload;
      return { role: "custom", customType, content, display, details };
    }
    case "model_change":
    case "thinking_level_change":
    case "context_edit":
    case "custom":
    case "foreign":
      return null;
  }
}

function conversationMessage(message: Message): ContextMessage | null {
  if (message.role === "system") return null;
  return message.role === "bashExecution" && message.excludeFromContext === true ? null : message;
}

/** A message with other content, by what its role calls content. */
export function withReplacement(message: ContextMessage, replacement: NonNullable<Replacement>): ContextMessage {
  const { content } = replacement;
  const text = textOf(content);
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return { ...message, summary: text };
    case "bashExecution":
      return { ...message, output: text };
    case "assistant":
      return { ...message, content: typeof content === "string" ? [{ type: "text", text: content }] : content };
    case "user":
    case "toolResult":
    case "custom":
      return { ...message, content: typeof content === "string" ? content : [...saidBlocks(content)] };
  }
}
