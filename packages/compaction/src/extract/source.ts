import { type AssistantBlock, type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import { toolKind } from "@bough/session-core/internals";
import type { SummarySource } from "../summarizers/summarizer.js";
import { redact } from "../text/redact.js";
import { makePathsRelativeTo } from "../text/relative-paths.js";
import { toSafeLine } from "./blocks.js";

type Rewrite = (text: string) => string;

/**
 * A source as an extract may quote it: secrets are masked, unless `redact` is false, and paths are relative to the
 * session's directory. Before anything is cut, as half a key is no longer known as one. What the person said keeps its
 * paths: it is quoted word for word. Output of calls that run no command is only read where it failed, and stays as it is
 * elsewhere. Linear.
 */
export function prepareSource(source: SummarySource): SummarySource {
  const masked: Rewrite = source.redact === false ? (text) => text : redact;
  const relative = makePathsRelativeTo(source.cwd ?? null);
  const writer = new SourceWriter(masked, relative);
  const messages = source.messages.map((message) => writer.write(message));
  return { ...source, messages, previousSummary: source.previousSummary === null ? null : masked(source.previousSummary) };
}

/** Writes messages in order: what a call is decides about its result. */
class SourceWriter {
  readonly #unread = new Set<string>();
  readonly #both: Rewrite;

  constructor(
    readonly masked: Rewrite,
    readonly relative: Rewrite,
  ) {
    this.#both = (text) => masked(relative(text));
  }

  write(message: ContextMessage): ContextMessage {
    switch (message.role) {
      case "assistant":
        return { ...message, content: message.content.map((block) => this.#block(block)) };
      case "user":
        return { ...message, content: rewriteContent(message.content, this.masked) };
      case "custom":
        return { ...message, content: rewriteContent(message.content, this.#both) };
      case "toolResult":
        if (!message.isError && this.#unread.has(message.toolCallId)) return message;
        return { ...message, content: rewriteContent(message.content, this.#both) };
      case "bashExecution":
        return { ...message, command: this.#both(message.command), output: this.#both(message.output) };
      case "compactionSummary":
      case "branchSummary":
        return { ...message, summary: this.#both(message.summary) };
    }
  }

  #block(block: AssistantBlock): AssistantBlock {
    if (block.type === "text") return { ...block, text: this.#both(block.text) };
    if (block.type !== "toolCall") return block;
    const runs = toolKind(block.name) === "command";
    if (!runs) this.#unread.add(block.id);
    // Of what is written into files only the paths are read.
    const rewrite: Rewrite = (text) => (runs || text.length <= ARGUMENT_CHARS ? this.#both(text) : this.relative(text));
    return { ...block, arguments: rewriteMembers(block.arguments, rewrite, ARGUMENTS_DEPTH) };
  }
}

const ARGUMENT_CHARS = 1_000;
/** Paths, commands and lists of what to do stand no deeper in arguments. */
const ARGUMENTS_DEPTH = 3;

type Content = string | ContentBlock[];

function rewriteContent(content: Content, rewrite: Rewrite): Content {
  if (typeof content === "string") return rewrite(content);
  return content.map((block) => (block.type === "text" ? { ...block, text: rewrite(block.text) } : block));
}

function rewriteMembers(given: object, rewrite: Rewrite, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, rewriteArgument(value, rewrite, depth - 1)]));
}

function rewriteArgument(value: unknown, rewrite: Rewrite, depth: number): unknown {
  if (typeof value === "string") return rewrite(value);
  if (typeof value !== "object" || value === null || depth <= 0) return value;
  return Array.isArray(value) ? value.map((one) => rewriteArgument(one, rewrite, depth - 1)) : rewriteMembers(value, rewrite, depth);
}

/** A source of fewer characters is as short as any summary of it. */
const SHORT = 300;

/** Characters of everything a source says: texts, calls with their arguments, output, summaries. Thoughts are not summarized. */
export function countSourceChars({ messages, previousSummary }: SummarySource): number {
  return messages.reduce((sum, message) => sum + countChars(message), previousSummary?.length ?? 0);
}

/** Whether there is so little that it is its own summary. */
export function isShortSource(source: SummarySource): boolean {
  return countSourceChars(source) < SHORT;
}

/** All that a short source says, on one line, each message behind who said it; secrets are masked. */
export function extractShort({ messages, previousSummary, redact: masks }: SummarySource, maxChars: number): string {
  const said = messages.flatMap((message) => {
    const text = readMessageText(message);
    return text.trim() === "" ? [] : [messages.length === 1 ? text : `${WHO[message.role]}: ${text}`];
  });
  const text = [...(previousSummary === null ? [] : [previousSummary]), ...said].join(" ");
  return toSafeLine(masks === false ? text : redact(text), maxChars);
}

const WHO: Readonly<Record<ContextMessage["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  toolResult: "Result",
  bashExecution: "Command",
  custom: "Context",
  compactionSummary: "Before",
  branchSummary: "Branch",
};

function countChars(message: ContextMessage): number {
  if (message.role !== "assistant") return readMessageText(message).length;
  return message.content.reduce(
    (sum, block) => sum + (block.type === "toolCall" ? JSON.stringify(block.arguments).length : 0),
    readMessageText(message).length,
  );
}

function readMessageText(message: ContextMessage): string {
  switch (message.role) {
    case "user":
    case "custom":
    case "toolResult":
    case "assistant":
      return textOf(message.content);
    case "bashExecution":
      return `${message.command} ${message.output}`;
    case "compactionSummary":
    case "branchSummary":
      return message.summary;
  }
}
