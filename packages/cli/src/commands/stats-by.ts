import type { ModelUsage, SessionRecord, Store } from "@bough/session-core";
import { type Cost, count, counted, isRecorded, type ReplyUsage, sumCosts, usageOf } from "@bough/session-core/view";
import { type ItemColumn, printTable } from "../format/table.js";
import { dateTime } from "../format/time.js";
import { agentOf, sessionTitle } from "../session/names.js";
import { sessionPages } from "../session/paging.js";
import { costJson, readPrices, usdOf } from "../session/prices.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type CommonOptions, timeOption } from "./command.js";
import { chosenFilters, type SessionChoice } from "./sessions.js";

/** Options that group and choose usage. */
export interface StatsByOptions extends CommonOptions, SessionChoice {
  readonly by?: "day" | "directory" | "model" | "session" | "agent";
}

/** Usage of replies. `withoutCost`: replies whose cost is neither stored nor estimated; `recordedReplies`: those with tokens or a cost. */
interface Sum extends Record<(typeof FIGURES)[number], number> {
  readonly sessions: Set<string>;
  cost: Cost | null;
  withoutCost: number;
}

/** The figures of usage that are added up. */
export const FIGURES = ["replies", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "recordedReplies"] as const;

/** The usage of one or several replies of a session. `atMs` is undefined for totals, which have no time. */
interface Used {
  readonly record: SessionRecord;
  readonly atMs: number | undefined;
  readonly usage: ModelUsage;
}

/**
 * Prints usage by day, directory, model, session or agent, with a total. A reply that several sessions have counts once, at its original.
 * Without times the stored totals of the sessions are summed; days and times need the entries, which are read (200 MB of them in a second).
 */
export async function printStatsBy(io: Io, out: Printer, store: Store, options: StatsByOptions): Promise<void> {
  const by = options.by ?? "model";
  const [sinceMs, untilMs] = [timeOption("--since", options.since, io.now()), timeOption("--until", options.until, io.now())];
  const prices = await readPrices(io);
  const [groups, total] = [new Map<string, Sum>(), emptySum()];
  const read = by === "day" || sinceMs !== undefined || untilMs !== undefined ? readEntries : readTotals;
  for await (const used of read(store, await listChosen(io, store, options))) {
    if (used.atMs !== undefined && (used.atMs < (sinceMs ?? used.atMs) || used.atMs >= (untilMs ?? Number.POSITIVE_INFINITY))) continue;
    const key = keyOf(by, used);
    const sum = groups.get(key) ?? emptySum();
    groups.set(key, sum);
    const cost = prices.cost(used.usage);
    add(sum, used, cost);
    add(total, used, cost);
  }
  const rows = [...groups].sort(
    by === "day" ? ([a], [b]) => (a < b ? -1 : 1) : ([, a], [, b]) => usdOf(b.cost) - usdOf(a.cost) || b.outputTokens - a.outputTokens,
  );
  if (options.json === true) return out.json({ by, rows: rows.map(([key, sum]) => ({ key, ...toJson(sum) })), total: toJson(total) });
  await printSums(out, by, rows, total);
}

/** All chosen sessions, also archived ones and those of subagents. A session active before `--since` has no reply since then. */
async function listChosen(io: Io, store: Store, options: SessionChoice): Promise<readonly SessionRecord[]> {
  const found: SessionRecord[] = [];
  for (const { untilMs: _, ...filter } of chosenFilters(io, options))
    for await (const page of sessionPages(store, { ...filter, kind: "all", archived: "all" })) found.push(...page);
  return found;
}

const PAGE = 500;

async function* readTotals(store: Store, records: readonly SessionRecord[]): AsyncGenerator<Used> {
  for (let at = 0; at < records.length; at += PAGE) {
    const page = records.slice(at, at + PAGE);
    const totals = await store.totalsOf(page.map(({ id }) => id));
    for (const record of page) for (const usage of totals.get(record.id)?.usage ?? []) yield { record, atMs: undefined, usage };
  }
}

async function* readEntries(store: Store, records: readonly SessionRecord[]): AsyncGenerator<Used> {
  for (const record of records) {
    const totals = (await store.totalsOf([record.id])).get(record.id);
    if (totals === undefined || totals.usage.length === 0) continue;
    const session = await store.openSession(record.id);
    // The usage of copies counts in the session that has the original.
    const copies = new Set(totals.inheritedEntries === 0 ? [] : await session.inheritedSeqs());
    for await (const entry of session.entries()) {
      const used = copies.has(entry.seq) ? undefined : usageOf(entry);
      if (used !== undefined) yield { record, atMs: entry.createdAtMs, usage: toModelUsage(used) };
    }
  }
}

