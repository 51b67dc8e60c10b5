import { toAiSdk, type Usage } from "@bough/session-core";
import { raceAbort, rules } from "@bough/session-core/internals";
import type { FinishReason, LanguageModel, streamText, TextStreamPart, ToolSet } from "ai";
import { LANGUAGE_MODEL } from "../arguments/shapes.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { CONNECTION_ENDED, readFinishStep } from "./ai-sdk-step.js";
import { toCallError } from "./call-failure.js";
import { type ModelReply, type ReplyEnd, skipThinking, validateReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

type StreamOptions = Parameters<typeof streamText>[0];

/** How to ask the model. */
export interface AiSdkSummarizerOptions {
  /** The agent's tools as it sends them; sent in full mode only, where they are part of the cached prefix. Never executed. */
  readonly tools?: ToolSet | undefined;
  readonly temperature?: number | undefined;
  /** Sent with each call, as a header that tells summaries from answers: `{ "x-interaction-type": "conversation-compaction" }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly providerOptions?: StreamOptions["providerOptions"] | undefined;
  /** The model's key and passwords: never in the message of an error, whoever repeats them. */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * A summariser for any language model of the AI SDK (package `ai`, version 6 or 7, loaded at the first call).
 *
 * Streams, so that `onText` hears each piece; thoughts are no part of the summary. One call is one request: who wants it
 * tried again uses `callSummarizer`. Full mode sends `toAiSdk(context)` as an agent does, then the task as one more user
 * message, with `toolChoice: "none"`.
 *
 * @example
 * const summarizer = aiSdkSummarizer(anthropic("claude-haiku-4-5"));
 */
export function aiSdkSummarizer(model: LanguageModel, options: AiSdkSummarizerOptions = {}): Summarizer {
  rules.checkArgument("model", model, LANGUAGE_MODEL);
  rules.checkArgument("options", options, rules.OBJECT);
  return (request) => raceAbort(() => ask(model, options, request), request.signal);
}

async function ask(model: LanguageModel, options: AiSdkSummarizerOptions, request: SummaryRequest): Promise<SummaryReply> {
  const sdk = await loaded();
  const answer = new StreamedAnswer(request.onText);
  try {
    for await (const part of sdk.streamText(callOptions(model, options, request)).fullStream) answer.take(part);
  } catch (error) {
    throw toCallError(error, { secrets: options.secrets });
  }
  return { text: validateReply(answer.reply()), usage: answer.usage, requestId: answer.requestId, model: answer.model ?? nameOf(model) };
}

async function loaded(): Promise<typeof import("ai")> {
  try {
    return await import("ai");
  } catch (error) {
    throw new SummarizerCallError("bad-request", `the package "ai" (version 6 or 7) could not be loaded; install it beside this one`, {
      cause: error,
    });
  }
}

function callOptions(model: LanguageModel, options: AiSdkSummarizerOptions, request: SummaryRequest): StreamOptions {
  const { temperature = request.temperature, headers, providerOptions } = options;
  return {
    model,
    ...promptOf(options, request),
    maxRetries: 0,
    // The failure comes as a part of the stream; the default writes it to the console.
    onError: () => undefined,
    ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(headers === undefined ? {} : { headers }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}

function promptOf({ tools }: AiSdkSummarizerOptions, { system, prompt, context }: SummaryRequest): Partial<StreamOptions> {
  const task = { role: "user" as const, content: prompt };
  // No tools are offered where none are needed (R124).
  if (context === undefined) return { system, messages: [task] };
  const live = toAiSdk(context);
  return { ...live, messages: [...live.messages, task], ...(tools === undefined ? {} : { tools, toolChoice: "none" as const }) };
}

const ENDS: Readonly<Record<FinishReason, ReplyEnd>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool-calls",
  "content-filter": "content-filter",
  error: "unknown",
  other: "unknown",
};

/** What came of an answer so far. */
class StreamedAnswer {
  readonly #pieces: string[] = [];
  readonly #onText: (piece: string) => void;
  #end: ReplyEnd | undefined;
  #callsTool = false;
  usage: Usage | undefined;
  model: string | undefined;
  requestId: string | undefined;

  constructor(onText: ((piece: string) => void) | undefined) {
    this.#onText = onText === undefined ? () => undefined : skipThinking(onText);
  }

  take(part: TextStreamPart<ToolSet>): void {
    if (part.type === "text-delta") this.#takeText(part.text);
    else if (part.type === "tool-input-start" || part.type === "tool-call") this.#callsTool = true;
    else if (part.type === "finish-step") this.#takeEnd(part);
    else if (part.type === "error") throw part.error;
  }

  #takeText(piece: string): void {
    this.#pieces.push(piece);
    if (piece !== "") this.#onText(piece);
  }

  #takeEnd(part: Extract<TextStreamPart<ToolSet>, { type: "finish-step" }>): void {
    const { model, requestId, usage, end } = readFinishStep(part);
    this.model = model;
    this.requestId = requestId;
    this.usage = usage;
    if (end === "overflow") throw new SummarizerCallError("overflow", part.rawFinishReason ?? end);
    if (end !== undefined) this.#end = ENDS[end];
  }

  /** The whole answer. @throws {SummarizerCallError} the connection ended before the answer did. */
  reply(): ModelReply {
    if (this.#end === undefined) throw new SummarizerCallError("network", CONNECTION_ENDED);
    return { text: this.#pieces.join(""), end: this.#end, callsTool: this.#callsTool };
  }
}

function nameOf(model: LanguageModel): string {
  return typeof model === "string" ? model : model.modelId;
}
