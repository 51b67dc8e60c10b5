import type { EntryId, Label, LeafRecord, OutlineRow } from "@bough/session-core";
import { counted, isSummary, isTyped, pairStart } from "@bough/session-core/view";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, fitMiddle, type Line, roomBeside, styled } from "../terminal/line.js";
import { displayWidth, padEnd } from "../terminal/width.js";
import type { TreeFilter } from "./filter-names.js";
import { Folds } from "./folds.js";
import { Layout } from "./layout.js";
import { branchCount, groupText, leafNames, rowText } from "./row-text.js";
import { TreeIndex } from "./tree-index.js";
import { type GutterPlace, gutterText, LEVEL_WIDTH, type VisibleRow } from "./visible-row.js";

/** The outline of a session in order of arrival, with its labels and leaves. */
export interface SessionTree {
  readonly rows: readonly OutlineRow[];
  readonly labels: readonly Label[];
  readonly leaves: readonly LeafRecord[];
  /** The leaf whose path is marked. */
  readonly leafName: string;
}

/** Options of a printed tree. */
export interface PrintOptions {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  readonly filter: TreeFilter;
  /** Prints long runs completely. */
  readonly full: boolean;
  /** The option that prints a shortened run completely; undefined: the reader has none. */
  readonly fullOption?: string | undefined;
  /** Prints `~N` before the rows above the leaf. With `full` the replies of a group have no numbers of their own. */
  readonly numbers?: boolean | undefined;
  readonly glyphs: Glyphs;
  /** Text for an entry's time; undefined: no times. */
  readonly time?: ((atMs: number) => string) | undefined;
}

/** A tree as lines, and how many rows the filter hides and groups of calls contain. */
interface PrintedTree {
  readonly lines: Iterable<Line>;
  /** The texts that are measured and whose characters may be of any width: in lines without a limit, only the ids. */
  readonly texts: Iterable<string>;
  readonly hidden: number;
  /** Number of shown entries without a row of their own. */
  readonly folded: number;
}

/** Runs up to this length are printed completely. */
const LONGEST_RUN = 12;
/** Rows that remain at both ends of a shortened run. */
const RUN_ENDS = 4;
const MAX_ID_WIDTH = 12;
const MIN_TEXT_WIDTH = 40;

/** The tree of a session as lines, each within the width. Pure; each line is made when the iteration reaches it. */
export function printTree(tree: SessionTree, options: PrintOptions): PrintedTree {
  const labels = new Map(tree.labels.map(({ entryId, label }) => [entryId, label]));
  const leafId = tree.leaves.find(({ name }) => name === tree.leafName)?.entryId ?? null;
  // The rows are here in full.
  const index = new TreeIndex(false);
  index.append(tree.rows);
  const layout = new Layout(index, {
    filter: options.filter,
    leafId,
    leaves: tree.leaves,
    labeled: labels,
    showsAllMarks: true,
    foldsCalls: options.filter === "default" && !options.full,
  });
  const leaves = leafNames(index, tree.leaves, tree.leafName, { filter: options.filter, labeled: labels });
  const isLandmark = (at: number) => isLandmarkRow(tree.rows[at], labels, leaves);
  const rows = options.full ? layout.window(0, layout.visibleCount(Folds.none), Folds.none) : [...shortenRuns(layout, isLandmark)];
  const texts = measuredTexts(tree, labels, rows, options.width);
  const numbers = options.numbers === true ? pathNumbers(index, tree, labels, leafId) : new Map<number, number>();
  return {
    lines: treeLines({ rows: tree.rows, labels, leaves, printed: rows, numbers }, options),
    texts,
    hidden: tree.rows.length - layout.shownCount,
    folded: layout.shownCount - layout.visibleCount(Folds.none),
  };
}

