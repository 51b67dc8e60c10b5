import { toOpenAiChat, type Usage } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { raceAbort } from "@bough/session-core/engine";
import { parseJson } from "@bough/session-core/wire";
import * as z from "zod";
import { OPENAI_COMPATIBLE } from "../arguments/shapes.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { createEndpoint, type Endpoint, type EndpointOptions, postJson, readRequestId, readServerSentEvents } from "./http.js";
import { parseFailure } from "./parse-failure.js";
import { CONNECTION_ENDED, type ModelReply, type ReplyEnd, readReplyEnd, readReplyUsage, skipThinking, validateReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** A tool of the chat completions API. */
export interface ChatTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly [member: string]: unknown };
}

/** Server, model and options. */
export interface OpenAiCompatibleOptions extends EndpointOptions {
  /** Up to and including the version: `http://127.0.0.1:11434/v1`. */
  readonly baseURL: string;
  readonly model: string;
  readonly temperature?: number | undefined;
  /** The agent's tools as it sends them. Sent only in full mode, where they are part of the cached prefix. */
  readonly tools?: readonly ChatTool[] | undefined;
  /** The agent's system prompt, if the session does not store it. Sent only in full mode, where it is part of the cached prefix. */
  readonly system?: string | undefined;
  /**
   * Name of the output limit. Default: `max_completion_tokens` for OpenAI itself, else `max_tokens`; a server that rejects
   * it and names the other (Azure, a gateway) gets the other from then on.
   */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
}

/** The names of the output limit. */
type MaxTokensField = NonNullable<OpenAiCompatibleOptions["maxTokensField"]>;

/**
 * A summarizer for any server with OpenAI's chat completions API: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, LM Studio
 * and others. Requests a stream, so that `onText` gets each piece; also accepts a response in one piece. Thinking
 * (`reasoning_content`, a leading `<think>`) is not part of the summary. `callSummarizer` adds retries.
 *
 * @throws {InvalidArgumentError} `baseURL` is not an HTTP URL. The summarizer throws as described at {Summarizer}; no
 * message contains the key.
 * @example
 * const summarizer = openAiCompatibleSummarizer({ baseURL: "http://127.0.0.1:11434/v1", model: "qwen3:8b" });
 */
export function openAiCompatibleSummarizer(options: OpenAiCompatibleOptions): Summarizer {
  rules.checkArgument("options", options, OPENAI_COMPATIBLE);
  const endpoint = createEndpoint(options.baseURL, options);
  const chat = { ...endpoint, url: buildChatAddress(endpoint.url) };
  const { model, temperature, tools, system } = options;
  let maxTokensField: MaxTokensField =
    options.maxTokensField ?? (new URL(chat.url).hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens");
  const ask = (request: SummaryRequest) => {
    const body = buildChatBody({ model, temperature, tools, system, maxTokensField }, request);
    return raceAbort(() => requestSummary(chat, body, request), request.signal);
  };
  return async (request) => {
    try {
      return await ask(request);
    } catch (error) {
      const other = maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
      if (options.maxTokensField !== undefined || request.maxOutputTokens === undefined || !isRejected(error, other)) throw error;
      maxTokensField = other;
      return ask(request);
    }
  };
}

/** OpenAI: `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.` */
function isRejected(error: unknown, other: MaxTokensField): boolean {
  return error instanceof SummarizerCallError && error.failure === "bad-request" && parseFailure(error).text.includes(other);
}

function buildChatAddress(base: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  return url.href;
}

async function requestSummary(
  endpoint: Endpoint,
  body: Record<string, unknown>,
  { signal, onText }: SummaryRequest,
): Promise<SummaryReply> {
  const response = await postJson(endpoint, body, signal);
  const answer = new ChatResponse();
  await readResponse(answer, response, endpoint, onText === undefined ? () => undefined : skipThinking(onText));
  const text = validateReply(answer.toReply());
  return {
    text,
    usage: answer.usage,
    requestId: readRequestId(Object.fromEntries(response.headers)),
    model: answer.model ?? String(body["model"]),
  };
}

async function readResponse(answer: ChatResponse, response: Response, endpoint: Endpoint, onText: (piece: string) => void): Promise<void> {
  // A server that cannot stream responds with one JSON document.
  if (response.body === null || /\bjson\b/i.test(response.headers.get("content-type") ?? "")) {
    const piece = answer.add(await readBody(response, endpoint), endpoint.secrets);
    answer.finish();
    if (piece !== "") onText(piece);
    return;
  }
  for await (const data of readEvents(response.body, endpoint)) {
    if (data.trim() === "[DONE]") return answer.finish();
    const piece = answer.add(data, endpoint.secrets);
    if (piece !== "") onText(piece);
  }
}

async function readBody(response: Response, endpoint: Endpoint): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw toCallError(error, endpoint);
  }
}

