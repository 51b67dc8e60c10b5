// OpenAI's Responses API.
import { shellTool, sse } from "./wire.mjs";

const textOf = (content) =>
  typeof content === "string" ? content : (Array.isArray(content) ? content : []).map(({ text }) => text ?? "").join("\n");

export const responses = {
  matches: (url) => /\/responses(\?|$)/.test(url),
  streams: (_url, sent) => sent.stream === true,
  read: (sent) => ({
    items: rounds(sent.input),
    shell: shellTool((sent.tools ?? []).map(({ name, parameters }) => ({ name, schema: parameters }))),
  }),
  whole: (reply, sent) => finished(reply, sent),
  *events(reply, sent) {
    yield named("response.created", { response: { ...finished(reply, sent), status: "in_progress", output: [], usage: null } });
    for (const [at, item] of output(reply).entries()) {
      yield "pause";
      yield named("response.output_item.added", { output_index: at, item: opened(item) });
      if (item.type === "message")
        yield named("response.output_text.delta", { output_index: at, content_index: 0, item_id: item.id, delta: item.content[0].text });
      yield named("response.output_item.done", { output_index: at, item });
    }
    yield "pause";
    yield named("response.completed", { response: finished(reply, sent) });
  },
};

const named = (type, data) => sse({ type, ...data }, type);

/** The items of a request; the items of one reply (thinking, text, calls) as one. */
function rounds(input) {
  const items = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
  const read = items.map((item) => ({ role: roleOf(item), text: item.role === "assistant" ? "" : textOf(item.content) }));
  return read.filter(({ role }, at) => role !== "assistant" || read[at - 1]?.role !== "assistant");
}

function roleOf({ type = "message", role }) {
  if (type.endsWith("_output")) return "tool";
  if (type === "reasoning" || type.endsWith("_call")) return "assistant";
  return role === "assistant" || role === "user" ? role : "system";
}

function output({ marker, thinking, text, calls }) {
  return [
    {
      type: "reasoning",
      id: `rs_${marker}`,
      summary: [{ type: "summary_text", text: thinking }],
      encrypted_content: `encrypted-${marker}`,
    },
    {
      type: "message",
      id: `msg_${marker}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
    ...calls.map(({ id, name, input }) => ({
      ...{ type: "function_call", id: id.replace("call_", "fc_"), call_id: id, status: "completed" },
      ...{ name, arguments: JSON.stringify(input) },
    })),
  ];
}

const opened = (item) => {
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  return item.type === "function_call" ? { ...item, status: "in_progress", arguments: "" } : { ...item, summary: [] };
};

/** `input_tokens` has the cached ones in it; this API reports no writes to its cache. */
function finished(reply, sent) {
  const { input, output: written, cacheRead } = reply.usage;
  const usage = {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 7 },
    total_tokens: input + cacheRead + written,
  };
  return { id: `resp_${reply.marker}`, object: "response", status: "completed", model: sent.model, output: output(reply), usage };
}