/** By row number: how many rows of the leaf's path are below it (`Session.resolve`, `~N`). Linear. */
function pathNumbers(
  index: TreeIndex,
  { leaves }: SessionTree,
  labeled: ReadonlyMap<EntryId, string>,
  leafId: EntryId | null,
): ReadonlyMap<number, number> {
  const layout = new Layout(index, { filter: "default", leafId, leaves, labeled, showsAllMarks: true, foldsCalls: true });
  const path = layout.window(0, layout.visibleCount(Folds.none), Folds.none).filter(({ isOnPath }) => isOnPath);
  return new Map(path.map(({ at }, place) => [at, path.length - 1 - place]));
}

function* measuredTexts(
  { rows, leaves }: SessionTree,
  labels: ReadonlyMap<string, string>,
  printed: readonly (VisibleRow | OmittedRows)[],
  width: number,
): Generator<string, void, void> {
  for (const { name } of leaves) yield name;
  for (const row of printed) {
    const entry = "at" in row ? rows[row.at] : undefined;
    if (entry === undefined) continue;
    yield entry.id;
    if (width === Number.POSITIVE_INFINITY) continue;
    yield entry.preview;
    yield labels.get(entry.id) ?? "";
  }
}

function isLandmarkRow(
  row: OutlineRow | undefined,
  labels: { has(entryId: string): boolean },
  leaves: { has(entryId: string): boolean },
): boolean {
  if (row === undefined) return false;
  return isSummary(row) || labels.has(row.id) || leaves.has(row.id);
}

/** Rows of a long run that are counted instead of printed. */
interface OmittedRows {
  /** Their row numbers. */
  readonly omitted: readonly number[];
  readonly place: GutterPlace;
}

/**
 * The rows without the middle of long runs. A run is a sequence of rows without a branch point between them. Landmarks (leaves,
 * labels, summaries) end a run and are always printed.
 */
function* shortenRuns(layout: Layout, isLandmark: (at: number) => boolean): Generator<VisibleRow | OmittedRows> {
  let from = 0;
  const count = layout.visibleCount(Folds.none);
  for (let position = 0; position < count; position += 1) {
    const isAlone = isLandmark(layout.atPosition(position, Folds.none));
    if (!isAlone && !layout.startsBranch(position, Folds.none)) continue;
    yield* shortenRun(layout, from, position - from);
    if (isAlone) yield* layout.window(position, 1, Folds.none);
    from = isAlone ? position + 1 : position;
  }
  yield* shortenRun(layout, from, count - from);
}

function* shortenRun(layout: Layout, from: number, length: number): Generator<VisibleRow | OmittedRows> {
  if (length <= LONGEST_RUN) return yield* layout.window(from, length, Folds.none);
  const start = layout.window(from, RUN_ENDS, Folds.none);
  const omitted = layout.rowsBetween(from + RUN_ENDS, from + length - RUN_ENDS, Folds.none);
  yield* start;
  const { level = 0, isOnPath = false } = start[0] ?? {};
  yield { omitted, place: { level, isOnPath, startsBranch: false, isFirst: false } };
  yield* layout.window(from + length - RUN_ENDS, RUN_ENDS, Folds.none);
}

/** The data that the lines of a tree are drawn from. */
interface Drawing {
  readonly rows: readonly OutlineRow[];
  readonly labels: ReadonlyMap<string, string>;
  readonly leaves: ReadonlyMap<string, readonly string[]>;
  readonly printed: readonly (VisibleRow | OmittedRows)[];
  /** By row number: the number that is printed before a row. */
  readonly numbers: ReadonlyMap<number, number>;
}

