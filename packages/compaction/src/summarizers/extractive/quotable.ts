import type { AssistantBlock, ContentBlock, ContextMessage } from "@bough/session-core";
import { toolKind } from "../../facts/kinds/tool-kind.js";
import { redact } from "../../text/redact.js";
import { pathsRelativeTo } from "../../text/relative-paths.js";
import type { SummarySource } from "../summarizer.js";

type Rewrite = (text: string) => string;

/**
 * A source as an extract may quote it: secrets are masked, unless `redact` is false, and paths are relative to the
 * session's directory. Before anything is cut, as half a key is no longer known as one. What the person said keeps its
 * paths: it is quoted word for word. Output of calls that run no command is only read where it failed, and stays as it is
 * elsewhere. Linear.
 */
export function quotable(source: SummarySource): SummarySource {
  const masked: Rewrite = source.redact === false ? (text) => text : redact;
  const relative = pathsRelativeTo(source.cwd ?? null);
  const writer = new QuotableWriter(masked, relative);
  const messages = source.messages.map((message) => writer.write(message));
  return { ...source, messages, previousSummary: source.previousSummary === null ? null : masked(source.previousSummary) };
}

/** Writes messages in order: what a call is decides about its result. */
class QuotableWriter {
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
        return { ...message, content: contentOf(message.content, this.masked) };
      case "custom":
        return { ...message, content: contentOf(message.content, this.#both) };
      case "toolResult":
        if (!message.isError && this.#unread.has(message.toolCallId)) return message;
        return { ...message, content: contentOf(message.content, this.#both) };
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
    const runs = toolKind(block.name) === "runs-command";
    if (!runs) this.#unread.add(block.id);
    // Of what is written into files only the paths are read.
    const rewrite: Rewrite = (text) => (runs || text.length <= ARGUMENT_CHARS ? this.#both(text) : this.relative(text));
    return { ...block, arguments: membersOf(block.arguments, rewrite, ARGUMENTS_DEPTH) };
  }
}

const ARGUMENT_CHARS = 1_000;
/** Paths, commands and lists of what to do stand no deeper in arguments. */
const ARGUMENTS_DEPTH = 3;

type Content = string | ContentBlock[];

function contentOf(content: Content, rewrite: Rewrite): Content {
  if (typeof content === "string") return rewrite(content);
  return content.map((block) => (block.type === "text" ? { ...block, text: rewrite(block.text) } : block));
}

function membersOf(given: object, rewrite: Rewrite, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, argumentOf(value, rewrite, depth - 1)]));
}

function argumentOf(value: unknown, rewrite: Rewrite, depth: number): unknown {
  if (typeof value === "string") return rewrite(value);
  if (typeof value !== "object" || value === null || depth <= 0) return value;
  return Array.isArray(value) ? value.map((one) => argumentOf(one, rewrite, depth - 1)) : membersOf(value, rewrite, depth);
}
