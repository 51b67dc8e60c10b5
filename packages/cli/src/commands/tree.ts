import type { OutlineRow } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { dateTime } from "../format/time.js";
import { wrapLine } from "../format/wrap.js";
import { type ChosenSession, chooseSession } from "../session/choose-session.js";
import { sessionTitle, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readOutline } from "../session/paging.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadWidthsFor, truncate } from "../terminal/width.js";
import type { TreeFilter } from "../tree/filter-names.js";
import { printTree, type SessionTree } from "../tree/print-tree.js";
import type { Command, CommonOptions } from "./command.js";

/** Minimum columns for a title on the same line as the id. */
const LEAST_TITLE = 20;

interface TreeOptions extends CommonOptions {
  readonly all?: boolean;
  readonly tools?: boolean;
  readonly user?: boolean;
  readonly full?: boolean;
  readonly numbers?: boolean;
  readonly time?: boolean;
  readonly width?: number;
  readonly interactive?: boolean;
}

/** `bough tree`: prints a session as a tree. */
export const runTree: Command<TreeOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  if (options.interactive === true) return (await import("./tree-interactive.js")).navigateTree(invocation);
  const filter = chooseFilter(options);
  if (args[1] !== undefined)
    throw new UsageError("ENTRY is where the navigator opens: add -i. `bough show SESSION ENTRY` prints an entry.");
  await withStore(io, options.store, "read", async (store) => {
    const chosen = await chooseSession(store, io, out, args[0], "store");
    const { session } = chosen;
    const [rows, labels, leaves] = await Promise.all([readOutline(session), session.labels.list(), session.leaves()]);
    const drawn = { rows: filter === "no-tools" ? rows.map(withoutCalls) : rows, labels, leaves, leafName: session.leafName };
    if (options.json === true) return printJson(out, chosen, drawn);
    const width = options.width ?? (out.isUnbounded ? Number.POSITIVE_INFINITY : out.width);
    const { lines, texts, hidden, folded } = printTree(drawn, {
      width,
      filter,
      full: options.full === true || out.isUnbounded,
      fullOption: "--full",
      numbers: options.numbers === true,
      glyphs: out.glyphs,
      time: options.time === true ? dateTime : undefined,
    });
    await loadWidthsFor([sessionTitle(chosen.record), ...texts]);
    await out.lines(renderHeading(sessionTitle(chosen.record), await shortSessionId(store, session.id, out), width));
    await out.lines(lines);
    await out.lines(wrapLine([styled("dim", describeCount(rows.length, hidden, folded, filter))], width));
  });
};

/** The title and the id, on one line if both fit. */
function renderHeading(title: string, id: string, width: number): readonly Line[] {
  const room = width - id.length - 2;
  if (room >= LEAST_TITLE) return [[styled("bold", truncate(title, room)), styled("dim", `  ${id}`)]];
  return [[styled("bold", truncate(title, width))], [styled("dim", truncate(id, width))]];
}

function chooseFilter({ all, tools, user, numbers }: TreeOptions): TreeFilter {
  const wanted: readonly TreeFilter[] = [
    ...(all === true ? (["all"] as const) : []),
    ...(tools === false ? (["no-tools"] as const) : []),
    ...(user === true ? (["user"] as const) : []),
  ];
  const [filter = "default", other] = wanted;
  if (numbers === true && filter !== "default")
    throw new UsageError("--numbers counts the rows of the default filter. Leave out --all, --no-tools and --user.");
  if (other !== undefined) throw new UsageError("--all, --no-tools and --user exclude each other. Choose one.");
  return filter;
}

// A preview ends with the tool calls of the reply in brackets; the last one may be truncated.
const CALLS = /(?: \[[A-Za-z_][^\]]*(?:\]|…?$))+…?$/;

function withoutCalls(row: OutlineRow): OutlineRow {
  return row.role === "assistant" && CALLS.test(row.preview) ? { ...row, preview: row.preview.replace(CALLS, "") } : row;
}

/** Distinguishes an empty session from one whose entries are all filtered. */
function describeCount(total: number, hidden: number, folded: number, filter: TreeFilter): string {
  if (total === 0) return "No entries yet.";
  const entries = counted(total, "entry", "entries");
  const calls = folded === 0 ? "" : `; ${count(folded)} more in rows of calls; --full shows them singly`;
  if (hidden === 0) return entries + calls;
  const rest = filter === "all" ? "" : "; --all shows them";
  return hidden === total ? `All ${entries} hidden by the filter${rest}` : `${entries}, ${count(hidden)} of them hidden${rest}${calls}`;
}

function printJson(out: Printer, { session, record }: ChosenSession, { rows, labels, leaves }: SessionTree): void {
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
