import { type SessionContext, toAiSdk } from "@bough/session-core";
import type { LanguageModel, streamText, ToolSet } from "ai";
import type { ProviderKind } from "../config/schema.js";
import type { ChatModel } from "./chat-model.js";
import { type Reply, ReplyBuilder, type ReplyListener } from "./reply.js";
import type { Tool } from "./tools/tool.js";

type StreamOptions = Parameters<typeof streamText>[0];

/** One request to a model. */
export interface ModelRequest {
  readonly model: ChatModel;
  readonly context: SessionContext;
  /** In place of the context's own; undefined: that one. */
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
  readonly thinking: string | undefined;
  /** How often a request that was not answered at all is sent again: rate limits, overload, no connection. */
  readonly retries: number;
  readonly signal: AbortSignal;
}

/**
 * Asks once and gives what came, however it ended: `end` of the reply is `error` for everything that went wrong outside of
 * this program, and `aborted` when the signal was. Loads the AI SDK at the first call.
 */
export async function askModel(request: ModelRequest, listener: ReplyListener): Promise<Reply> {
  const builder = new ReplyBuilder(listener);
  const sdk = await import("ai");
  // Its warnings would go to the console, into the middle of the screen.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const model = await request.model.languageModel();
  try {
    const { fullStream } = sdk.streamText(buildOptions(request, model, describeTools(request.tools, sdk.jsonSchema)));
    for await (const part of fullStream) builder.take(part);
  } catch (error) {
    // Whatever a stream throws is about the connection or the answer; what came before it is kept.
    builder.fail(error);
  }
  if (request.signal.aborted) builder.stop();
  return builder.reply();
}

function buildOptions(
  { model, context, system, thinking, retries, signal }: ModelRequest,
  languageModel: LanguageModel,
  tools: ToolSet,
): StreamOptions {
  const prompt = toAiSdk(context);
  return {
    model: languageModel,
    ...prompt,
    ...(system === undefined ? {} : { system }),
    // A structural type of ours; readonly arrays are all that differs.
    messages: [...prompt.messages],
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    providerOptions: buildProviderOptions(model.provider, thinking),
    maxRetries: retries,
    abortSignal: signal,
    // The failure comes as a part of the stream; the default writes it to the console.
    onError: () => undefined,
  };
}

/** The tools without a way to run them: what runs, and whether, is decided here and not in the library. */
function describeTools(tools: readonly Tool[], jsonSchema: typeof import("ai").jsonSchema): ToolSet {
  const described = tools.map(({ name, description, inputSchema }) => {
    const { properties, required } = inputSchema;
    const schema = jsonSchema({ type: "object", properties: { ...properties }, required: [...required], additionalProperties: false });
    return [name, { description, inputSchema: schema }] as const;
  });
  return Object.fromEntries(described);
}

/** Tokens that Claude models of the kind that takes a budget may think. */
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
 * What a provider is told for a level of thinking, and that Anthropic shall cache the beginning of the request. undefined
 * or a level that is not known (other programs have their own): the model's default.
 */
function buildProviderOptions(provider: ProviderKind, level: string | undefined): Record<string, JsonObject> {
  if (provider === "anthropic") return { anthropic: { cacheControl: { type: "ephemeral" }, ...anthropicThinking(level) } };
  if (level === undefined || (level !== "off" && !Object.hasOwn(THINKING_BUDGETS, level))) return {};
  // Servers of models that cannot think ignore the field, or refuse it; then the person sets no level.
  return { openaiCompatible: { reasoningEffort: level === "off" ? "none" : level } };
}

function anthropicThinking(level: string | undefined): JsonObject {
  const budget = level === undefined || !Object.hasOwn(THINKING_BUDGETS, level) ? undefined : THINKING_BUDGETS[level];
  // Models that choose their budget themselves get that from the library instead.
  return budget === undefined ? {} : { thinking: { type: "enabled", budgetTokens: budget } };
}
