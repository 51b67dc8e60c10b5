import { InvalidEntryError } from "../errors/session-errors.js";
import type { EntryPayload, PayloadOf } from "./entry.js";
import { isObject, type JsonObject } from "./json.js";
import { isSummary } from "./kinds.js";
import type { Message, Usage } from "./message.js";

/** Where a shape has its counts; a path may have several steps. The first path with a count wins. */
interface UsageShape {
  /** The members by which the shape is recognized; one is enough. */
  readonly marks: readonly string[];
  /** Tokens of the whole prompt, those of the cache included. */
  readonly prompt?: readonly string[];
  /** Tokens of the prompt without those of the cache. */
  readonly input?: readonly string[];
  /** Tokens of the reply; several counts are added. */
  readonly output: readonly string[];
  readonly cacheRead: readonly string[];
  readonly cacheWrite: readonly string[];
  readonly total: readonly string[];
  /** Tokens of thinking, which are a part of the output. */
  readonly reasoning: readonly string[];
}

// The first shape with a mark in the usage is read. Anthropic's and the Responses API both have `input_tokens`: with Anthropic the
// tokens of the cache come on top, with OpenAI they are included.
const SHAPES: readonly UsageShape[] = [
  {
    // Anthropic, and its Agent SDK's and Amazon's form in camel case
    marks: ["cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheCreationInputTokens"],
    input: ["input_tokens", "inputTokens"],
    output: ["output_tokens", "outputTokens"],
    cacheRead: ["cache_read_input_tokens", "cacheReadInputTokens"],
    cacheWrite: ["cache_creation_input_tokens", "cacheCreationInputTokens", "cacheWriteInputTokens"],
    total: ["totalTokens"],
    reasoning: [],
  },
  {
    // AI SDK 5 to 7: results, and the nested form of its providers; the OpenAI Agents SDK
    marks: ["inputTokens", "outputTokens"],
    input: ["inputTokenDetails.noCacheTokens", "inputTokens.noCache"],
    prompt: ["inputTokens", "inputTokens.total"],
    output: ["outputTokens", "outputTokens.total"],
    cacheRead: [
      "inputTokenDetails.cacheReadTokens",
      "inputTokens.cacheRead",
      "cachedInputTokens",
      "inputTokensDetails.cached_tokens",
      "inputTokensDetails.0.cached_tokens",
    ],
    cacheWrite: ["inputTokenDetails.cacheWriteTokens", "inputTokens.cacheWrite"],
    total: ["totalTokens"],
    reasoning: [
      "outputTokenDetails.reasoningTokens",
      "outputTokens.reasoning",
      "reasoningTokens",
      "outputTokensDetails.reasoning_tokens",
      "outputTokensDetails.0.reasoning_tokens",
    ],
  },
  {
    // OpenAI chat completions and the many servers of this format; AI SDK 4
    marks: ["prompt_tokens", "completion_tokens", "promptTokens", "completionTokens"],
    prompt: ["prompt_tokens", "promptTokens"],
    output: ["completion_tokens", "completionTokens"],
    cacheRead: ["prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"],
    cacheWrite: ["prompt_tokens_details.cache_write_tokens"],
    total: ["total_tokens", "totalTokens"],
    reasoning: ["completion_tokens_details.reasoning_tokens"],
  },
  {
    // OpenAI responses; LangChain's `usage_metadata`; Anthropic without a cache
    marks: ["input_tokens", "output_tokens"],
    prompt: ["input_tokens"],
    output: ["output_tokens"],
    cacheRead: ["input_tokens_details.cached_tokens", "input_token_details.cache_read"],
    cacheWrite: ["input_tokens_details.cache_write_tokens", "input_token_details.cache_creation"],
    total: ["total_tokens"],
    reasoning: ["output_tokens_details.reasoning_tokens", "output_token_details.reasoning"],
  },
];

// Google's counts are sums of their parts, which no other shape has.
const GOOGLE_MARKS = ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"];
const OWN_MARKS = ["input", "output", "cacheRead", "cacheWrite"];

/**
 * The usage that a provider or a framework reported, with the names of Bough: `input` without the tokens of the cache, `output`
 * with those of thinking, `cacheRead`, `cacheWrite`, `totalTokens`, `cost`, and `reasoning`, the part of `output` that was thinking.
 *
 * Of an Anthropic reply with several calls (`iterations`), compactions are added, and `contextTokens` is the prompt of the last call.
 *
 * Takes a usage of Bough (returned unchanged) and those of the AI SDK (4 to 7), OpenAI (chat completions, Responses, Agents SDK),
 * Anthropic, Google (`usageMetadata`) and LangChain (`usage_metadata`). Other members of a foreign usage are left out; an object
 * without numbers gives `{}`. Constant time.
 *
 * @throws {InvalidEntryError} no name of a count is known, although it has numbers: it would count as nothing.
 * @example
 * normalizeUsage({ prompt_tokens: 900, completion_tokens: 40, prompt_tokens_details: { cached_tokens: 800 } });
 * // { input: 100, output: 40, cacheRead: 800 }
 */
