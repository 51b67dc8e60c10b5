import { setTimeout as sleep } from "node:timers/promises";
import { type StepRead, StepReader } from "@bough/adapters/ai-sdk";
import { parseFailure } from "@bough/compaction/providers";
import { type SessionContext, toAiSdk } from "@bough/session-core";
import type { LanguageModel, streamText, ToolSet } from "ai";
import type { ProviderKind } from "../config/schema.js";
import type { ChatModel } from "./chat-model.js";
import { buildRequestFrame, type FrameOptions } from "./request-frame.js";
import type { Tool } from "./tools/tool.js";

type StreamOptions = Parameters<typeof streamText>[0];

/** A reply, complete or interrupted. */
export interface Reply extends Omit<StepRead, "invalidCalls"> {
  /** Error messages for the model about calls with invalid arguments, by the id of the call. */
  readonly unparsableCalls: ReadonlyMap<string, string>;
}

/** A request that failed before any answer and is sent again. */
export interface Retry {
  readonly error: unknown;
  /** The number of the coming attempt, from 2, and how many there are. */
  readonly attempt: number;
  readonly attempts: number;
  /** The delay before it; 0: it is sent now. */
  readonly waitMs: number;
}

/** Receives the deltas of a reply. */
interface ReplyListener {
  readonly text: (delta: string) => void;
  readonly thinking: (delta: string) => void;
  /** Called before the delay and after it. */
  readonly retry: (retry: Retry) => void;
}

/** One request to a model. */
interface ModelRequest {
  readonly model: ChatModel;
  readonly context: SessionContext;
  /** The system prompt; undefined: that of the context. */
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
  readonly thinking: string | undefined;
  /** Retries of a request without any response: rate limit, overload, no connection. */
  readonly retries: number;
  readonly signal: AbortSignal;
}

/** Delay before the second attempt; it doubles with each one. */
const FIRST_WAIT_MS = 2_000;
/** Maximum delay that a server can request. If it requests a longer one, the next attempt follows after the usual delay. */
const MAX_WAIT_MS = 60_000;

/**
 * Sends a request and returns the reply, also if it is incomplete: its `end` is `error` after a failure of the server or the
 * connection, and `aborted` after an abort. A request that failed before any answer is sent again. Loads the AI SDK at the first call.
 */
export async function askModel(request: ModelRequest, listener: ReplyListener): Promise<Reply> {
  const attempts = request.retries + 1;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await askOnce(request, listener);
    if (attempt >= attempts || reply.content.length > 0 || reply.stopReason !== "error" || !(await canRetry(reply.error))) return reply;
    const { retryAfterMs = MAX_WAIT_MS } = parseFailure(reply.error);
    const waitMs = retryAfterMs < MAX_WAIT_MS ? retryAfterMs : FIRST_WAIT_MS * 2 ** (attempt - 1);
    const retry = { error: reply.error, attempt: attempt + 1, attempts };
    listener.retry({ ...retry, waitMs });
    await sleep(waitMs, undefined, { signal: request.signal });
    listener.retry({ ...retry, waitMs: 0 });
  }
}

/** True if the same request may succeed later: rate limit, overload, no connection. */
async function canRetry(error: unknown): Promise<boolean> {
  const { APICallError } = await import("ai");
  return APICallError.isInstance(error) && error.isRetryable;
}

async function askOnce(request: ModelRequest, listener: ReplyListener): Promise<Reply> {
  const reader = new StepReader();
  const sdk = await import("ai");
  const model = await request.model.languageModel();
  try {
    const { fullStream } = sdk.streamText(buildOptions(request, model, describeTools(request.tools, sdk.jsonSchema)));
    for await (const part of fullStream) {
      reader.take(part);
      if (part.type === "text-delta" && part.text !== "") listener.text(part.text);
      else if (part.type === "reasoning-delta" && part.text !== "") listener.thinking(part.text);
    }
  } catch (error) {
    // A stream throws for the connection or the response only. The content before it is kept.
    reader.fail(error);
  }
  // A complete reply stays complete; an error of the stream is a consequence of the abort.
  if (request.signal.aborted) reader.stop();
  return toReply(reader.read());
}

