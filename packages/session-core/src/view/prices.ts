import type { Usage } from "../entry/message.js";
import { usageOf } from "../entry/reply-usage.js";
import { dollars } from "../text/numbers.js";
import { PRICE_TABLE } from "./price-table.js";
import type { Step } from "./step.js";

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

/** A cost in words: `$1.2345`, or `~$1.20` if a part of it is estimated. */
export function costText({ storedUsd, estimatedUsd }: Cost): string {
  if (estimatedUsd === 0) return dollars(storedUsd);
  const usd = storedUsd + estimatedUsd;
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
    .replace(/\[.*\]$/, "")
    .trim()
    .replace(/[._@:\s]+/g, "-");
}

/** The names under which a model may be in the table: its own, then without one suffix after the other. Claude's versions stand before or after its family. */
function* namesOf(name: string): Generator<string> {
  for (let rest = name; ; rest = rest.replace(SUFFIX, "")) {
    yield rest;
    yield rest.replace(/^claude-(\d+(?:-\d+)?)-([a-z]+)$/, "claude-$2-$1").replace(/^claude-([a-z]+)-(3-\d)$/, "claude-$2-$1");
    if (!SUFFIX.test(rest)) return;
  }
}
