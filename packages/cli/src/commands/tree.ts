import { UsageError } from "../errors.js";
import { count, counted } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { withStore } from "../place/open.js";
import { type ChosenSession, chooseSession, titleOf } from "../place/session-choice.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { learnWidths } from "../terminal/width.js";
import { type DrawnTree, drawTree } from "../tree-drawing/draw.js";
import type { TreeFilter } from "../tree-drawing/filter.js";
import type { Command, CommonOptions } from "./command.js";
import { wholeOutline } from "./outline.js";

interface TreeOptions extends CommonOptions {
  readonly all?: boolean;
  readonly tools?: boolean;
  readonly user?: boolean;
  readonly full?: boolean;
  readonly time?: boolean;
  readonly width?: number;
}

/** `bough tree`: a session as a tree. */
export const run: Command<TreeOptions> = async ({ io, out, args, options }) => {
  const filter = filterOf(options);
  await withStore(io, options.store, "read", async (store) => {
    const chosen = await chooseSession(store, io, out, args[0], "store");
    const { session } = chosen;
    const [rows, labels, leaves] = await Promise.all([wholeOutline(session), session.labels(), session.leaves()]);
    const drawn = { rows, labels, leaves, leafName: session.leafName };
    if (options.json === true) return printJson(out, chosen, drawn);
    await learnWidths(shownTexts(drawn));
    const width = options.width ?? out.width;
    const { lines, hidden } = drawTree(drawn, {
      width,
      filter,
      full: options.full === true,
      glyphs: out.glyphs,
      time: options.time === true ? dateTime : undefined,
    });
    out.line(styled("bold", titleOf(chosen.record)), styled("dim", `  ${session.id}`));
    for (const line of lines) {
      out.line(...line);
      await out.pump();
    }
    out.line(styled("dim", ending(rows.length, hidden, filter)));
  });
};

function filterOf({ all, tools, user }: TreeOptions): TreeFilter {
  const wanted: readonly TreeFilter[] = [
    ...(all === true ? (["all"] as const) : []),
    ...(tools === false ? (["no-tools"] as const) : []),
    ...(user === true ? (["user"] as const) : []),
  ];
  const [filter = "default", other] = wanted;
  if (other !== undefined) throw new UsageError("--all, --no-tools and --user exclude each other. Choose one.");
  return filter;
}

function* shownTexts({ rows, labels, leaves }: DrawnTree): Generator<string, void, void> {
  for (const { preview } of rows) yield preview;
  for (const { label } of labels) yield label;
  for (const { name } of leaves) yield name;
}

/** Empty is not the same as filtered (regression R190). */
function ending(total: number, hidden: number, filter: TreeFilter): string {
  if (total === 0) return "No entries yet.";
  const entries = counted(total, "entry", "entries");
  if (hidden === 0) return entries;
  const rest = filter === "all" ? "" : "; --all shows everything";
  return hidden === total ? `All ${entries} hidden by the filter${rest}` : `${entries}, ${count(hidden)} of them hidden${rest}`;
}

function printJson(out: Printer, { session, record }: ChosenSession, { rows, labels, leaves }: DrawnTree): void {
  const names = new Map(labels.map(({ entryId, label }) => [entryId, label]));
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
  out.json({
    session: { id: record.id, title: record.title },
    leafId: session.leafId,
    leaves,
    entries: rows.map(({ seq, parentSeq, ...row }) => ({
      ...row,
      seq,
      parentId: parentSeq === null ? null : (ids.get(parentSeq) ?? null),
      label: names.get(row.id) ?? null,
    })),
  });
}
