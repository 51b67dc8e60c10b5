import type { ModelUsage, Statistics } from "@bough/session-core";
import { UsageError } from "../errors.js";
import { bytes, count, counted, dollars } from "../format/numbers.js";
import { type Column, tableLines } from "../format/table.js";
import { withStore } from "../session/open-store.js";
import { resolveSession } from "../session/resolve-names.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command } from "./command.js";
import { printStatsBy, type StatsByOptions, tokenCells } from "./stats-by.js";

/** `bough stats`: counts entries by type, and the usage of each model, for the store or one session. */
export const runStats: Command<StatsByOptions> = async ({ io, out, args: [name], options }) => {
  const isGrouped = [options.by, options.since, options.until, options.here, options.agent].some((option) => option !== undefined);
  if (isGrouped && name !== undefined)
    throw new UsageError("--by, --since, --until, --here and --agent are for the whole store. Omit SESSION, or omit these options.");
  await withStore(io, options.store, "read", async (store) => {
    if (isGrouped) return printStatsBy(io, out, store, options);
    const session = name === undefined ? undefined : await store.openSession((await resolveSession(store, io, out, name)).id);
    const statistics = await (session ?? store).statistics();
    if (options.json === true) return out.json(statistics);
    await printCounts(out, statistics);
    await printUsage(out, "used", statistics.usage);
    await printUsage(
      out,
      session === undefined ? "copied into other sessions (counted once above)" : "inherited: copied from another session, where it counts",
      statistics.inheritedUsage,
    );
  });
};

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
  const rows = types.map(([type, number]): readonly Line[] => [[type], [count(number)]]);
  if (rows.length > 0)
    for (const line of await tableLines([{ heading: "type" }, { heading: "entries", align: "right" }], rows, out.width)) out.line(...line);
}

const COLUMNS: readonly Column[] = [
  { heading: "model", shrinksTo: 12 },
  { heading: "replies", align: "right", optional: true },
  { heading: "in", align: "right", optional: true },
  { heading: "out", align: "right", optional: true },
  { heading: "from cache", align: "right", optional: true },
  { heading: "to cache", align: "right", optional: true },
  { heading: "cost", align: "right" },
];

async function printUsage(out: Printer, heading: string, usage: readonly ModelUsage[]): Promise<void> {
  if (usage.length === 0) return;
  out.line();
  out.line(styled("bold", heading));
  const rows = usage.map((one): readonly Line[] => [
    [[one.provider, one.model].filter((part) => part !== "").join("/") || "(unknown)"],
    [count(one.replies)],
    ...tokenCells(one),
    // 0 means that the agent recorded no cost, not that the model is free.
    [one.costUsd === 0 ? "–" : dollars(one.costUsd)],
  ]);
  for (const line of await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)) out.line(...line);
}
