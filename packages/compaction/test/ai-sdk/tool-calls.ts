import { type Answer, raw } from "../model/model-server.js";

/** A whole chat completion that calls one tool. Not for streamed requests. */
export function callTool(id: string, name: string, input: object, promptTokens = 1): Answer {
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
  const message = { role: "assistant", content: null, tool_calls: [call] };
  const usage = { prompt_tokens: promptTokens, completion_tokens: 1, total_tokens: promptTokens + 1 };
  const choices = [{ index: 0, finish_reason: "tool_calls", message }];
  return raw(JSON.stringify({ id: `r-${id}`, object: "chat.completion", created: 1, model: "m", choices, usage }));
}
