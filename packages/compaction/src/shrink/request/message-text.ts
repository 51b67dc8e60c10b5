import { type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";

/** What may be cut of a message: its text, and what stands beside it. */
export interface MessageText {
  readonly text: string;
  /** Images, documents and other blocks that are no text. */
  readonly attachments: readonly ContentBlock[];
}

/** The text of a message that may be cut; null: of a reply, where every word may belong to a call or a signature. */
export function messageText(message: ContextMessage): MessageText | null {
  switch (message.role) {
    case "assistant":
      return null;
    case "user":
    case "custom":
    case "toolResult":
      return { text: textOf(message.content), attachments: attachmentsOf(message.content) };
    case "bashExecution":
      return { text: message.output, attachments: [] };
    case "compactionSummary":
    case "branchSummary":
      return { text: message.summary, attachments: [] };
  }
}

function attachmentsOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === "string" ? [] : content.filter((block) => block.type !== "text");
}

/** The message with another text, its role, ids and all else as they were. Several texts become one, before the attachments. */
export function withText(message: ContextMessage, { text, attachments }: MessageText): ContextMessage {
  switch (message.role) {
    case "assistant":
      return message;
    case "user":
    case "custom":
    case "toolResult":
      return { ...message, content: contentOf(typeof message.content === "string", text, attachments) };
    case "bashExecution":
      return { ...message, output: text };
    case "compactionSummary":
    case "branchSummary":
      return { ...message, summary: text };
  }
}

function contentOf(wasString: boolean, text: string, attachments: readonly ContentBlock[]): string | ContentBlock[] {
  return wasString && attachments.length === 0 ? text : [{ type: "text", text }, ...attachments];
}
