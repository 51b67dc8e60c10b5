import type { AssistantBlock, ContentBlock, ContextMessage } from "@bough/session-core";
import { redact } from "../../text/redact.js";
import { pathsRelativeTo } from "../../text/relative-paths.js";
import type { SummarySource } from "../summarizer.js";

type Rewrite = (text: string) => string;

/**
 * A source as an extract may quote it: secrets are masked, unless `redact` is false, and paths are relative to the
 * session's directory. Before anything is cut, as half a key is no longer known as one. What the person said keeps its
 * paths: it is quoted word for word. Linear.
 */
export function quotable(source: SummarySource): SummarySource {
  const masked: Rewrite = source.redact === false ? (text) => text : redact;
  const relative = pathsRelativeTo(source.cwd ?? null);
  const rewrite: Rewrite = (text) => masked(relative(text));
  const messages = source.messages.map((message) => (message.role === "user" ? rewritten(message, masked) : rewritten(message, rewrite)));
  return { ...source, messages, previousSummary: source.previousSummary === null ? null : masked(source.previousSummary) };
}

function rewritten(message: ContextMessage, rewrite: Rewrite): ContextMessage {
  switch (message.role) {
    case "assistant":
      return { ...message, content: message.content.map((block) => blockOf(block, rewrite)) };
    case "user":
    case "custom":
      return { ...message, content: contentOf(message.content, rewrite) };
    case "toolResult":
      return { ...message, content: contentOf(message.content, rewrite) };
    case "bashExecution":
      return { ...message, command: rewrite(message.command), output: rewrite(message.output) };
    case "compactionSummary":
    case "branchSummary":
      return { ...message, summary: rewrite(message.summary) };
  }
}

type Content = string | ContentBlock[];

function contentOf(content: Content, rewrite: Rewrite): Content {
  if (typeof content === "string") return rewrite(content);
  return content.map((block) => (block.type === "text" ? { ...block, text: rewrite(block.text) } : block));
}

function blockOf(block: AssistantBlock, rewrite: Rewrite): AssistantBlock {
  if (block.type === "text") return { ...block, text: rewrite(block.text) };
  return block.type === "toolCall" ? { ...block, arguments: membersOf(block.arguments, rewrite, ARGUMENTS_DEPTH) } : block;
}

/** Paths, commands and lists of what to do stand no deeper in arguments. */
const ARGUMENTS_DEPTH = 3;

function membersOf(given: object, rewrite: Rewrite, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, valueOf(value, rewrite, depth - 1)]));
}

function valueOf(value: unknown, rewrite: Rewrite, depth: number): unknown {
  if (typeof value === "string") return rewrite(value);
  if (typeof value !== "object" || value === null || depth <= 0) return value;
  return Array.isArray(value) ? value.map((one) => valueOf(one, rewrite, depth - 1)) : membersOf(value, rewrite, depth);
}
