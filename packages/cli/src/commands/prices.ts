import { type ListedPrice, PRICES_DATE, PRICES_SOURCE, PriceList } from "@bough/session-core/view";
import { loadConfig } from "../config/config-file.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { styled } from "../terminal/line.js";
import type { Command } from "./command.js";

/** `bough prices`: prints the prices by which costs are estimated. */
export const runPrices: Command = async ({ io, out, args: [name], options }) => {
  const prices = new PriceList((await loadConfig(io)).prices);
  const rows = choosePrices(prices, name);
  if (options.json === true) return out.json({ date: PRICES_DATE, source: PRICES_SOURCE, prices: rows.map(toJson) });
  if (rows.length === 0) {
    const model = name ?? "";
    return out.line(`No price of ${model} is known. Add it to the setting prices: { "${model}": { "input": 1, "output": 5 } }.`);
  }
  await printTable(out, COLUMNS, rows);
  out.line(styled("dim", `US dollars for a million tokens, as of ${PRICES_DATE}, from ${PRICES_SOURCE}. Estimated costs begin with ~.`));
};

/** The rows with a word in a name, or else the price that a model of this name gets. */
function choosePrices(prices: PriceList, name: string | undefined): readonly ListedPrice[] {
  if (name === undefined) return prices.rows;
  const word = name.toLowerCase();
  const matching = prices.rows.filter(({ models, maker }) => [...models, maker ?? ""].some((text) => text.toLowerCase().includes(word)));
  if (matching.length > 0) return matching;
  const [provider = "", ...model] = name.split("/");
  const found = prices.find(model.length === 0 ? "" : provider, model.length === 0 ? name : model.join("/"));
  return found === undefined ? [] : [found];
}

function toJson({ maker, models, input, output, cacheRead = input, cacheWrite = input }: ListedPrice) {
  return { maker, models, input, output, cacheRead, cacheWrite };
}

const COLUMNS: readonly ItemColumn<ListedPrice>[] = [
  { heading: "model", shrinksTo: 16, cell: ({ models }) => [models.join(", ")] },
  { heading: "in", align: "right", cell: ({ input }) => [String(input)] },
  { heading: "out", align: "right", cell: ({ output }) => [String(output)] },
  { heading: "from cache", optional: true, align: "right", cell: ({ input, cacheRead = input }) => [String(cacheRead)] },
  { heading: "to cache", optional: true, align: "right", cell: ({ input, cacheWrite = input }) => [String(cacheWrite)] },
  { heading: "maker", optional: true, cell: ({ maker }) => [styled("dim", maker ?? "config file")] },
];
