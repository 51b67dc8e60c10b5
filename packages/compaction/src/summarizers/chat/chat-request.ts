import { toOpenAIChat } from "@bough/session-core";
import type { SummaryRequest } from "../summarizer.js";

/** A tool as the chat completions API takes it. */
export interface ChatTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly [member: string]: unknown };
}

/** What a host says about its model. */
export interface ChatModel {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly tools?: readonly ChatTool[] | undefined;
  /** OpenAI's own models that think refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
}

/**
 * The body of a chat completion. Pure.
 *
 * Simple mode: the instructions and the task, no tools (R124). Full mode (`request.context`): messages and tools exactly as
 * the agent sends them, so that the provider's prompt cache is read, then the task as one more user message;
 * `tool_choice: "none"`, because taking the tools away would change the cached prefix.
 */
export function chatRequest(
  { model, temperature: own, tools, maxTokensField }: ChatModel,
  request: SummaryRequest,
): Record<string, unknown> {
  const temperature = own ?? request.temperature;
  const task = { role: "user", content: request.prompt };
  const live = request.context === undefined ? undefined : toOpenAIChat(request.context);
  return {
    model,
    messages: live === undefined ? [{ role: "system", content: request.system }, task] : [...live, task],
    ...(live === undefined || tools === undefined || tools.length === 0 ? {} : { tools, tool_choice: "none" }),
    ...(request.maxOutputTokens === undefined ? {} : { [maxTokensField]: request.maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    stream: true,
    stream_options: { include_usage: true },
  };
}