export function normalizeUsage(usage: object): Usage {
  return toOwnUsage(usage, "usage");
}

/** `normalizeUsage`; `at` is the path of the usage in its entry, for the error. */
export function toOwnUsage(usage: unknown, at: string): Usage {
  if (!isObject(usage)) throw new InvalidEntryError(at, "must be an object of token counts");
  if (OWN_MARKS.some((name) => usage[name] !== undefined)) return usage;
  const read = readCounts(usage);
  const counts = read && addIterations(read, usage);
  if (counts === undefined) {
    if (!hasUncounted(usage)) return usage;
    throw new InvalidEntryError(at, `none of its counts is known (${namesOf(usage)}), so it would count as nothing; ${ACCEPTED}`);
  }
  const cost = countAt(usage, "cost") ?? countAt(usage, "costUSD");
  return withoutMissing(cost === undefined ? counts : { ...counts, cost: { total: cost } });
}

const ACCEPTED =
  "give { input, output, cacheRead, cacheWrite }, or the usage of the AI SDK (inputTokens), OpenAI (prompt_tokens or input_tokens), Anthropic (input_tokens) or Google (promptTokenCount) as it is";

/**
 * An entry to append with the usage of its reply or summary in the names of Bough; the entry itself if it has none, or has these
 * names already. The gate validates the result.
 *
 * @throws {InvalidEntryError} as `normalizeUsage`.
 */
export function normalizeUsageOf(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { message, usage } = entry;
  if (isObject(message) && isObject(message["usage"])) {
    const own = toOwnUsage(message["usage"], "message.usage");
    return own === message["usage"] ? entry : { ...entry, message: { ...message, usage: own } };
  }
  if (!isObject(usage)) return entry;
  const own = toOwnUsage(usage, "usage");
  return own === usage ? entry : { ...entry, usage: own };
}

/** The calls that Anthropic reports behind one reply, each with a `type` and a usage of its own; empty: there was one. */
export function listIterations(usage: JsonObject | undefined): readonly JsonObject[] {
  const iterations = usage?.["iterations"];
  return Array.isArray(iterations) ? iterations.filter(isObject) : [];
}

/**
 * Adds the tokens of compactions, which the counts of a reply leave out. `contextTokens` is the prompt of the last call of several: the
 * counts of the reply are sums, and not the size of a context.
 */
function addIterations(counts: Usage, usage: JsonObject): Usage {
  const iterations = listIterations(usage);
  const compactions = iterations.filter(({ type }) => type === "compaction").map(readCounts);
  if (compactions.length === 0 && iterations.length < 2) return counts;
  const total = (name: "input" | "output" | "cacheRead" | "cacheWrite") =>
    compactions.reduce<number | undefined>((so, one) => sum(so, one?.[name]), counts[name]);
  const last = iterations.findLast(({ type }) => type === "message");
  const contextTokens = iterations.length < 2 || last === undefined ? undefined : promptOf(readCounts(last));
  const summed = { input: total("input"), output: total("output"), cacheRead: total("cacheRead"), cacheWrite: total("cacheWrite") };
  return { ...counts, ...summed, ...(contextTokens === undefined ? {} : { contextTokens }) };
}

function promptOf(counts: Counts | undefined): number | undefined {
  return sum(sum(counts?.input, counts?.cacheRead), counts?.cacheWrite);
}

type Counts = Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite" | "totalTokens" | "reasoning", number | undefined>>;

function readCounts(usage: JsonObject): Counts | undefined {
  if (hasOneOf(usage, GOOGLE_MARKS)) return readGoogle(usage);
  const shape = SHAPES.find(({ marks }) => hasOneOf(usage, marks));
  if (shape === undefined) return undefined;
  const [cacheRead, cacheWrite] = [firstCount(usage, shape.cacheRead), firstCount(usage, shape.cacheWrite)];
  const uncached = firstCount(usage, shape.input ?? []) ?? withoutCache(firstCount(usage, shape.prompt ?? []), cacheRead, cacheWrite);
  return {
    input: uncached,
    output: firstCount(usage, shape.output),
    cacheRead,
    cacheWrite,
    totalTokens: firstCount(usage, shape.total),
    reasoning: firstCount(usage, shape.reasoning),
  };
}

// A prompt that is smaller than the tokens of the cache was counted without them: AI SDK 5 with Anthropic.
function withoutCache(prompt: number | undefined, cacheRead = 0, cacheWrite = 0): number | undefined {
  if (prompt === undefined) return undefined;
  const cached = cacheRead + cacheWrite;
  return cached > prompt ? prompt : prompt - cached;
}