/** Yields the events of a body; a broken connection becomes a failed call, errors of the consumer pass. */
async function* readEvents(body: ReadableStream<Uint8Array>, endpoint: Endpoint): AsyncGenerator<string, void, undefined> {
  const events = readServerSentEvents(body);
  try {
    for (;;) {
      const next = await events.next().catch((error: unknown) => {
        throw toCallError(error, endpoint);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await events.return();
  }
}

/** Model and options of a request. */
interface ChatModel {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly tools?: readonly ChatTool[] | undefined;
  readonly system?: string | undefined;
  /** OpenAI's reasoning models reject `max_tokens`; most other servers accept nothing else. */
  readonly maxTokensField: MaxTokensField;
}

/**
 * The body of a chat completion request. Pure.
 *
 * Simple mode: system message and task, no tools. Full mode (`request.context`): messages and tools exactly as the agent
 * sends them, so that the provider's prompt cache is used, then the task as one more user message. `tool_choice: "none"`
 * instead of no tools, because without them the cached prefix would change.
 */
function buildChatBody(chat: ChatModel, request: SummaryRequest): Record<string, unknown> {
  const { model, temperature: own, tools, system, maxTokensField } = chat;
  const temperature = own ?? request.temperature;
  const task = { role: "user", content: request.prompt };
  const { context } = request;
  const live = context === undefined ? undefined : toOpenAiChat({ ...context, system: system ?? context.system });
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

const usage = z.record(z.string(), z.unknown()).nullish().catch(undefined);

// Mistral's reasoning models return parts; only the text parts are the reply.
const textContent = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).transform(textOfParts)])
  .nullish();

const message = z
  .looseObject({
    content: textContent,
    refusal: z.string().nullish(),
    tool_calls: z.array(z.unknown()).nullish(),
    function_call: z.unknown().optional(),
  })
  .nullish();

/** One chunk of a stream, or a whole completion: they differ only in `delta` and `message`. */
const completion = z.looseObject({
  error: z.unknown().optional(),
  model: z.string().nullish().catch(undefined),
  usage,
  choices: z
    .array(z.looseObject({ delta: message, message, finish_reason: z.string().nullish() }))
    .nullish()
    .transform((given) => given ?? []),
});

function textOfParts(parts: readonly { readonly type: string; readonly text?: string | undefined }[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("");
}

/** Collects the chunks of one response. */
class ChatResponse {
  readonly #pieces: string[] = [];
  #end: ReplyEnd | undefined;
  #callsTool = false;
  #refuses = false;
  usage: Usage | undefined;
  model: string | undefined;

  /**
   * Adds one JSON text: a chunk or a whole completion. @returns the new text.
   *
   * @throws {SummarizerCallError} it is not a chat completion, or it reports a failure in the middle of the response.
   */
  add(json: string, secrets: readonly string[]): string {
    const chunk = completion.safeParse(parseJson(json));
    if (!chunk.success) throw new SummarizerCallError("network", "the server's response is not a chat completion");
    const { error, choices } = chunk.data;
    if (error !== undefined && error !== null) throw toCallError(typeof error === "object" ? error : new Error(String(error)), { secrets });
    this.usage = readReplyUsage(chunk.data.usage) ?? this.usage;
    this.model = chunk.data.model ?? this.model;
    return choices
      .slice(0, 1)
      .map((choice) => this.#takeChoice(choice))
      .join("");
  }

  #takeChoice({ delta, message, finish_reason }: z.output<typeof completion>["choices"][number]): string {
    const part = delta ?? message;
    if ((part?.tool_calls?.length ?? 0) > 0 || (part?.function_call ?? undefined) !== undefined) this.#callsTool = true;
    if ((part?.refusal ?? "") !== "") this.#refuses = true;
    // z.ai reports an overflow as the finish reason.
    if (finish_reason === "model_context_window_exceeded") throw new SummarizerCallError("overflow", finish_reason);
    if (typeof finish_reason === "string" && finish_reason !== "") this.#end = readReplyEnd(finish_reason);
    const piece = part?.content ?? "";
    this.#pieces.push(piece);
    return piece;
  }

  /** Marks the end of a response without a finish reason. */
  finish(): void {
    this.#end ??= "unknown";
  }

  /** The whole reply. @throws {SummarizerCallError} the connection ended before the response did. */
  toReply(): ModelReply {
    if (this.#end === undefined) throw new SummarizerCallError("network", CONNECTION_ENDED);
    return { text: this.#pieces.join(""), end: this.#end, callsTool: this.#callsTool, refuses: this.#refuses };
  }
}
