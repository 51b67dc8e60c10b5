import { type Cost, costText, PriceList } from "@bough/session-core/view";
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
