// OpenAI's Chat Completions API.
import { shellTool, sse } from "./wire.mjs";

const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n"));

export const chat = {
  matches: (url) => /\/chat\/completions(\?|$)/.test(url),
  streams: (_url, sent) => sent.stream === true,
  read: (sent) => ({
    items: (sent.messages ?? []).map(({ role, content }) => ({ role, text: role === "tool" ? "" : textOf(content) })),
    shell: shellTool((sent.tools ?? []).map(({ function: tool }) => ({ name: tool?.name, schema: tool?.parameters }))),
  }),
  whole: (reply, sent) => ({
    ...head(reply, sent, "chat.completion"),
    choices: [
      { index: 0, message: { role: "assistant", content: reply.text, ...toolCalls(reply, false) }, finish_reason: finishReason(reply) },
    ],
    usage: usage(reply),
  }),
  *events(reply, sent) {
    const chunk = (delta, rest = {}) =>
      sse({ ...head(reply, sent, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
    yield "pause";
    yield chunk({ role: "assistant", content: reply.text });
    for (const [at, call] of reply.calls.entries()) {
      yield "pause";
      yield chunk(toolCalls({ calls: [call] }, true, at));
    }
    yield "pause";
    yield chunk({}, { finish_reason: finishReason(reply) });
    yield sse({ ...head(reply, sent, "chat.completion.chunk"), choices: [], usage: usage(reply) });
    yield sse("[DONE]");
  },
};

const head = (reply, sent, object) => ({ id: `chatcmpl-${reply.marker}`, object, created: 1_767_000_000, model: sent.model });

const finishReason = ({ calls }) => (calls.length > 0 ? "tool_calls" : "stop");

function toolCalls({ calls }, isChunk, first = 0) {
  if (calls.length === 0) return {};
  return {
    tool_calls: calls.map(({ id, name, input }, at) => ({
      ...(isChunk ? { index: first + at } : {}),
      ...{ id, type: "function", function: { name, arguments: JSON.stringify(input) } },
    })),
  };
}

/** `prompt_tokens` has the cached ones in it; this API reports no writes to its cache. */
function usage({ usage: { input, output, cacheRead } }) {
  return {
    prompt_tokens: input + cacheRead,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
  };
}
