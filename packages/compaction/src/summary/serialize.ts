import type {
  AssistantBlock,
  BashExecutionMessage,
  ContentBlock,
  ContextMessage,
  ToolCallBlock,
  ToolResultMessage,
} from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cleanText } from "../text/clean-text.js";
import { redact } from "../text/redact.js";
import { escapeForPrompt, parseComposed } from "./tagged-blocks.js";
import { cutMiddle } from "./text/cut-text.js";

/** What a summariser reads of a conversation: the settings of the same names. */
export type SerializeOptions = Pick<
  CompactionSettings["summary"],
  "toolResultChars" | "toolArgumentChars" | "includeThinking" | "stripTools" | "redact"
> & {
  /** Shortens the output of a tool, in place of the cut at `toolResultChars`. */
  readonly cutResult?: ((text: string) => string) | undefined;
};

/** One message as text. */
export interface SerializedMessage {
  /** Index of the message. */
  readonly at: number;
  readonly text: string;
}

/**
 * A conversation as texts, one for each message that says something. What must not reach a summariser is left out here:
 * secrets, thoughts, images, control characters, ids, usage, errors of failed replies, and what only hosts read (regression
 * R102). The tags of our prompts inside a text are made harmless, and lines that look like our headings are quoted, so that
 * a session cannot break out of its slot or speak as somebody else. Cost is linear.
 */
export function serializeMessages(messages: readonly ContextMessage[], options: SerializeOptions): readonly SerializedMessage[] {
  const writer = new MessageWriter(options);
  return messages.flatMap((message, at) => {
    const text = writer.write(message);
    return text === "" ? [] : [{ at, text }];
  });
}

/** The same as one text. */
export function serializeToText(messages: readonly ContextMessage[], options: SerializeOptions): string {
  return serializeMessages(messages, options)
    .map(({ text }) => text)
    .join(MESSAGE_SEPARATOR);
}

/** Between two messages of a serialised conversation. */
export const MESSAGE_SEPARATOR = "\n\n";

/** Lines of a text that would read as a heading of ours. */
const HEADING = /^(?=\[(?:User|Assistant|Tool result|Tool error|Context|Command|Summary)\b)/gm;

/** Writes messages in order: which calls were left out decides about their results. */
class MessageWriter {
  readonly #stripped = new Set<string>();

  constructor(readonly options: SerializeOptions) {}

  write(message: ContextMessage): string {
    switch (message.role) {
      case "user":
        return this.#said("User", this.#content(message.content));
      case "assistant":
        return message.content
          .map((block) => this.#block(block))
          .filter((part) => part !== "")
          .join("\n");
      case "toolResult":
        return this.#result(message);
      case "bashExecution":
        return message.excludeFromContext === true ? "" : this.#command(message);
      case "custom":
        return this.#said("Context", this.#content(message.content));
      case "compactionSummary":
        return this.#said("Summary of what came before", this.#safe(stripBlocks(message.summary)));
      case "branchSummary":
        return this.#said("Summary of a branch that was left", this.#safe(stripBlocks(message.summary)));
    }
  }

  #block(block: AssistantBlock): string {
    switch (block.type) {
      case "text":
        return this.#said("Assistant", this.#safe(block.text));
      case "thinking":
        return this.options.includeThinking ? this.#said("Assistant thought", this.#safe(block.thinking)) : "";
      case "toolCall":
        return this.#call(block);
      case "image":
      case "foreign":
        return this.#said("Assistant", formatAttachment(block));
    }
  }

  #call({ id, name, arguments: given }: ToolCallBlock): string {
    if (this.options.stripTools.includes(name)) {
      this.#stripped.add(id);
      return "";
    }
    this.#stripped.delete(id);
    const all = Object.entries(given).map(([key, value]) => `${key}=${this.#argument(value)}`);
    return this.#said("Assistant calls", this.#safe(`${name}(${all.join(", ")})`));
  }

  #argument(value: unknown): string {
    const text = this.#redacted(JSON.stringify(value) ?? "null");
    return cut(text, this.options.toolArgumentChars);
  }

  #result({ toolCallId, toolName, content, isError }: ToolResultMessage): string {
    if (this.#stripped.has(toolCallId) || (toolName !== undefined && this.options.stripTools.includes(toolName))) return "";
    const text = this.#output(this.#content(content));
    const of = toolName === undefined ? "" : ` of ${this.#safe(toolName)}`;
    return `[${isError ? "Tool error" : "Tool result"}${of}]: ${text === "" ? "(no output)" : text}`;
  }

  #command({ command, output, exitCode }: BashExecutionMessage): string {
    const code = typeof exitCode === "number" && exitCode !== 0 ? `\n(exit code ${exitCode})` : "";
    return `[Command that the user ran]: ${this.#safe(command)}\n${this.#output(this.#safe(output))}${code}`;
  }

  #output(text: string): string {
    const { cutResult, toolResultChars } = this.options;
    return cutResult === undefined ? cut(text, toolResultChars) : cutResult(text);
  }

  #content(content: string | readonly ContentBlock[]): string {
    if (typeof content === "string") return this.#safe(content);
    return content.map((block) => (block.type === "text" ? this.#safe(block.text) : formatAttachment(block))).join("\n");
  }

  #said(who: string, text: string): string {
    return text.trim() === "" ? "" : `[${who}]: ${text}`;
  }

  #safe(text: string): string {
    return escapeForPrompt(this.#redacted(cleanText(text))).replace(HEADING, "> ");
  }

  // Before anything is cut: half a key is no longer known as one.
  #redacted(text: string): string {
    return this.options.redact ? redact(text) : text;
  }
}

/** Lists and notes around an earlier summary are kept elsewhere, and would only be told again. */
function stripBlocks(summary: string): string {
  return parseComposed(summary).body || summary;
}

function cut(text: string, maxChars: number): string {
  return maxChars === 0 ? text : cutMiddle(text, maxChars);
}

/** Row 68: images cost much and say little in a summary; what we do not know is named by its kind only. */
function formatAttachment(block: Exclude<ContentBlock, { type: "text" }>): string {
  return block.type === "image" ? "[image]" : "[content of another kind]";
}