const UNPARSABLE = "The arguments are not a JSON object. Call again with valid JSON.";

function toReply({ usage, invalidCalls, ...read }: StepRead): Reply {
  // A call of a tool that does not exist has arguments; `runCalls` answers it.
  const unparsable = read.calls.filter((call) => invalidCalls.has(call.id) && "unreadable" in call.arguments);
  return {
    ...read,
    usage: usage !== undefined && Object.keys(usage).length > 0 ? usage : undefined,
    unparsableCalls: new Map(unparsable.map(({ id }) => [id, UNPARSABLE])),
  };
}

/**
 * System prompt, tools and provider options of the request with this context, for a summary that repeats the request: with any
 * other prefix the provider would not find it in its cache. `thinking`: the level for a session without one.
 */
export async function liveOptions(
  { provider }: ChatModel,
  frame: FrameOptions & { readonly thinking: string | undefined },
  context: SessionContext,
): Promise<Pick<StreamOptions, "tools" | "providerOptions"> & { readonly system: string | undefined }> {
  const { jsonSchema } = await import("ai");
  const { system, tools } = buildRequestFrame(frame, context);
  const providerOptions = buildProviderOptions(provider, context.thinkingLevel ?? frame.thinking);
  return { system, ...(tools.length === 0 ? {} : { tools: describeTools(tools, jsonSchema) }), providerOptions };
}

function buildOptions(
  { model, context, system, thinking, signal }: ModelRequest,
  languageModel: LanguageModel,
  tools: ToolSet,
): StreamOptions {
  const prompt = toAiSdk(context);
  return {
    model: languageModel,
    ...prompt,
    ...(system === undefined ? {} : { system }),
    // Copied, because the type of the SDK is a mutable array.
    messages: [...prompt.messages],
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    providerOptions: buildProviderOptions(model.provider, thinking),
    // `askModel` itself retries, because the SDK does not report its retries.
    maxRetries: 0,
    abortSignal: signal,
    // The error is also a part of the stream; the default handler prints it to the console.
    onError: () => undefined,
  };
}

/** The tools without `execute`, so that the SDK does not run them: `runCalls` checks permissions first. */
function describeTools(tools: readonly Tool[], jsonSchema: typeof import("ai").jsonSchema): ToolSet {
  const described = tools.map(({ name, description, inputSchema }) => {
    const schema = jsonSchema({ ...inputSchema, additionalProperties: false });
    return [name, { description, inputSchema: schema }] as const;
  });
  return Object.fromEntries(described);
}

/** Thinking budgets of Claude models, in tokens. */
const THINKING_BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 12_288,
  high: 32_768,
  xhigh: 49_152,
  max: 60_000,
};

type JsonObject = { [key: string]: string | number | JsonObject };

/**
 * The provider options for a thinking level; Anthropic also gets prompt caching. `undefined` and unknown levels, which other
 * programs may have stored, select the default of the model.
 */
function buildProviderOptions(provider: ProviderKind, level: string | undefined): Record<string, JsonObject> {
  if (provider === "anthropic") return { anthropic: { cacheControl: { type: "ephemeral" }, ...anthropicThinking(level) } };
  if (level === undefined || (level !== "off" && !Object.hasOwn(THINKING_BUDGETS, level))) return {};
  // Servers of models without thinking ignore the field or reject the request.
  return { openaiCompatible: { reasoningEffort: level === "off" ? "none" : level } };
}

function anthropicThinking(level: string | undefined): JsonObject {
  const budget = level === undefined || !Object.hasOwn(THINKING_BUDGETS, level) ? undefined : THINKING_BUDGETS[level];
  // For models with adaptive thinking the library sends its own option instead of the budget.
  return budget === undefined ? {} : { thinking: { type: "enabled", budgetTokens: budget } };
}
