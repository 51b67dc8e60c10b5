import type { Usage } from "../entry/message.js";
import { usageOf } from "../entry/usage.js";
import { dollars } from "../text/numbers.js";
import type { Step } from "./group-steps.js";

/** US dollars for a million tokens. A token of the cache without a price of its own costs as much as one of input. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** A price with the names of the models that have it. */
export interface ListedPrice extends Price {
  /** null: a price of the caller. */
  readonly maker: string | null;
  readonly models: readonly string[];
}

/** Tokens of one or several replies of a model, and the cost that was stored with them; `ModelUsage` is one. */
export interface PricedUsage {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** US dollars; 0: none is stored. */
  readonly costUsd: number;
}

/** US dollars: the sum of the stored costs, and of those that are computed from tokens and list prices because none is stored. */
export interface Cost {
  readonly storedUsd: number;
  readonly estimatedUsd: number;
}

// A model that runs on the user's own machine costs nothing, whatever its maker takes for it.
const LOCAL_PROVIDERS = /^(ollama|lm-?studio|llama-?(cpp|file)|vllm|mlx|localai|local)$/i;

/** Suffixes of the name of a model that do not change its price: dates, versions of a host, levels of thinking. */
const SUFFIX =
  /-(latest|preview|exp|thinking|reasoning|non-reasoning|minimal|low|medium|high|xhigh|\d{8}|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|v\d+(-\d+)?|00\d|0)$/;

/**
 * Prices of models: those of the caller, then the table. Names are compared without what hosts add: the path of a router, the region
 * and version of Bedrock, dates, and whether a dot or a hyphen separates the digits of a version.
 *
 * @example
 * new PriceList().find("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"); // { input: 3, output: 15, … }
 * new PriceList({ "my-model": { input: 1, output: 2 } }).cost(usage);
 */
export class PriceList {
  /** The caller's prices first, in the order of the table. */
  readonly rows: readonly ListedPrice[];
  readonly #own = new Map<string, ListedPrice>();
  readonly #table = new Map<string, ListedPrice>();

  /** `own`: prices by the name of a model, or by `PROVIDER/MODEL`. They override the table. */
  constructor(own: Readonly<Record<string, Price>> = {}) {
    const mine = Object.entries(own).map(([name, price]): ListedPrice => ({ ...price, maker: null, models: [name] }));
    const listed = PRICE_TABLE.map(
      ([maker, names, input, output, cacheRead, cacheWrite]): ListedPrice => ({
        maker,
        models: names.split(" "),
        input,
        output,
        cacheRead,
        cacheWrite,
      }),
    );
    for (const row of mine) for (const name of row.models) this.#own.set(name.includes("/") ? name.toLowerCase() : bareName(name), row);
    for (const row of listed) for (const name of row.models) this.#table.set(bareName(name), row);
    this.rows = [...mine, ...listed];
  }

