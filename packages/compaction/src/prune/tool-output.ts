import type { ContextMessage, EntryId, ToolCallBlock } from "@bough/session-core";
import { callKind, pathArgument } from "@bough/session-core/internals";
import type { PathItem } from "../plan/span.js";

/** What a tool answered, as it stands on a path, with the call that it answers. */
export interface ToolOutput {
  /** Where it is among the items. */
  readonly at: number;
  readonly id: EntryId;
  readonly tokens: number;
  readonly result: Extract<ContextMessage, { role: "toolResult" }>;
  /** Name of the tool; empty: neither the result nor its call tells. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The tool outputs among items, in their order. A call id may occur again: a result belongs to the nearest call before it. */
export function toolOutputs(items: readonly PathItem[]): readonly ToolOutput[] {
  const calls = new Map<string, ToolCallBlock>();
  const outputs: ToolOutput[] = [];
  for (const [at, { id, tokens, messages }] of items.entries()) {
    const [message] = messages;
    if (message?.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, block);
    } else if (message?.role === "toolResult") {
      const call = calls.get(message.toolCallId);
      outputs.push({ at, id, tokens, result: message, tool: message.toolName ?? call?.name ?? "", arguments: call?.arguments ?? {} });
    }
  }
  return outputs;
}

/** Which file a tool output shows, and which part of it. */
export interface FileRead {
  readonly path: string;
  /** null: the whole file. Parts are the same where these texts are. */
  readonly part: string | null;
}

/** Arguments that choose no part of a file: the words of a model about its call, and what a reader is told to do. */
const NO_PART: ReadonlySet<string> = new Set(["command", "description", "explanation", "reason", "should_read_entire_file"]);

/**
 * What an output shows, from the arguments of its call; null: it is no read of one file. Every argument besides the path
 * selects a part, also one that we do not know: then two reads are the same only where they were asked for in the same way.
 */
export function fileReadOf({ tool, arguments: given }: Pick<ToolOutput, "tool" | "arguments">): FileRead | null {
  const file = callKind({ name: tool, arguments: given }) === "read" ? pathArgument(given) : undefined;
  if (file === undefined || file.text === "") return null;
  const { path, lines } = withoutLines(file.text);
  const selectors = Object.entries(given).filter(([name, value]) => name !== file.name && !NO_PART.has(name) && isSet(value));
  if (lines === null && selectors.length === 0) return { path, part: null };
  return { path, part: JSON.stringify([lines, ...selectors.sort(([a], [b]) => (a < b ? -1 : 1))]) };
}

/** Models send null, false or nothing for what they do not want to say. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** oh-my-pi's reader takes lines behind the path: `src/a.ts:50-100`. */
function withoutLines(given: string): { readonly path: string; readonly lines: string | null } {
  const plain = given.replace(/^(?:\.\/)+/, "");
  const [, path, lines] = /^(.+):(\d[\d,+-]*)$/s.exec(plain) ?? [];
  return path === undefined || lines === undefined ? { path: plain, lines: null } : { path, lines };
}