/** The lines of a tree. Ids are measured when the first line is asked for. */
function* treeLines(
  { rows, labels, leaves, printed, numbers }: Drawing,
  { width, glyphs, time, fullOption }: PrintOptions,
): Generator<Line, void, void> {
  const shown = printed.flatMap((row) => ("at" in row ? [rows[row.at]?.id ?? ""] : []));
  const ids = shortIds(shown, rows);
  const shortId = (id: string) => ids.get(id) ?? id;
  const widest = shown.reduce((most, id) => Math.max(most, displayWidth(shortId(id))), 0);
  const idWidth = Math.min(widest, MAX_ID_WIDTH);
  const numberWidth = numbers.size === 0 ? 0 : String(numbers.size).length + 2;
  const textWidth = Math.min(MIN_TEXT_WIDTH, Math.floor(width * 0.6));
  const maxLevels = Math.max(1, Math.floor((width - idWidth - numberWidth - 3 - textWidth) / LEVEL_WIDTH));

  const gutter = (place: GutterPlace) => {
    const text = gutterText(place, maxLevels, glyphs);
    return styled(place.isOnPath ? "leaf" : "dim", place.level === 0 ? `${text} ` : text);
  };

  const rowLine = (visible: VisibleRow): Line => {
    const row = rows[visible.at];
    if (row === undefined) return [];
    const number = numbers.get(visible.at);
    const label = labels.get(row.id);
    const left: Line = [
      styled("dim", padEnd(shortId(row.id), idWidth)),
      styled("label", ` ${padEnd(number === undefined ? "" : `~${number}`, numberWidth)}`),
      gutter(visible),
      ...(time === undefined ? [] : [styled("dim", `${time(row.createdAtMs)} `)]),
      ...(label === undefined ? [] : [styled("label", `[${label}] `)]),
      ...(row.isError ? [styled("error", `${glyphs.error} `)] : []),
    ];
    const leafMarks = (leaves.get(row.id) ?? []).map((name) => styled("leaf", ` ${glyphs.arrow} ${name}`));
    const right: Line = [...branchCount(visible.branches, glyphs), ...leafMarks];
    const own = rowText(row, roomBeside(left, right, width), glyphs.ellipsis);
    return fitMiddle(left, visible.group === null ? own : groupText(visible.group, own), right, width, glyphs.ellipsis);
  };

  const omittedLine = ({ omitted, place }: OmittedRows): Line => {
    const fromUser = omitted.filter((at) => rows[at] !== undefined && isTyped(rows[at])).length;
    const detail = fromUser === 0 ? "" : `, ${fromUser} from the user`;
    const hint = fullOption === undefined ? "" : ` (${fullOption})`;
    const text = `${glyphs.ellipsis} ${counted(omitted.length, "more entry", "more entries")}${detail}${hint}`;
    return fitLine([" ".repeat(idWidth + 1 + numberWidth), gutter(place), styled("dim", text)], width, glyphs.ellipsis);
  };

  for (const row of printed) yield "at" in row ? rowLine(row) : omittedLine(row);
}

/** Minimum length of a short id. */
const MIN_LENGTH = 4;

/**
 * For each of `ids` its shortest prefix of at least four characters that no other row's id has, which is enough to type. Most ids
 * differ within four characters; the others are sorted, so that each has to be compared with its two neighbors only.
 */
export function shortIds(ids: readonly string[], rows: readonly { readonly id: string }[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string[]>(ids.map((id) => [prefix(id, MIN_LENGTH), []]));
  for (const { id } of rows) groups.get(prefix(id, MIN_LENGTH))?.push(id);
  const short = new Map<string, string>();
  for (const [start, group] of groups) {
    if (group.length === 1) short.set(group[0] ?? start, start);
    else addUniquePrefixes(group.sort(), short);
  }
  return short;
}

function addUniquePrefixes(sorted: readonly string[], short: Map<string, string>): void {
  let before = 0;
  for (const [at, id] of sorted.entries()) {
    const after = sharedLength(id, sorted[at + 1] ?? "");
    short.set(id, prefix(id, Math.max(MIN_LENGTH, before + 1, after + 1)));
    before = after;
  }
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** A prefix that does not end inside a surrogate pair. */
function prefix(id: string, length: number): string {
  return id.slice(0, pairStart(id, length) < length ? length + 1 : length);
}
