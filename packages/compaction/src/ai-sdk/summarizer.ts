import { toAiSdk, type Usage } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { raceAbort } from "@bough/session-core/engine";
import type { FinishReason, LanguageModel, streamText, TextStreamPart, ToolSet } from "ai";
import { LANGUAGE_MODEL } from "../arguments/shapes.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { toCallError } from "../summarizers/call-failure.js";
import { readRequestId } from "../summarizers/http.js";
import {
  CONNECTION_ENDED,
  type ModelReply,
  type ReplyEnd,
  readReplyEnd,
  readReplyUsage,
  skipThinking,
  validateReply,
} from "../summarizers/reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "../summarizers/summarizer.js";
import { loadAiSdk } from "./load.js";

type StreamOptions = Parameters<typeof streamText>[0];

/** Options of calling the model. */
export interface AiSdkSummarizerOptions {
  /** The agent's tools as it sends them. Sent only in full mode, where they are part of the cached prefix. Never executed. */
  readonly tools?: ToolSet | undefined;
  /** The agent's system prompt, if the session does not store it. Sent only in full mode, where it is part of the cached prefix. */
  readonly system?: string | undefined;
  readonly temperature?: number | undefined;
  /**
   * Sent with each call, for example a header that distinguishes summaries from replies: `{ "x-interaction-type":
   * "conversation-compaction" }`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly providerOptions?: Parameters<typeof streamText>[0]["providerOptions"] | undefined;
  /** The model's key and passwords; removed from the messages of errors. */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * A summarizer for any language model of the AI SDK (package `ai`, version 6 or 7, loaded at the first call).
 *
 * Requests a stream, so that `onText` gets each piece; thinking is not part of the summary. Each call sends one request;
 * `callSummarizer` adds retries. Full mode sends `toAiSdk(context)` as an agent does, then the task as one more user
 * message, with `toolChoice: "none"`.
 *
 * @example
 * const summarizer = aiSdkSummarizer(anthropic("claude-haiku-4-5"));
 */
export function aiSdkSummarizer(model: LanguageModel, options: AiSdkSummarizerOptions = {}): Summarizer {
  rules.checkArgument("model", model, LANGUAGE_MODEL);
  rules.checkArgument("options", options, rules.OBJECT);
  return (request) => raceAbort(() => requestSummary(model, options, request), request.signal);
}

async function requestSummary(model: LanguageModel, options: AiSdkSummarizerOptions, request: SummaryRequest): Promise<SummaryReply> {
  const sdk = await loadSummarizerSdk();
  const reply = new StreamedReply(request.onText);
  try {
    for await (const part of sdk.streamText(buildCallOptions(model, options, request)).fullStream) reply.add(part);
  } catch (error) {
    throw toCallError(error, { secrets: options.secrets });
  }
  return {
    text: validateReply(reply.toReply()),
    usage: reply.usage,
    requestId: reply.requestId,
    model: reply.model ?? getModelName(model),
  };
}

async function loadSummarizerSdk(): Promise<Awaited<ReturnType<typeof loadAiSdk>>> {
  try {
    return await loadAiSdk();
  } catch (cause) {
    throw new SummarizerCallError("bad-request", `the package "ai" (version 6 or 7) could not be loaded; install it`, { cause });
  }
}

function buildCallOptions(model: LanguageModel, options: AiSdkSummarizerOptions, request: SummaryRequest): StreamOptions {
  const { temperature = request.temperature, headers, providerOptions } = options;
  return {
    model,
    ...buildPrompt(options, request),
    maxRetries: 0,
    // A failure arrives as a part of the stream; the default handler writes it to the console.
    onError: () => undefined,
    ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(headers === undefined ? {} : { headers }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}

function buildPrompt({ tools, system: own }: AiSdkSummarizerOptions, request: SummaryRequest): Partial<StreamOptions> {
  const { system, prompt, context } = request;
  const task = { role: "user" as const, content: prompt };
  // Simple mode needs no tools, and a model without tools cannot call one.
  if (context === undefined) return { system, messages: [task] };
  const live = toAiSdk({ ...context, system: own ?? context.system });
  return { ...live, messages: [...live.messages, task], ...(tools === undefined ? {} : { tools, toolChoice: "none" as const }) };
}

/** Collects the parts of one reply. */
class StreamedReply {
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

  add(part: TextStreamPart<ToolSet>): void {
    if (part.type === "text-delta") this.#addText(part.text);
    else if (part.type === "tool-input-start" || part.type === "tool-call") this.#callsTool = true;
    else if (part.type === "finish-step") this.#addEnd(part);
    else if (part.type === "error") throw part.error;
  }

  #addText(piece: string): void {
    this.#pieces.push(piece);
    if (piece !== "") this.#onText(piece);
  }

  #addEnd(part: Extract<TextStreamPart<ToolSet>, { type: "finish-step" }>): void {
    const { model, requestId, usage, end } = readFinishStep(part);
    this.model = model;
    this.requestId = requestId;
    this.usage = usage;
    if (end === "overflow") throw new SummarizerCallError("overflow", part.rawFinishReason ?? end);
    if (end !== undefined) this.#end = readReplyEnd(end);
  }

  /** The whole reply. @throws {SummarizerCallError} the connection ended before the reply did. */
  toReply(): ModelReply {
    if (this.#end === undefined) throw new SummarizerCallError("network", CONNECTION_ENDED);
    return { text: this.#pieces.join(""), end: this.#end, callsTool: this.#callsTool };
  }
}

function getModelName(model: LanguageModel): string {
  return typeof model === "string" ? model : model.modelId;
}

/** The data at the end of a reply in a stream of the AI SDK (its part `finish-step`). */
interface FinishedStep {
  /** As the server named the model. */
  readonly model: string;
  readonly requestId: string | undefined;
  readonly usage: Usage | undefined;
  /** `overflow`: the context window was too small. undefined: the connection ended before the reply did. */
  readonly end: FinishReason | "overflow" | undefined;
}

/** Reads the part that ends a reply. */
function readFinishStep(step: Extract<TextStreamPart<ToolSet>, { type: "finish-step" }>): FinishedStep {
  const { response, usage } = step;
  return {
    model: response.modelId,
    requestId: readRequestId(response.headers) ?? response.id,
    usage: readReplyUsage(usage),
    end: readEnd(step.finishReason, step.rawFinishReason),
  };
}

function readEnd(reason: FinishReason, raw: string | undefined): FinishedStep["end"] {
  // z.ai reports an input that was too long in the place of a finish reason.
  if (raw === "model_context_window_exceeded") return "overflow";
  // A provider whose connection ended early reports "other" without a reason of the server's.
  return reason === "other" && raw === undefined ? undefined : reason;
}
