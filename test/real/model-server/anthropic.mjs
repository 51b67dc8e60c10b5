// Anthropic's Messages API.
import { shellTool, sse } from "./wire.mjs";

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

export const anthropic = {
  matches: (url) => /\/v1\/messages/.test(url),
  streams: (_url, sent) => sent.stream === true,
  read: (sent) => ({
    items: (sent.messages ?? []).map(({ role, content }) => {
      const isResult = Array.isArray(content) && content.some(({ type }) => type === "tool_result");
      return { role: isResult ? "tool" : role, text: textOf(content) };
    }),
    shell: shellTool((sent.tools ?? []).map(({ name, input_schema: schema }) => ({ name, schema }))),
  }),
  whole: (reply, sent) => ({ ...message(reply, sent), content: blocks(reply), stop_reason: stopReason(reply), usage: usage(reply) }),
  *events(reply, sent) {
    const start = { ...message(reply, sent), content: [], stop_reason: null, usage: { ...usage(reply), output_tokens: 1 } };
    yield named("message_start", { message: start });
    for (const [index, block] of blocks(reply).entries()) {
      yield "pause";
      yield named("content_block_start", { index, content_block: emptyBlock(block) });
      for (const delta of deltas(block)) yield named("content_block_delta", { index, delta });
      yield named("content_block_stop", { index });
    }
    yield "pause";
    yield named("message_delta", {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.output },
    });
    yield named("message_stop", {});
  },
};

const named = (type, data) => sse({ type, ...data }, type);

const message = (reply, sent) => ({
  id: `msg_${reply.marker}`,
  type: "message",
  role: "assistant",
  model: sent.model,
  stop_sequence: null,
});

const stopReason = ({ calls }) => (calls.length > 0 ? "tool_use" : "end_turn");

function usage({ usage: { input, output, cacheRead, cacheWrite } }) {
  return { input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite };
}

function blocks({ text, thinking, calls, marker }) {
  return [
    { type: "thinking", thinking, signature: Buffer.from(marker).toString("base64") },
    { type: "text", text },
    ...calls.map(({ id, name, input }) => ({ type: "tool_use", id: id.replace("call_", "toolu_"), name, input })),
  ];
}

function emptyBlock(block) {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
}

function deltas(block) {
  if (block.type === "thinking")
    return [
      { type: "thinking_delta", thinking: block.thinking },
      { type: "signature_delta", signature: block.signature },
    ];
  if (block.type === "text") return [{ type: "text_delta", text: block.text }];
  return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
}