function toModelUsage({ provider, model, replies, usage }: ReplyUsage): ModelUsage {
  return {
    provider,
    model,
    replies,
    inputTokens: usage.input ?? 0,
    outputTokens: usage.output ?? 0,
    cacheReadTokens: usage.cacheRead ?? 0,
    cacheWriteTokens: usage.cacheWrite ?? 0,
    costUsd: usage.cost?.total ?? 0,
    recordedReplies: isRecorded(usage) ? replies : 0,
  };
}

/** Replies that used tokens and have no cost: none is stored and the price is not known, which does not mean that the model is free. */
function withoutCost({ replies, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: ModelUsage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens > 0 ? replies : 0;
}

function keyOf(by: NonNullable<StatsByOptions["by"]>, { record, atMs, usage }: Used): string {
  switch (by) {
    case "day":
      return dateTime(atMs ?? 0).slice(0, "2025-11-21".length);
    case "directory":
      return record.cwd ?? "(unknown)";
    case "model":
      return modelName(usage);
    case "session":
      return `${sessionTitle(record)} (${record.id})`;
    case "agent":
      return agentOf(record);
  }
}

/** The name of a model in a table. */
export function modelName({ provider, model }: Pick<ModelUsage, "provider" | "model">): string {
  return [provider, model].filter((part) => part !== "").join("/") || "(unknown)";
}

function emptySum(): Sum {
  const figures = { replies: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, recordedReplies: 0 };
  return { sessions: new Set(), ...figures, cost: null, withoutCost: 0 };
}

function add(sum: Sum, { record, usage }: Used, cost: Cost | null): void {
  sum.sessions.add(record.id);
  for (const figure of FIGURES) sum[figure] += usage[figure];
  sum.cost = sumCosts([sum.cost, cost]);
  sum.withoutCost += cost === null ? withoutCost(usage) : 0;
}

function toJson(sum: Sum) {
  const { sessions, cost, withoutCost: repliesWithoutCost, ...counts } = sum;
  return { sessions: sessions.size, ...counts, cachedInputShare: cachedInputShare(sum), ...costJson(cost), repliesWithoutCost };
}

const TOKENS = [
  ["in", "inputTokens"],
  ["out", "outputTokens"],
  ["from cache", "cacheReadTokens"],
  ["to cache", "cacheWriteTokens"],
] as const;

/** The columns of the four kinds of tokens; – if no reply reports any, which is not 0. */
export function tokenColumns<Item>(usageIn: (item: Item) => Omit<ModelUsage, "provider" | "model" | "costUsd">) {
  return TOKENS.map(([heading, kind]): ItemColumn<Item> => {
    const cell = (item: Item): Line => {
      const used = usageIn(item);
      return [used.recordedReplies === 0 && used.replies > 0 ? "–" : count(used[kind])];
    };
    return { heading, align: "right", optional: true, cell };
  });
}

type SumRow = readonly [key: string, sum: Sum];

const COLUMNS: readonly ItemColumn<SumRow>[] = [
  { heading: "cost", align: "right", cell: ([, sum]) => [fixedCost(sum)] },
  { heading: "sessions", align: "right", optional: true, cell: ([, sum]) => [count(sum.sessions.size)] },
  { heading: "replies", align: "right", cell: ([, sum]) => [count(sum.replies)] },
  ...tokenColumns(([, sum]: SumRow) => sum),
  { heading: "cached", align: "right", optional: true, cell: ([, sum]) => cachedCell(sum) },
];

async function printSums(out: Printer, by: string, rows: readonly SumRow[], total: Sum): Promise<void> {
  if (rows.length === 0) return out.line("No replies are recorded.");
  const keyColumn: ItemColumn<SumRow> = { heading: by, shrinksTo: 12, cell: ([key, sum]) => [sum === total ? styled("bold", key) : key] };
  await printTable(out, [keyColumn, ...COLUMNS], [...rows, ["total", total]]);
  if (total.withoutCost > 0)
    out.line(
      styled(
        "dim",
        `No cost is known for ${counted(total.withoutCost, "reply", "replies")}: bough prices lists the models whose price is known.`,
      ),
    );
}

/** The share of the input that was read from the provider's cache, of 1; null: no input is recorded. */
function cachedInputShare({ inputTokens, cacheReadTokens, cacheWriteTokens }: Sum): number | null {
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  return input === 0 ? null : cacheReadTokens / input;
}

function cachedCell(sum: Sum): Line {
  const share = cachedInputShare(sum);
  return [share === null ? "–" : `${(100 * share).toFixed(0)} %`];
}

/** Dollars to four places, whatever the amount, so that a column can be added up. */
function fixedCost({ cost }: Sum): string {
  if (cost === null) return "–";
  const usd = usdOf(cost);
  if (usd > 0 && usd < 0.00005) return "<$0.0001";
  return `${cost.estimatedUsd > 0 ? "~" : ""}$${usd.toFixed(4)}`;
}
