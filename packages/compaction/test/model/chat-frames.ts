/** The frames of OpenAI's chat completions, streamed and whole. */
const ID = "chatcmpl-test";

const HEAD = { id: ID, created: 1_700_000_000, model: "test-model" };

/** One event of a stream. */
export function event(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A chunk with a delta. */
export function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  return event({ ...HEAD, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
}

/** The last chunk, with usage and no choice. */
export function usageChunk(promptTokens: number, completionTokens: number): string {
  return event({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: usageOf(promptTokens, completionTokens) });
}

/** A whole completion. */
export function completion(message: Record<string, unknown>, finish: string | null, usage: unknown): string {
  return JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
  });
}

/** `usage` as OpenAI gives it. */
export function usageOf(promptTokens: number, completionTokens: number): Record<string, unknown> {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
}

/** A call, as a message has it; a delta needs `index` too, which a message may have. */
export const TOOL_CALL = { index: 0, id: "call_1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } };
