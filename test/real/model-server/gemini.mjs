// Google's generateContent API.
import { shellTool, sse } from "./wire.mjs";

export const gemini = {
  matches: (url) => /:(stream)?generateContent/i.test(url),
  streams: (url) => /stream/i.test(url),
  read: (sent) => ({
    items: (sent.contents ?? []).map(({ role, parts = [] }) => {
      const isResult = parts.some((part) => part.functionResponse !== undefined);
      return { role: role === "model" ? "assistant" : isResult ? "tool" : "user", text: parts.map(({ text }) => text ?? "").join("\n") };
    }),
    shell: shellTool(
      (sent.tools ?? [])
        .flatMap((tool) => tool.functionDeclarations ?? [])
        .map((tool) => ({ name: tool.name, schema: tool.parametersJsonSchema ?? tool.parameters })),
    ),
  }),
  whole: (reply) => piece(reply, parts(reply), true),
  *events(reply) {
    const all = parts(reply);
    for (const [at, part] of all.entries()) {
      yield "pause";
      yield sse(piece(reply, [part], at === all.length - 1));
    }
  },
};

function parts({ text, thinking, calls }) {
  return [
    { text: `**Planning** ${thinking}`, thought: true },
    { text },
    ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
  ];
}

/** `promptTokenCount` has the cached ones in it; thoughts are counted beside the candidates. */
function piece(reply, content, isLast) {
  const { input, output, cacheRead } = reply.usage;
  const usageMetadata = {
    promptTokenCount: input + cacheRead,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output - 9,
    thoughtsTokenCount: 9,
    totalTokenCount: input + cacheRead + output,
  };
  const candidate = { content: { role: "model", parts: content }, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) };
  return { candidates: [candidate], ...(isLast ? { usageMetadata } : {}), modelVersion: "gemini-2.5-pro", responseId: reply.marker };
}
