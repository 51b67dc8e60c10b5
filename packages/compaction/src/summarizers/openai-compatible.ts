import { toOpenAiChat } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { OPENAI_COMPATIBLE } from "../arguments/shapes.js";
import { toCallError } from "./call-failure.js";
import { ChatResponse } from "./chat-answer.js";
import { untilAborted } from "./http/until-aborted.js";
import { createEndpoint, type Endpoint, type EndpointOptions, postJson, readRequestId, readServerSentEvents } from "./http.js";
import { skipThinking, validateReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** Which server, which model, and how to ask it. */
export interface OpenAiCompatibleOptions extends EndpointOptions {
  /** Up to and with the version: `http://127.0.0.1:11434/v1`. */
  readonly baseURL: string;
  readonly model: string;
  readonly temperature?: number | undefined;
  /** The agent's tools as it sends them; sent in full mode only, where they are part of the cached prefix. */
  readonly tools?: readonly ChatTool[] | undefined;
  /** Name of the output limit. Default: `max_completion_tokens` for OpenAI itself, else `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
}

/**
 * A summarizer behind any server that speaks OpenAI's chat completions: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM,
 * LM Studio and others. Streams, so that `onText` hears each piece; takes an answer in one piece too. Thoughts
 * (`reasoning_content`, a leading `<think>`) are no part of the summary. One call is one request: who wants it tried
 * again uses `callSummarizer`.
 *
 * @throws {InvalidArgumentError} `baseURL` is no HTTP address. The summarizer itself throws as the port says; no message holds the key.
 * @example
 * const summarizer = openAiCompatibleSummarizer({ baseURL: "http://127.0.0.1:11434/v1", model: "qwen3:8b" });
 */
export function openAiCompatibleSummarizer(options: OpenAiCompatibleOptions): Summarizer {
  rules.checkArgument("options", options, OPENAI_COMPATIBLE);
  const endpoint = createEndpoint(options.baseURL, options);
  const chat = { ...endpoint, url: buildChatAddress(endpoint.url) };
  const maxTokensField =
    options.maxTokensField ?? (new URL(chat.url).hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens");
  const model = { model: options.model, temperature: options.temperature, tools: options.tools, maxTokensField };
  return (request) => untilAborted(request.signal, () => requestSummary(chat, buildChatBody(model, request), request));
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
  const text = validateReply(answer.reply());
  return {
    text,
    usage: answer.usage,
    requestId: readRequestId(Object.fromEntries(response.headers)),
    model: answer.model ?? String(body["model"]),
  };
}

async function readResponse(answer: ChatResponse, response: Response, endpoint: Endpoint, onText: (piece: string) => void): Promise<void> {
  // A server that cannot stream answers with one JSON document all the same.
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

/** The events, and a broken connection as a failure of the call; what the reader of the events throws is left alone. */
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

/** A tool as the chat completions API takes it. */
export interface ChatTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly [member: string]: unknown };
}

/** What a host says about its model. */
interface ChatModel {
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
function buildChatBody({ model, temperature: own, tools, maxTokensField }: ChatModel, request: SummaryRequest): Record<string, unknown> {
  const temperature = own ?? request.temperature;
  const task = { role: "user", content: request.prompt };
  const live = request.context === undefined ? undefined : toOpenAiChat(request.context);
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
