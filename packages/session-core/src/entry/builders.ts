import { checkArgument, OBJECT, TEXT } from "../arguments/rules.js";
import type { EntryInput } from "./entry.js";
import { isList } from "./json.js";
import type { AssistantMessage, ToolCallBlock, ToolResultMessage, UserMessage } from "./message.js";
import { toOwnUsage } from "./usage.js";

/**
 * The fields of a message other than `role` and `content`, all optional; unknown fields are allowed. `usage` may have the form of
 * a provider or a framework: see `normalizeUsage`.
 */
// Omit would lose the named members of a type with an index signature.
export type MessageFields<T> = {
  readonly [K in keyof T as string extends K ? never : Exclude<K, "role" | "content">]?: K extends "usage" ? object | undefined : T[K];
} & {
  readonly [unknown: string]: unknown;
};

/**
 * A user message to append.
 * @example
 * await session.append(userMessage("Fix the failing test"));
 */
export function userMessage(content: UserMessage["content"]): EntryInput {
  return { type: "message", message: { role: "user", content } };
}

/**
 * A reply to append; `fields` has what the provider reported: `provider`, `model`, `usage` (see `normalizeUsage`), `stopReason`.
 *
 * @throws {InvalidEntryError} `usage` has numbers, but no name of a count that is known.
 * @example
 * await session.append(assistantMessage("Done.", { model: "claude-sonnet-4-5", usage: { input: 900, output: 4 } }));
 */
export function assistantMessage(content: AssistantMessage["content"] | string, fields: MessageFields<AssistantMessage> = {}): EntryInput {
  const { usage, ...others } = { ...fields };
  const used = usage === undefined ? {} : { usage: toOwnUsage(usage, "message.usage") };
  return { type: "message", message: { ...others, ...used, role: "assistant", content } };
}

/**
 * The result of a tool call to append.
 * @example
 * await session.append(toolResult("call_1", "14 passed", { toolName: "bash" }));
 */
export function toolResult(
  toolCallId: string,
  content: ToolResultMessage["content"],
  fields: MessageFields<ToolResultMessage> = {},
): EntryInput {
  return { type: "message", message: { ...fields, role: "toolResult", toolCallId, content } };
}

/**
 * The tool calls of a reply or of the entries of one, in their order, with parsed arguments; none of any other entry.
 *
 * @example
 * for (const { id, name, arguments: input } of toolCallsOf(reply)) await session.append(toolResult(id, await run(name, input), { toolName: name }));
 */
export function toolCallsOf(entry: EntryInput | readonly EntryInput[]): readonly ToolCallBlock[] {
  if (isList(entry)) return entry.flatMap((one) => toolCallsOf(one));
  checkArgument("entry", entry, OBJECT);
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  const { content } = entry.message;
  return Array.isArray(content) ? content.filter((block) => block.type === "toolCall") : [];
}

/**
 * A system message to append; below it, it is the context's `system`.
 * @example
 * await session.append(systemMessage("You are a careful engineer."));
 */
export function systemMessage(content: string): EntryInput {
  return { type: "message", message: { role: "system", content } };
}

/** Why a reply ended, as Bough stores it in `stopReason`. */
export type StopReason = "stop" | "length" | "toolUse" | "contentFilter" | "compaction" | "error" | "aborted";

// The words of the AI SDK, OpenAI (chat completions, Responses), Anthropic and Google, in lower case.
const BY_WORD: ReadonlyMap<string, StopReason> = new Map([
  ...wordsFor("stop", ["stop", "end_turn", "stop_sequence", "completed", "other", "unknown"]),
  ...wordsFor("length", ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"]),
  ...wordsFor("toolUse", ["tooluse", "tool-calls", "tool_calls", "function_call", "tool_use"]),
  ...wordsFor("contentFilter", ["contentfilter", "content-filter", "content_filter", "refusal"]),
  ...wordsFor("contentFilter", ["safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"]),
  // Anthropic compacted the conversation and paused, or was asked for nothing else.
  ...wordsFor("compaction", ["compaction"]),
  ...wordsFor("error", ["error", "failed", "malformed_function_call"]),
  ...wordsFor("aborted", ["aborted", "cancelled", "canceled"]),
]);

function wordsFor(reason: StopReason, words: readonly string[]): readonly (readonly [string, StopReason])[] {
  return words.map((word) => [word, reason]);
}

/**
 * The stop reason of a provider or framework as Bough stores it; a word that is not in the table is returned as it is, so that a new
 * one is not lost.
 *
 * @example
 * stopReasonOf("tool_calls"); // "toolUse"
 * stopReasonOf("MAX_TOKENS"); // "length"
 */
export function stopReasonOf(reason: string): StopReason | (string & {}) {
  checkArgument("reason", reason, TEXT);
  return BY_WORD.get(reason.toLowerCase()) ?? reason;
}
