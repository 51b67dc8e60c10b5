import type { Entry, EntryId, Label, OutlineRow, SessionRecord } from "@bough/session-core";
import { describeCall, isSummary, shareLine } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { entryKind } from "../format/entry-lines.js";
import { dateTime } from "../format/time.js";
import { breakLine, prefixLines, splitLines, wrapText } from "../format/wrap.js";
import { type ChosenSession, chooseSession } from "../session/choose-session.js";
import { sessionTitle, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readOutline, readPath } from "../session/paging.js";
import { fitMiddle, type Line, roomBeside, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { displayWidth, loadExactWidths, truncate } from "../terminal/width.js";
import { filterBit, filterBits } from "../tree/filter.js";
import { shortIds } from "../tree/print-tree.js";
import { leafNames, rowText } from "../tree/row-text.js";
import { TreeIndex } from "../tree/tree-index.js";
import { type Command, type CommonOptions, timeOption } from "./command.js";

interface LogOptions extends CommonOptions {
  readonly all?: boolean;
  readonly full?: boolean;
  readonly oneline?: boolean;
  readonly reverse?: boolean;
  readonly number?: number;
  readonly since?: string;
  readonly until?: string;
}

/** `bough log`: prints the entries of a path, or of all branches, in the order of time. */
export const runLog: Command<LogOptions> = async ({ io, out, args: [name, entryName], options }) => {
  if (options.all === true && entryName !== undefined) throw new UsageError("--all prints every branch, so no ENTRY can be named.");
  const [since, until] = [timeOption("--since", options.since, io.now()), timeOption("--until", options.until, io.now())];
  await withStore(io, options.store, "read", async (store) => {
    const chosen = await chooseSession(store, io, out, name, "store");
    const { session, record } = chosen;
    const outline = await readOutline(session);
    const end = entryName === undefined ? session.leafId : await session.resolve(entryName);
    const rows = chooseRows(options.all === true ? outline : await readPath(session, end), options, since, until);
    const labels = await session.labels.list();
    if (options.json === true) return printJson(out, { id: record.id, title: record.title }, rows, labels);
    await loadExactWidths();
    if (rows.length === 0)
      return out.line(outline.length === 0 ? "No entries yet." : "No entry matches; --full prints tool results and settings too.");
    if (options.oneline !== true) printHeading(out, record, await shortSessionId(store, record.id, out));
    const filter = options.full === true ? "all" : "default";
    const labeled = new Set(labels.map(({ entryId }) => entryId));
    const leaves = leafNames(TreeIndex.of(outline), await session.leaves(), session.leafName, { filter, labeled });
    const marks = marksOf(rows, outline, labels, leaves);
    const print = options.oneline === true ? printRows : printEntries;
    await print(out, chosen, rows, marks);
  });
};

function printHeading(out: Printer, record: SessionRecord, id: string): void {
  const title = truncate(sessionTitle(record), Math.max(out.width - id.length - 2, 20), out.glyphs.ellipsis);
  out.line(styled("bold", title), styled("dim", `  ${id}`));
}

/** The rows that the filter and the times leave, at most as many as wanted, in the order in which they are printed. */
function chooseRows(
  path: readonly OutlineRow[],
  { full, number, reverse }: LogOptions,
  since = Number.NEGATIVE_INFINITY,
  until = Number.POSITIVE_INFINITY,
) {
  const isWanted = (row: OutlineRow) =>
    (full === true || (filterBits(row) & filterBit("default")) !== 0) && row.createdAtMs >= since && row.createdAtMs < until;
  const newest = path.filter(isWanted).reverse().slice(0, number);
  return reverse === true ? newest.reverse() : newest;
}

function printJson(out: Printer, session: object, rows: readonly OutlineRow[], labels: readonly Label[]): void {
  const names = new Map(labels.map(({ entryId, label }) => [entryId, label]));
  out.json({ session, entries: rows.map((row) => ({ ...row, label: names.get(row.id) ?? null })) });
}

type Marks = ReturnType<typeof marksOf>;

/** The marks around the text of an entry: its short id, its label, and the leaves at it. */
function marksOf(
  rows: readonly OutlineRow[],
  outline: readonly OutlineRow[],
  labels: readonly Label[],
  leaves: ReadonlyMap<EntryId, readonly string[]>,
) {
  const shown = rows.map(({ id }) => id);
  const ids = shortIds(shown, outline);
  const texts = new Map(labels.map(({ entryId, label }) => [entryId, label]));
  return {
    id: ({ id }: OutlineRow): string => ids.get(id) ?? id,
    label: ({ id }: OutlineRow): Line => (texts.has(id) ? [styled("label", `[${texts.get(id)}]`), " "] : []),
    leaves: ({ id }: OutlineRow, arrow: string): Line => (leaves.get(id) ?? []).map((name) => styled("leaf", ` ${arrow} ${name}`)),
  };
}

async function printRows(out: Printer, _chosen: ChosenSession, rows: readonly OutlineRow[], marks: Marks): Promise<void> {
  for (const row of rows) {
    const left: Line = [styled("label", marks.id(row)), styled("dim", `  ${dateTime(row.createdAtMs)}  `), ...marks.label(row)];
    const right = marks.leaves(row, out.glyphs.arrow);
    const text = rowText(row, roomBeside(left, right, out.width), out.glyphs.ellipsis);
    out.line(...fitMiddle(left, text, right, out.width, out.glyphs.ellipsis));
    await out.pump();
  }
}

/** Entries that are read at once. */
const PAGE = 200;

/** The glyphs and the directory with which the text of entries is drawn. */
interface Shown {
  readonly glyphs: Printer["glyphs"];
  /** The session's directory: paths below it are printed relative to it. */
  readonly directory: string | undefined;
}

async function printEntries(out: Printer, { session, record }: ChosenSession, rows: readonly OutlineRow[], marks: Marks): Promise<void> {
  const shown = { glyphs: out.glyphs, directory: record.cwd ?? undefined };
  for (let at = 0; at < rows.length; at += PAGE) {
    const page = rows.slice(at, at + PAGE);
    const entries = await session.entriesById(page.map(({ id }) => id));
    for (const row of page) {
      const entry = entries.get(row.id);
      out.line();
      out.line(...headingOf(row, entry, marks, out));
      await out.lines(prefixLines(out.width, INDENT, INDENT, (width) => bodyLines(row, entry, width, shown)));
    }
  }
}

const INDENT: Line = ["    "];

function headingOf(row: OutlineRow, entry: Entry | undefined, marks: Marks, { glyphs }: Printer): Line {
  const kind = entry === undefined ? row.type : entryKind(entry);
  const style = row.role === "user" ? "user" : row.role === "assistant" ? "assistant" : "bold";
  return [
    styled("label", marks.id(row)),
    styled("dim", `  ${dateTime(row.createdAtMs)}  `),
    styled(style, kind),
    ...marks
      .label(row)
      .slice(0, 1)
      .flatMap((label) => [" ", label]),
    ...marks.leaves(row, glyphs.arrow),
  ];
}

/** The text of a message or summary, and its tool calls in one line each; of another entry its preview. */
function bodyLines(row: OutlineRow, entry: Entry | undefined, width: number, { glyphs, directory }: Shown): readonly Line[] {
  const parts = entry === undefined ? [] : partsOf(entry, directory);
  if (parts.length === 0) return wrapText(row.preview, width, "dim");
  return parts.flatMap((part) =>
    typeof part === "string"
      ? splitLines(part.trim()).flatMap((line) => (/^\s/.test(line) ? breakLine(line, width) : wrapText(line, width)))
      : [[styled("dim", shareLine("", [part], width, { widthOf: displayWidth, ellipsis: glyphs.ellipsis }))]],
  );
}

/** A text, or a tool call in one line. */
type Part = string | ReturnType<typeof describeCall>;

function partsOf(entry: Entry, directory: string | undefined): readonly Part[] {
  if (isSummary(entry)) return [entry.summary];
  if (entry.type !== "message" || (entry.message.role !== "user" && entry.message.role !== "assistant")) return [];
  const { content } = entry.message;
  if (typeof content === "string") return [content];
  return content.flatMap((block): readonly Part[] => {
    if (block.type === "text") return [block.text];
    return block.type === "toolCall" ? [describeCall(block, { directory })] : [];
  });
}
