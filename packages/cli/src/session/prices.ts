import type { ModelUsage } from "@bough/session-core";
import { type Cost, costText, PriceList, sumCosts } from "@bough/session-core/view";
import { loadConfig } from "../config/config-file.js";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";

/** The price list: the setting `prices`, then the table. A config file that cannot be read does not stop a command that shows costs. */
export async function readPrices(io: Pick<Io, "env" | "home">): Promise<PriceList> {
  try {
    return new PriceList((await loadConfig(io)).prices);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return new PriceList();
  }
}

/** The members of `--json` for a cost: the stored part, and the estimate for replies that have none. null: there is none. */
export function costJson(cost: Cost | null): { readonly costUsd: number | null; readonly estimatedCostUsd: number | null } {
  if (cost === null) return { costUsd: null, estimatedCostUsd: null };
  const { storedUsd, estimatedUsd } = cost;
  return { costUsd: storedUsd > 0 ? storedUsd : null, estimatedCostUsd: estimatedUsd > 0 ? estimatedUsd : null };
}

/** All of a cost, in US dollars; 0 if there is none. */
export function usdOf(cost: Cost | null): number {
  return cost === null ? 0 : cost.storedUsd + cost.estimatedUsd;
}

/** A cost in a table; a dash where none is known, which does not mean that the model is free. */
export function costCell(cost: Cost | null): string {
  return cost === null ? "–" : costText(cost);
}

/** Adds up the usage of several sessions by model. The cost of each part is computed first: only some of them may have a stored one. */
export class UsageByModel {
  readonly #prices: PriceList;
  readonly #sums = new Map<string, { usage: ModelUsage; cost: Cost | null }>();

  constructor(prices: PriceList) {
    this.#prices = prices;
  }

  add(used: ModelUsage): void {
    const key = JSON.stringify([used.provider, used.model]);
    const cost = this.#prices.cost(used);
    const before = this.#sums.get(key);
    this.#sums.set(
      key,
      before === undefined ? { usage: used, cost } : { usage: addUsage(before.usage, used), cost: sumCosts([before.cost, cost]) },
    );
  }

  /** The most expensive model first. */
  list(): readonly { readonly usage: ModelUsage; readonly cost: Cost | null }[] {
    return [...this.#sums.values()].sort((a, b) => usdOf(b.cost) - usdOf(a.cost) || b.usage.outputTokens - a.usage.outputTokens);
  }
}

function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    provider: a.provider,
    model: a.model,
    replies: a.replies + b.replies,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUsd: a.costUsd + b.costUsd,
    recordedReplies: a.recordedReplies + b.recordedReplies,
  };
}
