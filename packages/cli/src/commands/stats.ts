import type { ModelUsage, SessionId, Statistics, Store } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { bytes, count, counted, type PriceList } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { resolveSession } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { sessionPages } from "../session/paging.js";
import { costCell, costJson, readPrices, usdOf } from "../session/prices.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command } from "./command.js";
import { FIGURES, modelName, printStatsBy, type StatsByOptions, tokenColumns } from "./stats-by.js";

/** `bough stats`: counts entries by type, and the usage of each model, for the store or one session. */
export const runStats: Command<StatsByOptions> = async ({ io, out, args: [name], options }) => {
  const isGrouped = [options.by, options.since, options.until, options.here, options.agent].some((option) => option !== undefined);
  if (isGrouped && name !== undefined)
    throw new UsageError("--by, --since, --until, --here and --agent are for the whole store. Omit SESSION, or omit these options.");
  await withStore(io, options.store, "read", async (store) => {
    if (isGrouped) return printStatsBy(io, out, store, options);
    const session = name === undefined ? undefined : await store.openSession((await resolveSession(store, io, out, name)).id);
    const statistics = await (session ?? store).statistics();
    const totals = await readUsage(store, session?.id, await readPrices(io));
    if (options.json === true)
      return out.json({ ...statistics, usage: totals.own.map(toJson), inheritedUsage: totals.inherited.map(toJson) });
    await printCounts(out, statistics);
    await printUsage(out, "used", totals.own);
    await printUsage(
      out,
      session === undefined ? "copied into other sessions (counted once above)" : "inherited: copied from another session, where it counts",
      totals.inherited,
    );
  });
};

/** The usage of a session, or of all, by model; read by session, because one may have a stored cost where another has none. */
async function readUsage(store: Store, only: SessionId | undefined, prices: PriceList) {
  const [own, inherited]: [ModelUsage[], ModelUsage[]] = [[], []];
  for await (const ids of only === undefined ? listIds(store) : [[only]])
    for (const totals of (await store.totalsOf(ids)).values()) {
      own.push(...totals.usage);
      inherited.push(...totals.inheritedUsage);
    }
  return { own: sumByModel(own, prices), inherited: sumByModel(inherited, prices) };
}

/** Adds up usage by model, the most expensive one first. The cost of each part is computed first: only some of them may have a stored one. */
function sumByModel(all: readonly ModelUsage[], prices: PriceList) {
  const byModel = groupBy(all, ({ provider, model }) => JSON.stringify([provider, model]));
  const sums = [...byModel.values()].map((parts) => ({ usage: parts.reduce(addUsage), cost: prices.total(parts) }));
  return sums.sort((a, b) => usdOf(b.cost) - usdOf(a.cost) || b.usage.outputTokens - a.usage.outputTokens);
}

function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  const sum = { ...a, costUsd: a.costUsd + b.costUsd };
  for (const figure of FIGURES) sum[figure] += b[figure];
  return sum;
}

const PAGE = 500;

async function* listIds(store: Store): AsyncGenerator<readonly SessionId[]> {
  for await (const page of sessionPages(store, { kind: "all", archived: "all", empty: true, limit: PAGE })) yield page.map(({ id }) => id);
}

type PricedModel = ReturnType<typeof sumByModel>[number];

function toJson({ usage, cost }: PricedModel) {
  return { ...usage, estimatedCostUsd: costJson(cost).estimatedCostUsd };
}

async function printCounts(
  out: Printer,
  { sessions, entries, inheritedEntries, messages, payloadBytes, byType }: Statistics,
): Promise<void> {
  const copies = inheritedEntries === 0 ? "" : ` (of which ${counted(inheritedEntries, "copy", "copies")})`;
  const parts = [
    counted(sessions, "session"),
    `${counted(entries, "entry", "entries")}${copies}`,
    counted(messages, "message"),
    bytes(payloadBytes),
  ];
  out.line(styled("bold", parts.join(", ")));
  const types = Object.entries(byType).sort(([, a], [, b]) => b - a);
  if (types.length > 0) await printTable(out, TYPE_COLUMNS, types);
}

const TYPE_COLUMNS: readonly ItemColumn<readonly [type: string, entries: number]>[] = [
  { heading: "type", cell: ([type]) => [type] },
  { heading: "entries", align: "right", cell: ([, entries]) => [count(entries)] },
];

const COLUMNS: readonly ItemColumn<PricedModel>[] = [
  { heading: "model", shrinksTo: 12, cell: ({ usage }) => [modelName(usage)] },
  { heading: "replies", align: "right", optional: true, cell: ({ usage }) => [count(usage.replies)] },
  ...tokenColumns(({ usage }: PricedModel) => usage),
  { heading: "cost", align: "right", cell: ({ cost }) => [costCell(cost)] },
];

async function printUsage(out: Printer, heading: string, usage: readonly PricedModel[]): Promise<void> {
  if (usage.length === 0) return;
  out.line();
  out.line(styled("bold", heading));
  await printTable(out, COLUMNS, usage);
}
