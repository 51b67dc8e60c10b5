import type { EntryInput } from "./entry.js";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "./message.js";

// The shortest way to say what an agent appends most.

// Omit would forget the names of a type that also takes unknown ones, and with them what their values must be.
type Fields<T> = { readonly [K in keyof T as string extends K ? never : Exclude<K, "role" | "content">]?: T[K] } & {
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
 * A reply to append; `fields` holds what the provider told: `provider`, `model`, `usage`, `stopReason`.
 * @example
 * await session.append(assistantMessage("Done.", { model: "claude-sonnet-4-5", usage: { input: 900, output: 4 } }));
 */
export function assistantMessage(content: AssistantMessage["content"] | string, fields: Fields<AssistantMessage> = {}): EntryInput {
  return { type: "message", message: { ...fields, role: "assistant", content } };
}

/**
 * The result of a tool call to append.
 * @example
 * await session.append(toolResult("call_1", "14 passed", { toolName: "bash" }));
 */
export function toolResult(toolCallId: string, content: ToolResultMessage["content"], fields: Fields<ToolResultMessage> = {}): EntryInput {
  return { type: "message", message: { ...fields, role: "toolResult", toolCallId, content } };
}

/**
 * Instructions to append; from here on they are the context's `system`.
 * @example
 * await session.append(systemMessage("You are a careful engineer."));
 */
export function systemMessage(content: string): EntryInput {
  return { type: "message", message: { role: "system", content } };
}
