import {
  fromAnthropic,
  fromOpenAiResponses,
  InvalidArgumentError,
  type ModelSetting,
  type NativeCompaction,
  nativeCompactionOf,
  type SessionContext,
  toAnthropic,
  toOpenAiResponses,
  type Usage,
} from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { raceAbort } from "@bough/session-core/engine";
import { canReadNative } from "@bough/session-core/wire";
import { NATIVE_SUMMARIZER } from "../arguments/shapes.js";
import { SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { createEndpoint, type Endpoint, type EndpointOptions, lowerCaseNames, postJson, readJson, readRequestId } from "./http.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/**
 * A summarizer that lets the provider of the session's model compact the conversation itself. It is called before all others, with
 * `context` alone: the request as it was sent last, up to the entries that are kept. Its reply has `native`.
 */
export interface NativeSummarizer {
  (request: SummaryRequest): Promise<SummaryReply>;
  readonly isNative: true;
}

/** True if a summarizer asks the provider to compact the conversation itself. */
export function isNativeSummarizer(summarizer: Summarizer): summarizer is NativeSummarizer {
  return "isNative" in summarizer && summarizer.isNative === true;
}

/** Options that both APIs share. */
export interface NativeCompactionOptions extends EndpointOptions {
  /** Default: the session's model. Only the model that made a compaction reads it, so another one, unless by another name, is an error of the call. */
  readonly model?: string | undefined;
  /** The agent's system prompt, if the session does not store it. What thinking is bound to must be what the agent sends. */
  readonly system?: string | undefined;
  /** The agent's tools as it sends them. */
  readonly tools?: readonly object[] | undefined;
}

/** Options of `anthropicCompaction`. */
export interface AnthropicCompactionOptions extends NativeCompactionOptions {
  /** Default `https://api.anthropic.com`. */
  readonly baseURL?: string | undefined;
  /** The provider as the session's replies name it. Default `anthropic`. */
  readonly provider?: string | undefined;
}

/** Options of `openAiCompaction`. */
export interface OpenAiCompactionOptions extends NativeCompactionOptions {
  /** Up to and including the version. Default `https://api.openai.com/v1`. */
  readonly baseURL?: string | undefined;
  /** The provider as the session's replies name it. Default `openai`; `xai` for xAI. */
  readonly provider?: string | undefined;
  /** `compact` (default): `POST /responses/compact`. `trigger`: a response to an input that ends with `compaction_trigger`. */
  readonly method?: "compact" | "trigger" | undefined;
}

const ANTHROPIC_BETA = "compact-2026-09-04";
/** The least that Anthropic's API has to be told; a summary seldom has a quarter of it. */
const MAX_TOKENS = 16_384;

/**
 * Lets Anthropic write the summary (`compaction: { type: "summarize" }`, beta `compact-2026-09-04`). The signed block that comes back is
 * sent first in later requests, and thinking of the kept turns stays valid; other models get its text. Instructions of a manual compaction
 * replace the API's own prompt. Only for Claude: while the session has another provider's model, the call fails and the next summarizer
 * writes.
 *
 * @throws {InvalidArgumentError} an option is of the wrong type. The summarizer throws as described at {Summarizer}; no message contains the key.
 * @example
 * const compactor = createCompactor({ session, contextWindow: 200_000, summarizer: [anthropicCompaction({ apiKey }), fallback] });
 */
export function anthropicCompaction(options: AnthropicCompactionOptions = {}): NativeSummarizer {
  rules.checkArgument("options", options, NATIVE_SUMMARIZER);
  const { baseURL = "https://api.anthropic.com", provider = "anthropic", apiKey, headers = {}, fetch } = options;
  const given = lowerCaseNames(headers);
  const betas = given["anthropic-beta"] === undefined ? ANTHROPIC_BETA : `${given["anthropic-beta"]},${ANTHROPIC_BETA}`;
  const key = apiKey === undefined ? {} : { "x-api-key": apiKey };
  const own = { "anthropic-version": "2023-06-01", ...key, ...given, "anthropic-beta": betas };
  const endpoint = createEndpoint(atPath(baseURL, "/v1/messages"), { headers: own, ...(fetch === undefined ? {} : { fetch }) });
  return nativeSummarizer({ ...options, provider }, endpoint, ({ model, tools, context, request }) => ({
    body: {
      model,
      max_tokens: request.maxOutputTokens ?? MAX_TOKENS,
      ...(tools === undefined ? {} : { tools }),
      ...toAnthropic(context),
      compaction: { type: "summarize", ...(request.prompt === "" ? {} : { instructions: request.prompt }) },
    },
    read: (reply) => fromAnthropic(reply, { provider, model }),
  }));
}

/**
 * Lets OpenAI, or xAI, compact the conversation. The encrypted items that come back are sent first in later requests; because nothing else
 * can read them, Bough's extract is the summary for other models, people and searches. While the session has another provider's model, the
 * call fails and the next summarizer writes.
 *
 * @throws {InvalidArgumentError} an option is of the wrong type. The summarizer throws as described at {Summarizer}; no message contains the key.
 * @example
 * const compactor = createCompactor({ session, contextWindow: 400_000, summarizer: openAiCompaction({ apiKey }) });
 */
export function openAiCompaction(options: OpenAiCompactionOptions = {}): NativeSummarizer {
  rules.checkArgument("options", options, NATIVE_SUMMARIZER);
  const { baseURL = "https://api.openai.com/v1", provider = "openai", method = "compact" } = options;
  const endpoint = createEndpoint(atPath(baseURL, method === "compact" ? "/responses/compact" : "/responses"), options);
  return nativeSummarizer({ ...options, provider }, endpoint, ({ model, tools, context }) => {
    const { input, instructions } = toOpenAiResponses(context);
    const shared = { model, ...(instructions === undefined ? {} : { instructions }) };
    const trigger = { store: false, ...(tools === undefined ? {} : { tools }), input: [...input, { type: "compaction_trigger" }] };
    return {
      body: method === "compact" ? { ...shared, input } : { ...shared, ...trigger },
      read: (reply) => fromOpenAiResponses(reply, { provider, model }),
    };
  });
}

function atPath(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}

/** A call of an API: its body, and the reader of its reply. */
interface NativeCall {
  readonly body: object;
  readonly read: (reply: object) => ReturnType<typeof fromAnthropic>;
}

type Call = NativeCompactionOptions & { readonly provider: string };
type CallInput = {
  readonly model: string;
  readonly tools: Call["tools"];
  readonly context: SessionContext;
  readonly request: SummaryRequest;
};

function nativeSummarizer(call: Call, endpoint: Endpoint, toCall: (input: CallInput) => NativeCall): NativeSummarizer {
  const summarize = (request: SummaryRequest) =>
    raceAbort(async () => {
      const input = toInput(call, request);
      const { body, read } = toCall(input);
      const response = await postJson(endpoint, body, request.signal);
      const { native, text, usage } = readReply(await readJson(response, endpoint), read);
      const requestId = readRequestId(Object.fromEntries(response.headers));
      return {
        text,
        native,
        model: input.model,
        ...(usage === undefined ? {} : { usage }),
        ...(requestId === undefined ? {} : { requestId }),
      };
    }, request.signal);
  return Object.assign(summarize, { isNative: true as const });
}

/** @throws {SummarizerCallError} the session's model could not read what this provider and model write. */
function toInput({ provider, model: own, system, tools }: Call, request: SummaryRequest): CallInput {
  const { context } = request;
  if (context === undefined) throw new SummarizerCallError("bad-request", "the provider's own compaction needs the request as it was sent");
  const model = own ?? context.model?.modelId;
  if (model === undefined) throw new SummarizerCallError("bad-request", "neither the session nor the option model names a model");
  const asked = context.model;
  if (asked !== null && !canReadNative({ provider, model }, asked))
    throw new SummarizerCallError("bad-request", `${nameOf(asked)}, the session's model, cannot read a compaction of ${provider}/${model}`);
  return { model, tools, request, context: { ...context, model: { provider, modelId: model }, system: system ?? context.system } };
}

function nameOf({ provider, modelId }: ModelSetting): string {
  return provider === undefined ? modelId : `${provider}/${modelId}`;
}

interface NativeReply {
  readonly native: NativeCompaction;
  readonly text: string;
  readonly usage: Usage | undefined;
}

/** @throws {SummaryRejectedError} `empty`: the provider made no compaction, or it failed; `not-a-text`: the reply is none. */
function readReply(reply: unknown, read: NativeCall["read"]): NativeReply {
  for (const entry of readEntries(reply, read)) {
    const native = entry.type === "compaction" ? nativeCompactionOf(entry) : undefined;
    if (entry.type === "compaction" && native !== undefined) return { native, text: entry.summary, usage: entry.usage };
  }
  throw new SummaryRejectedError("empty");
}

function readEntries(reply: unknown, read: NativeCall["read"]): ReturnType<NativeCall["read"]> {
  try {
    return typeof reply === "object" && reply !== null ? read(reply) : [];
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new SummaryRejectedError("not-a-text");
    throw error;
  }
}
