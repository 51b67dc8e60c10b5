import { redact } from "@bough/formats/secrets";
import { type AssistantBlock, type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import { classifyTool } from "@bough/session-core/view";
import { bodyOf, withBody } from "@bough/session-core/wire";
import type { SummarySource } from "../summarizers/summarizer.js";
import { toSafeLine } from "./blocks.js";

type Rewrite = (text: string) => string;

/**
 * Prepares a source for quoting: masks secrets unless `redact` is false, and makes paths relative to the session's
 * directory. This happens before any text is cut, because half a key is not recognized. User messages keep their paths,
 * because they are quoted word for word. Results of calls that run no command are changed only if they failed; otherwise
 * they are not read. Linear.
 */
export function prepareSource(source: SummarySource): SummarySource {
  const masked: Rewrite = source.redact === false ? (text) => text : redact;
  const relative = makePathsRelativeTo(source.cwd ?? null);
  const writer = new SourceWriter(masked, relative);
  const messages = source.messages.map((message) => writer.write(message));
  return { ...source, messages, previousSummary: source.previousSummary === null ? null : masked(source.previousSummary) };
}

/** Rewrites messages in order, because the handling of a result depends on its call. */
class SourceWriter {
  readonly #unusedResults = new Set<string>();
  readonly #mask: Rewrite;
  readonly #makeRelative: Rewrite;
  readonly #rewriteAll: Rewrite;

  constructor(mask: Rewrite, makeRelative: Rewrite) {
    this.#mask = mask;
    this.#makeRelative = makeRelative;
    this.#rewriteAll = (text) => mask(makeRelative(text));
  }

  write(message: ContextMessage): ContextMessage {
    if (message.role === "assistant") return { ...message, content: message.content.map((block) => this.#block(block)) };
    if (message.role === "toolResult" && !message.isError && this.#unusedResults.has(message.toolCallId)) return message;
    const written = withBody(message, rewriteContent(bodyOf(message), message.role === "user" ? this.#mask : this.#rewriteAll));
    return written.role === "bashExecution" ? { ...written, command: this.#rewriteAll(written.command) } : written;
  }

  #block(block: AssistantBlock): AssistantBlock {
    if (block.type === "text") return { ...block, text: this.#rewriteAll(block.text) };
    if (block.type !== "toolCall") return block;
    const runs = classifyTool(block.name) === "command";
    if (!runs) this.#unusedResults.add(block.id);
    // Of text written to files only paths are used.
    const rewrite: Rewrite = (text) => (runs || text.length <= ARGUMENT_CHARS ? this.#rewriteAll(text) : this.#makeRelative(text));
    return { ...block, arguments: rewriteMembers(block.arguments, rewrite, ARGUMENTS_DEPTH) };
  }
}

const ARGUMENT_CHARS = 1_000;
/** Depth at which arguments contain paths, commands or todo lists. */
const ARGUMENTS_DEPTH = 3;

type Content = string | readonly ContentBlock[];

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

/** A shorter source is its own summary. */
const SHORT = 300;

/** The characters of a source: texts, calls with their arguments, output, summaries. Thinking is not counted. */
export function countSourceChars({ messages, previousSummary }: SummarySource): number {
  return messages.reduce((sum, message) => sum + countChars(message), previousSummary?.length ?? 0);
}

/** True if the source is so short that it is its own summary. */
export function isShortSource(source: SummarySource): boolean {
  return countSourceChars(source) < SHORT;
}

/** The text of a short source on one line, with the role of each message; secrets are masked. */
export function extractShort({ messages, previousSummary, redact: masks }: SummarySource, maxChars: number): string {
  const texts = messages.flatMap((message) => {
    const text = readMessageText(message);
    return text.trim() === "" ? [] : [messages.length === 1 ? text : `${WHO[message.role]}: ${text}`];
  });
  const text = [...(previousSummary === null ? [] : [previousSummary]), ...texts].join(" ");
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
  const text = textOf(bodyOf(message));
  return message.role === "bashExecution" ? `${message.command} ${text}` : text;
}

const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/**
 * Returns a function that makes the paths in a text relative to a directory. For `/home/ada/app`, the path
 * `/home/ada/app/src/a.ts` becomes `src/a.ts`, also after `file://`, and the directory itself becomes `.`;
 * `/home/ada/app-old/a.ts` stays. Both kinds of slashes match. For null, an empty directory or a root, texts stay as they
 * are. Linear.
 *
 * @example
 * makePathsRelativeTo("/home/ada/app")("see /home/ada/app/src/a.ts"); // "see src/a.ts"
 */
export function makePathsRelativeTo(directory: string | null): (text: string) => string {
  const parts = (directory ?? "").replace(/[\\/]+$/, "").split(/[\\/]/);
  if (parts.length < 2) return (text) => text;
  const whole = parts.map((part) => part.replace(SPECIAL, "\\$&")).join(String.raw`[\\/]`);
  const path = new RegExp(String.raw`(?<![\w.~\\/-])(?:file:\/\/)?${whole}(?:([\\/])(?=[^\s"'${"`"},;:()\]}<>])|(?![\w-]|\.\w))`, "g");
  return (text) => text.replace(path, (_found, slash: string | undefined) => (slash === undefined ? "." : ""));
}
