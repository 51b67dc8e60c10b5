import type { ContextMessage, EntryId, ToolCallBlock } from "@bough/session-core";
import { classifyCall, findPath } from "@bough/session-core/view";
import type { PathItem } from "../plan/span.js";

/** A tool result of a path with its call. */
export interface ToolOutput {
  /** Its index in the items. */
  readonly at: number;
  readonly id: EntryId;
  readonly tokens: number;
  readonly result: Extract<ContextMessage, { role: "toolResult" }>;
  /** Name of the tool; empty: neither the result nor its call has one. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The tool outputs among the items, in order. Call ids may repeat: a result belongs to the nearest call before it. */
export function collectToolOutputs(items: readonly PathItem[]): readonly ToolOutput[] {
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

/** The file that a tool output contains, and which part of it. */
export interface FileRead {
  readonly path: string;
  /** null: the whole file. Equal strings are equal parts. */
  readonly part: string | null;
}

/** Arguments that do not select a part of the file. */
const NO_PART: ReadonlySet<string> = new Set(["command", "description", "explanation", "reason", "should_read_entire_file"]);

/**
 * The file and part that an output contains, from the arguments of its call; null: the call does not read one file. Every
 * other argument than the path counts as a selector, also an unknown one: two reads are the same part only if their
 * arguments are equal.
 */
export function parseFileRead({ tool, arguments: given }: Pick<ToolOutput, "tool" | "arguments">): FileRead | null {
  const file = classifyCall({ name: tool, arguments: given }) === "read" ? findPath(given) : undefined;
  if (file === undefined || file.text === "") return null;
  const { path, lines } = splitLineRange(file.text);
  const selectors = Object.entries(given).filter(([name, value]) => name !== file.name && !NO_PART.has(name) && isSet(value));
  if (lines === null && selectors.length === 0) return { path, part: null };
  return { path, part: JSON.stringify([lines, ...selectors.sort(([a], [b]) => (a < b ? -1 : 1))]) };
}

/** Models send null, false or an empty string for arguments that they leave out. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** oh-my-pi's read tool takes lines in the path: `src/a.ts:50-100`. */
function splitLineRange(given: string): { readonly path: string; readonly lines: string | null } {
  const plain = given.replace(/^(?:\.\/)+/, "");
  const [, path, lines] = /^(.+):(\d[\d,+-]*)$/s.exec(plain) ?? [];
  return path === undefined || lines === undefined ? { path: plain, lines: null } : { path, lines };
}
