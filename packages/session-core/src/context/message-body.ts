import { toContentBlocks } from "../entry/foreign-block.js";
import type { AssistantBlock, AssistantMessage, ContentBlock } from "../entry/message.js";
import { joinTextBlocks } from "../entry/text.js";
import type { ContextMessage } from "./context.js";
import { bashExecutionText, branchSummaryText, compactionSummaryText } from "./converters/templates.js";

/** A message of a context whose blocks are no blocks of a reply. */
export type GivenMessage = Exclude<ContextMessage, AssistantMessage>;

/** The part of a message that an edit replaces and a cut shortens: the content of a message, the text of a summary, the output of a command. */
export function bodyOf(message: GivenMessage): string | readonly ContentBlock[];
export function bodyOf(message: ContextMessage): string | readonly AssistantBlock[];
export function bodyOf(message: ContextMessage): string | readonly AssistantBlock[] {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
    case "custom":
      return message.content;
    case "bashExecution":
      return message.output;
    case "compactionSummary":
    case "branchSummary":
      return message.summary;
  }
}

/** The message with another body. A summary and an output take only its texts; a reply takes a text as a block. */
export function withBody(message: ContextMessage, body: string | readonly AssistantBlock[]): ContextMessage {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom":
      return { ...message, content: typeof body === "string" ? body : [...toContentBlocks(body)] };
    case "assistant":
      return { ...message, content: typeof body === "string" ? [{ type: "text", text: body }] : [...body] };
    case "bashExecution":
      return { ...message, output: joinTextBlocks(body) };
    case "compactionSummary": {
      // The provider's form of the summary says what the text said before.
      const { native: _native, ...own } = message;
      return { ...own, summary: joinTextBlocks(body) };
    }
    case "branchSummary":
      return { ...message, summary: joinTextBlocks(body) };
  }
}

/**
 * The content of a message as a model gets it: summaries and commands as texts in their templates. null: a command that is kept out of
 * the conversation.
 */
export function promptContent(message: GivenMessage): string | readonly ContentBlock[] | null;
export function promptContent(message: ContextMessage): string | readonly AssistantBlock[] | null;
export function promptContent(message: ContextMessage): string | readonly AssistantBlock[] | null {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
    case "custom":
      return message.content;
    case "bashExecution":
      return message.excludeFromContext === true ? null : bashExecutionText(message);
    case "compactionSummary":
      return compactionSummaryText(message.summary);
    case "branchSummary":
      return branchSummaryText(message.summary);
  }
}