function readGoogle(usage: JsonObject): Counts {
  const cacheRead = countAt(usage, "cachedContentTokenCount");
  const reasoning = countAt(usage, "thoughtsTokenCount");
  return {
    input: sum(withoutCache(countAt(usage, "promptTokenCount"), cacheRead), countAt(usage, "toolUsePromptTokenCount")),
    output: sum(countAt(usage, "candidatesTokenCount"), reasoning),
    cacheRead,
    cacheWrite: undefined,
    totalTokens: countAt(usage, "totalTokenCount"),
    reasoning,
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

function hasOneOf(usage: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => name in usage);
}

function firstCount(usage: JsonObject, paths: readonly string[]): number | undefined {
  for (const path of paths) {
    const count = countAt(usage, path);
    if (count !== undefined) return count;
  }
  return undefined;
}

function countAt(usage: JsonObject, path: string): number | undefined {
  let value: unknown = usage;
  // Most paths are one step, and many are looked up for each reply of an import.
  if (!path.includes(".")) value = usage[path];
  else for (const name of path.split(".")) value = isObject(value) || Array.isArray(value) ? Reflect.get(value, name) : undefined;
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function withoutMissing(usage: Readonly<Record<string, unknown>>): Usage {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(usage)) if (usage[name] !== undefined) given[name] = usage[name];
  return given;
}

// `totalTokens` and `cost` alone are a usage too.
function hasUncounted(usage: JsonObject): boolean {
  return usage["totalTokens"] === undefined && usage["cost"] === undefined && Object.values(usage).some(hasNumber);
}

function hasNumber(value: unknown): boolean {
  if (typeof value === "number") return value > 0;
  return isObject(value) && Object.values(value).some((member) => typeof member === "number" && member > 0);
}

function namesOf(usage: JsonObject): string {
  return Object.keys(usage).slice(0, 5).join(", ");
}

/** The usage of one model call, and the model that it is counted for. */
export interface ReplyUsage {
  readonly provider: string;
  readonly model: string;
  readonly replies: number;
  readonly usage: Usage;
}

/** The usage that an entry adds to the totals: of a reply, or of the model call that wrote a summary; otherwise undefined. */
export function usageOf(payload: EntryPayload): ReplyUsage | undefined {
  if (payload.type === "message") return messageUsage(payload.message);
  return isSummary(payload) ? summaryUsage(payload) : undefined;
}

/** True if a usage contains any figure. The usage of a reply that recorded none is empty, which differs from 0. */
export function isRecorded({ input, output, cacheRead, cacheWrite, cost }: Usage): boolean {
  return [input, output, cacheRead, cacheWrite, cost?.total].some((figure) => figure !== undefined);
}

/** The model name under which summaries without a model are counted. */
const SUMMARIES = "(summaries)";

/** The usage of the model call that wrote a summary. Hosts may store its model in members of their own. */
function summaryUsage(payload: PayloadOf<"compaction" | "branch_summary">): ReplyUsage | undefined {
  const { usage, provider, model } = payload;
  if (usage === undefined) return undefined;
  return { provider: textOrDefault(provider, ""), model: textOrDefault(model, SUMMARIES), replies: 1, usage };
}

function textOrDefault(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value : fallback;
}

function messageUsage(message: Message): ReplyUsage | undefined {
  if (message.role !== "assistant") return undefined;
  // A reply without usage still counts as a reply of its model.
  if (message.usage === undefined && message.model === undefined) return undefined;
  return { provider: message.provider ?? "", model: message.model ?? "", replies: 1, usage: message.usage ?? {} };
}

/** The increments of a model's usage by new entries. */
export interface AddedUsage {
  provider: string;
  model: string;
  replies: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
  recorded_replies: number;
}

/** Sums of usage, one for each model. */
export class UsageSums {
  readonly #sums = new Map<string, AddedUsage>();

  add(used: ReplyUsage): void {
    const added = addedUsage(used);
    const key = `${added.provider}\n${added.model}`;
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, added);
    else addToUsage(sum, added);
  }

  list(): readonly AddedUsage[] {
    return [...this.#sums.values()];
  }
}

function addToUsage(sum: AddedUsage, added: AddedUsage): void {
  sum.replies += added.replies;
  sum.input_tokens += added.input_tokens;
  sum.output_tokens += added.output_tokens;
  sum.cache_read_tokens += added.cache_read_tokens;
  sum.cache_write_tokens += added.cache_write_tokens;
  sum.cost_usd += added.cost_usd;
  sum.recorded_replies += added.recorded_replies;
}

/** More of it is counted as so much: no sum of replies reaches the largest number, which a server refuses to exceed. */
const MOST_OF_A_REPLY = 1e300;

function addedUsage({ usage, provider, model, replies }: ReplyUsage): AddedUsage {
  return {
    provider,
    model,
    replies,
    input_tokens: Math.min(usage.input ?? 0, MOST_OF_A_REPLY),
    output_tokens: Math.min(usage.output ?? 0, MOST_OF_A_REPLY),
    cache_read_tokens: Math.min(usage.cacheRead ?? 0, MOST_OF_A_REPLY),
    cache_write_tokens: Math.min(usage.cacheWrite ?? 0, MOST_OF_A_REPLY),
    cost_usd: Math.min(usage.cost?.total ?? 0, MOST_OF_A_REPLY),
    recorded_replies: isRecorded(usage) ? replies : 0,
  };
}