  /** The price of a model; undefined: it is not known, or the model runs on the user's machine. */
  find(provider: string, model: string): ListedPrice | undefined {
    const own = this.#own.get(`${provider}/${model}`.toLowerCase()) ?? this.#own.get(model.toLowerCase());
    if (own !== undefined) return own;
    if (model === "" || model.endsWith(":free")) return undefined;
    const isLocal = LOCAL_PROVIDERS.test(provider);
    for (const name of namesOf(bareName(model))) {
      const found = this.#own.get(name) ?? (isLocal ? undefined : this.#table.get(name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * The cost of replies of one model: the stored one, or else an estimate; null if there is neither. A stored cost of 0 counts as none:
   * agents write it for models whose price they do not know, and for subscriptions.
   */
  cost(used: PricedUsage): Cost | null {
    if (used.costUsd > 0) return { storedUsd: used.costUsd, estimatedUsd: 0 };
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = used;
    if (inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0) return null;
    const price = this.find(used.provider, used.model);
    if (price === undefined) return null;
    const { input, output, cacheRead = input, cacheWrite = input } = price;
    const millionths = inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite;
    return { storedUsd: 0, estimatedUsd: millionths / 1e6 };
  }

  /** The cost of one reply or summary. */
  costOfUsage(usage: Usage, provider: string, model: string): Cost | null {
    return this.cost({
      provider,
      model,
      inputTokens: usage.input ?? 0,
      outputTokens: usage.output ?? 0,
      cacheReadTokens: usage.cacheRead ?? 0,
      cacheWriteTokens: usage.cacheWrite ?? 0,
      costUsd: usage.cost?.total ?? 0,
    });
  }

  /** The cost of the reply or the summary that a step of a conversation is; null: it is neither, or its cost is not known. */
  costOfStep(step: Step): Cost | null {
    const used = step.kind === "reply" ? usageOf({ type: "message", message: step.message }) : usageOf(step.entry);
    return used === undefined ? null : this.costOfUsage(used.usage, used.provider, used.model);
  }

  /** The sum of the costs that are known; null if none is. */
  total(usage: readonly PricedUsage[]): Cost | null {
    return sumCosts(usage.map((one) => this.cost(one)));
  }
}

/** The sum of the costs that are known; null if none is. */
export function sumCosts(costs: readonly (Cost | null)[]): Cost | null {
  return costs.reduce((sum, cost) => {
    if (sum === null || cost === null) return sum ?? cost;
    return { storedUsd: sum.storedUsd + cost.storedUsd, estimatedUsd: sum.estimatedUsd + cost.estimatedUsd };
  }, null);
}

/** A cost in words: `$1.2345`, or `~$1.20` if a part of it is estimated; `<$0.0001` if it is less and not nothing. */
export function costText({ storedUsd, estimatedUsd }: Cost): string {
  const usd = storedUsd + estimatedUsd;
  if (usd > 0 && usd < 0.00005) return "<$0.0001";
  if (estimatedUsd === 0) return dollars(usd);
  return `~$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** A sentence about the cost of the replies in a document. */
export function costLine(cost: Cost): string {
  const estimated = cost.estimatedUsd > 0 ? ", estimated from list prices" : "";
  return `The replies above cost ${costText(cost)}${estimated}.`;
}

/** The name of a model without the path of a router, the prefix of Bedrock and marks of a context window. */
function bareName(model: string): string {
  const [last = ""] = model.toLowerCase().split("/").slice(-1);
  return last
    .replace(/^(?:[a-z]+\.)?(?:anthropic|openai|deepseek|mistral|moonshot|minimax|zai)\./, "")
    .replace(/^([^[]*)\[.*\]$/, "$1")
    .trim()
    .replace(/[._@:\s]+/g, "-");
}

/** The names of a model in the table: its own, then without one suffix after the other. Claude's versions stand before or after its family. */
function* namesOf(name: string): Generator<string> {
  for (let rest = name; ; rest = rest.replace(SUFFIX, "")) {
    yield rest;
    yield rest.replace(/^claude-(\d+(?:-\d+)?)-([a-z]+)$/, "claude-$2-$1").replace(/^claude-([a-z]+)-(3-\d)$/, "claude-$2-$1");
    if (!SUFFIX.test(rest)) return;
  }
}

/** The day on which the prices of the table were public. */
export const PRICES_DATE = "2026-09-23";

/** The public list that the table was taken from. */
export const PRICES_SOURCE = "genai-prices 0.1.8 (github.com/pydantic/genai-prices, MIT)";

/**
 * A maker, the names of models with one price, and US dollars for a million tokens: of input, of output, read from the cache, written to
 * the cache. Without a price of its own, a token of the cache costs as much as one of input.
 */
type PriceRow = readonly [
  maker: string,
  names: string,
  input: number,
  output: number,
  cacheRead?: number | undefined,
  cacheWrite?: number | undefined,
];

// The lowest tier of each list: prompts above 200,000 or 272,000 tokens cost more with some models, and totals of a session do not tell
// which request was that long. Prices of DeepSeek outside of its hours of high demand; cache writes that last five minutes.
/** Prices of models at their makers, as of PRICES_DATE. */
const PRICE_TABLE: readonly PriceRow[] = [
  // Anthropic: https://www.anthropic.com/pricing#api
  ["Anthropic", "claude-opus-5-5", 4, 20, 0.2, 5],
  ["Anthropic", "claude-opus-5", 5, 25, 0.5, 6.25],
  ["Anthropic", "claude-opus-4-8", 5, 25, 0.5, 6.25],
  ["Anthropic", "claude-opus-4-7", 5, 25, 0.5, 6.25],
  ["Anthropic", "claude-opus-4-6", 5, 25, 0.5, 6.25],
  ["Anthropic", "claude-opus-4-5", 5, 25, 0.5, 6.25],
  ["Anthropic", "claude-opus-4-1", 15, 75, 1.5, 18.75],
  ["Anthropic", "claude-opus-4", 15, 75, 1.5, 18.75],
  ["Anthropic", "claude-fable-5-1", 10, 50, 0.25, 12.5],
  ["Anthropic", "claude-fable-5", 10, 50, 1, 12.5],
  ["Anthropic", "claude-sonnet-5", 2, 10, 0.2, 2.5],
  ["Anthropic", "claude-sonnet-4-6", 3, 15, 0.3, 3.75],
  ["Anthropic", "claude-sonnet-4-5", 3, 15, 0.3, 3.75],
  ["Anthropic", "claude-sonnet-4", 3, 15, 0.3, 3.75],
  ["Anthropic", "claude-3-7-sonnet", 3, 15, 0.3, 3.75],
  ["Anthropic", "claude-3-5-sonnet", 3, 15, 0.3, 3.75],
  ["Anthropic", "claude-haiku-4-5", 1, 5, 0.1, 1.25],
  ["Anthropic", "claude-3-5-haiku", 0.8, 4, 0.08, 1],
  ["Anthropic", "claude-3-opus", 15, 75, 1.5, 18.75],
  ["Anthropic", "claude-3-haiku", 0.25, 1.25, 0.03, 0.3],
  // OpenAI: https://developers.openai.com/api/docs/pricing
  ["OpenAI", "gpt-6-astra", 10, 50, 1, 12.5],
  ["OpenAI", "gpt-6-sol", 2, 10, 0.2, 2.5],
  ["OpenAI", "gpt-6-luna", 0.1, 0.5, 0.01, 0.125],
  ["OpenAI", "gpt-5.6-sol gpt-5.6", 4, 20, 0.4, 5],
  ["OpenAI", "gpt-5.6-terra", 2, 12, 0.2, 2.5],
  ["OpenAI", "gpt-5.6-luna", 0.2, 1.2, 0.02, 0.25],
  ["OpenAI", "gpt-5.5 gpt-5.5-codex gpt-5.5-chat", 5, 30, 0.5],
  ["OpenAI", "gpt-5.5-pro", 30, 180],
  ["OpenAI", "gpt-5.4", 2.5, 15, 0.25],
  ["OpenAI", "gpt-5.4-mini", 0.75, 4.5, 0.075],
  ["OpenAI", "gpt-5.4-nano", 0.2, 1.25, 0.02],
  ["OpenAI", "gpt-5.4-pro", 30, 180],
  ["OpenAI", "gpt-5.3 gpt-5.3-codex gpt-5.3-chat", 1.75, 14, 0.175],
  ["OpenAI", "gpt-5.2 gpt-5.2-codex gpt-5.2-chat", 1.75, 14, 0.175],
  ["OpenAI", "gpt-5.2-pro", 21, 168],
  ["OpenAI", "gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-chat", 1.25, 10, 0.125],
  ["OpenAI", "gpt-5.1-codex-mini gpt-5.1-mini", 0.25, 2, 0.025],
  ["OpenAI", "gpt-5 gpt-5-codex gpt-5-chat", 1.25, 10, 0.125],
  ["OpenAI", "gpt-5-mini", 0.25, 2, 0.025],
  ["OpenAI", "gpt-5-nano", 0.05, 0.4, 0.005],
  ["OpenAI", "gpt-5-pro", 15, 120],
  ["OpenAI", "gpt-4.1", 2, 8, 0.5],
  ["OpenAI", "gpt-4.1-mini", 0.4, 1.6, 0.1],
  ["OpenAI", "gpt-4.1-nano", 0.1, 0.4, 0.025],
  ["OpenAI", "gpt-4o", 2.5, 10, 1.25],
  ["OpenAI", "gpt-4o-mini", 0.15, 0.6, 0.075],
  ["OpenAI", "codex-mini", 1.5, 6, 0.375],
  ["OpenAI", "o4-mini", 1.1, 4.4, 0.275],
  ["OpenAI", "o3", 2, 8, 0.5],
  ["OpenAI", "o3-mini", 1.1, 4.4, 0.55],
  ["OpenAI", "o3-pro", 20, 80],
  ["OpenAI", "o1 o1-preview", 15, 60, 7.5],
  ["OpenAI", "o1-mini", 1.1, 4.4, 0.55],
  // Google: https://ai.google.dev/gemini-api/docs/pricing
  ["Google", "gemini-3.8-flash", 1.5, 7.5, 0.15],
  ["Google", "gemini-3.7-flash", 1.5, 7.5, 0.15],
  ["Google", "gemini-3.6-flash", 1.5, 7.5, 0.15],
  ["Google", "gemini-3.5-flash", 1.5, 9, 0.15],
  ["Google", "gemini-3.5-flash-lite", 0.3, 2.5, 0.03],
  ["Google", "gemini-3.1-pro", 2, 12, 0.2],
  ["Google", "gemini-3.1-flash-lite", 0.25, 1.5, 0.025],
  ["Google", "gemini-3-pro", 2, 12, 0.2],
  ["Google", "gemini-3-flash", 0.5, 3, 0.05],
  ["Google", "gemini-2.5-pro", 1.25, 10, 0.125],
  ["Google", "gemini-2.5-flash", 0.3, 2.5, 0.03],
  ["Google", "gemini-2.5-flash-lite", 0.1, 0.4, 0.01],
  ["Google", "gemini-2.0-flash", 0.1, 0.4, 0.025],
  ["Google", "gemini-2.0-flash-lite", 0.075, 0.3],
  // xAI: https://docs.x.ai/docs/models
  ["xAI", "grok-4.6", 2, 6, 0.5],
  ["xAI", "grok-4.5", 2, 6, 0.3],
  ["xAI", "grok-4.3", 1.25, 2.5, 0.2],
  ["xAI", "grok-4.20", 1.25, 2.5, 0.2],
  ["xAI", "grok-4.1-fast", 0.2, 0.5, 0.05],
  ["xAI", "grok-4-fast", 0.2, 0.5, 0.05],
  ["xAI", "grok-4 grok-4-0709", 3, 15, 0.75],
  ["xAI", "grok-code-fast-1 grok-code-fast", 0.2, 1.5, 0.02],
  ["xAI", "grok-3", 3, 15, 0.75],
  ["xAI", "grok-3-mini", 0.3, 0.5, 0.075],
  // DeepSeek: https://api-docs.deepseek.com/quick_start/pricing
  ["DeepSeek", "deepseek-v4-pro", 0.66, 1.98, 0.022],
  ["DeepSeek", "deepseek-v4-flash", 0.22, 0.66, 0.007],
  // Mistral: https://mistral.ai/pricing/api
  ["Mistral", "mistral-large-2512", 0.5, 1.5, 0.05],
  ["Mistral", "mistral-medium-3.5", 1.5, 7.5, 0.15],
  ["Mistral", "mistral-medium-2508 mistral-medium-2505", 0.4, 2, 0.04],
  ["Mistral", "devstral-2512", 0.4, 2, 0.04],
  ["Mistral", "devstral-small", 0.1, 0.3],
  ["Mistral", "codestral-2508 codestral", 0.3, 0.9, 0.03],
  ["Mistral", "magistral-medium", 2, 5],
  // Moonshot AI: https://platform.kimi.ai/docs/models.md
  ["Moonshot AI", "kimi-k3", 3, 15, 0.3],
  ["Moonshot AI", "kimi-k2.7-code", 0.95, 4, 0.19],
  ["Moonshot AI", "kimi-k2.6", 0.95, 4, 0.16],
  ["Moonshot AI", "kimi-k2.5", 0.6, 3, 0.1],
  ["Moonshot AI", "kimi-k2 kimi-k2-0905 kimi-k2-0711 kimi-k2-thinking", 0.6, 2.5, 0.15],
  ["Moonshot AI", "kimi-k2-turbo kimi-k2-thinking-turbo", 1.15, 8, 0.15],
  // Z.ai: https://docs.z.ai/guides/overview/pricing
  ["Z.ai", "glm-5.3", 1.4, 4.4, 0.26],
  ["Z.ai", "glm-5.2", 1.4, 4.4, 0.26],
  ["Z.ai", "glm-5.3-flash", 0.075, 0.25, 0.015],
  // MiniMax: https://platform.minimax.io/docs/guides/pricing-paygo
  ["MiniMax", "minimax-m3", 0.3, 1.2, 0.06],
  ["MiniMax", "minimax-m2.7", 0.3, 1.2, 0.06, 0.375],
  ["MiniMax", "minimax-m2 minimax-m2.1 minimax-m2.5", 0.3, 1.2, 0.03, 0.375],
];
