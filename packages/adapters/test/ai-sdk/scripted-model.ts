import { MockLanguageModelV3, simulateReadableStream } from "ai/test";

type Model = InstanceType<typeof MockLanguageModelV3>;
type Options = NonNullable<ConstructorParameters<typeof MockLanguageModelV3>[0]>;
type Result = Awaited<ReturnType<Model["doGenerate"]>>;
type Content = Result["content"][number];
type StreamResult = Awaited<ReturnType<Model["doStream"]>>;
/** A part of a model's stream. */
export type ModelPart = StreamResult["stream"] extends ReadableStream<infer P> ? P : never;

const USAGE = {
  inputTokens: { total: 100, noCache: 20, cacheRead: 70, cacheWrite: 10 },
  outputTokens: { total: 30, text: 20, reasoning: 10 },
};

/** One answer of the scripted model: what it says and calls. */
export type Answer = readonly Content[];

export const says = (text: string): Content => ({ type: "text", text });
export const calls = (id: string, input: object, toolName = "read"): Content => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input: JSON.stringify(input),
});

function finish(answer: Answer) {
  const unified = answer.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
  return { unified, raw: unified } as const;
}

/** The SDK's scripted model: gives the answers in order, whole or as streams. */
export function scripted(answers: readonly Answer[], provider = "anthropic.messages"): Model {
  let next = 0;
  const take = (): Answer => answers[next++] ?? [says("no more answers")];
  const options: Options = {
    provider,
    modelId: "m-asked",
    doGenerate: async () => {
      const answer = take();
      return { content: [...answer], finishReason: finish(answer), usage: USAGE, warnings: [], response: { id: "r1", modelId: "m-1" } };
    },
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunksOf(take()), chunkDelayInMs: null, initialDelayInMs: null }) }),
  };
  return new MockLanguageModelV3(options);
}

/** A model whose stream the test feeds. Like a connection, the stream fails when the call is aborted. */
export function fed() {
  const controllers: ReadableStreamDefaultController<ModelPart>[] = [];
  const stream = new ReadableStream<ModelPart>({
    start: (controller) => {
      controllers.push(controller);
    },
  });
  const model = new MockLanguageModelV3({
    provider: "anthropic.messages",
    modelId: "m-asked",
    doStream: async ({ abortSignal }) => {
      abortSignal?.addEventListener("abort", () => controllers[0]?.error(abortSignal.reason));
      return { stream };
    },
  });
  const send = (...parts: ModelPart[]) => {
    for (const part of parts) controllers[0]?.enqueue(part);
  };
  return { model, send, end: () => controllers[0]?.close(), fail: (error: Error) => controllers[0]?.error(error) };
}

function chunksOf(answer: Answer): ModelPart[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r1", modelId: "m-1" },
    ...answer.flatMap(chunks),
    { type: "finish", finishReason: finish(answer), usage: USAGE },
  ];
}

function chunks(content: Content, at: number): ModelPart[] {
  const id = String(at);
  const metadata =
    "providerMetadata" in content && content.providerMetadata !== undefined ? { providerMetadata: content.providerMetadata } : {};
  if (content.type === "text")
    return [
      { type: "text-start", id },
      ...content.text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id, delta })),
      { type: "text-end", id },
    ];
  if (content.type === "reasoning")
    return [
      { type: "reasoning-start", id },
      { type: "reasoning-delta", id, delta: content.text },
      { type: "reasoning-end", id, ...metadata },
    ];
  return [content];
}
