import type {
  AssistantBlock,
  BashExecutionMessage,
  ContentBlock,
  ContextMessage,
  ToolCallBlock,
  ToolResultMessage,
} from "@bough/session-core";
import { cleanText, cutMiddle } from "@bough/session-core/internals";
import type { CompactionSettings } from "../settings/settings.js";
import { redact } from "../text/redact.js";
import { escapeForPrompt, parseComposed } from "./tagged-blocks.js";

/** How a conversation is serialized: the settings of the same names. */
export type SerializeOptions = Pick<
  CompactionSettings["summary"],
  "toolResultChars" | "toolArgumentChars" | "includeThinking" | "stripTools" | "redact"
> & {
  /** Shortens the output of a tool instead of the cut at `toolResultChars`. */
  readonly cutResult?: ((text: string) => string) | undefined;
};

/** One message as text. */
export interface SerializedMessage {
  /** Index of the message. */
  readonly at: number;
  readonly text: string;
}

/**
 * Serializes a conversation, one text for each message with content. Omits what a summarizer must not read: secrets,
 * thinking (unless `includeThinking`), images, control characters, ids, usage, errors of failed replies and data of the
 * host. Prompt tags inside a text are escaped, and lines that look like a heading of this format are quoted, so that no
 * text can leave its slot or pose as another speaker. Linear.
 */
export function serializeMessages(messages: readonly ContextMessage[], options: SerializeOptions): readonly SerializedMessage[] {
  const writer = new MessageWriter(options);
  return messages.flatMap((message, at) => {
    const text = writer.write(message);
    return text === "" ? [] : [{ at, text }];
  });
}

/** The serialized conversation as one text. */
export function serializeToText(messages: readonly ContextMessage[], options: SerializeOptions): string {
  return serializeMessages(messages, options)
    .map(({ text }) => text)
    .join(MESSAGE_SEPARATOR);
}

/** Separates two messages of a serialized conversation. */
export const MESSAGE_SEPARATOR = "\n\n";

/** Lines of a text that look like a heading of this format. */
const HEADING = /^(?=\[(?:User|Assistant|Tool result|Tool error|Context|Command|Summary)\b)/gm;

/** Writes messages in order, because a result is omitted if its call was. */
class MessageWriter {
  readonly #options: SerializeOptions;
  readonly #stripped = new Set<string>();

  constructor(options: SerializeOptions) {
    this.#options = options;
  }

  write(message: ContextMessage): string {
    switch (message.role) {
      case "user":
        return this.#speak("User", this.#content(message.content));
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
        return this.#speak("Context", this.#content(message.content));
      case "compactionSummary":
        return this.#speak("Summary of what came before", this.#escape(stripBlocks(message.summary)));
      case "branchSummary":
        return this.#speak("Summary of a branch that was left", this.#escape(stripBlocks(message.summary)));
    }
  }

  #block(block: AssistantBlock): string {
    switch (block.type) {
      case "text":
        return this.#speak("Assistant", this.#escape(block.text));
      case "thinking":
        return this.#options.includeThinking ? this.#speak("Assistant thought", this.#escape(block.thinking)) : "";
      case "toolCall":
        return this.#call(block);
      case "image":
      case "foreign":
        return this.#speak("Assistant", formatAttachment(block));
    }
  }

  #call({ id, name, arguments: given }: ToolCallBlock): string {
    if (this.#options.stripTools.includes(name)) {
      this.#stripped.add(id);
      return "";
    }
    this.#stripped.delete(id);
    const all = Object.entries(given).map(([key, value]) => `${key}=${this.#argument(value)}`);
    return this.#speak("Assistant calls", this.#escape(`${name}(${all.join(", ")})`));
  }

  #argument(value: unknown): string {
    const text = this.#mask(JSON.stringify(value) ?? "null");
    return cut(text, this.#options.toolArgumentChars);
  }

  #result({ toolCallId, toolName, content, isError }: ToolResultMessage): string {
    if (this.#stripped.has(toolCallId) || (toolName !== undefined && this.#options.stripTools.includes(toolName))) return "";
    const text = this.#output(this.#content(content));
    const of = toolName === undefined ? "" : ` of ${this.#escape(toolName)}`;
    return `[${isError ? "Tool error" : "Tool result"}${of}]: ${text === "" ? "(no output)" : text}`;
  }

  #command({ command, output, exitCode }: BashExecutionMessage): string {
    const code = typeof exitCode === "number" && exitCode !== 0 ? `\n(exit code ${exitCode})` : "";
    return `[Command that the user ran]: ${this.#escape(command)}\n${this.#output(this.#escape(output))}${code}`;
  }

  #output(text: string): string {
    const { cutResult, toolResultChars } = this.#options;
    return cutResult === undefined ? cut(text, toolResultChars) : cutResult(text);
  }

  #content(content: string | readonly ContentBlock[]): string {
    if (typeof content === "string") return this.#escape(content);
    return content.map((block) => (block.type === "text" ? this.#escape(block.text) : formatAttachment(block))).join("\n");
  }

  #speak(who: string, text: string): string {
    return text.trim() === "" ? "" : `[${who}]: ${text}`;
  }

  #escape(text: string): string {
    return escapeForPrompt(this.#mask(cleanText(text))).replace(HEADING, "> ");
  }

  // Secrets are masked before the text is cut, because half a key is not recognized.
  #mask(text: string): string {
    return this.#options.redact ? redact(text) : text;
  }
}

/** The file lists and notes of an earlier summary are stored elsewhere and are not repeated. */
function stripBlocks(summary: string): string {
  return parseComposed(summary).body || summary;
}

function cut(text: string, maxChars: number): string {
  return maxChars === 0 ? text : cutMiddle(text, maxChars);
}

/** Images are expensive and add little to a summary; unknown blocks are named by their kind. */
function formatAttachment(block: Exclude<ContentBlock, { type: "text" }>): string {
  return block.type === "image" ? "[image]" : "[content of another kind]";
}
