import type { EntryId, OutlineRow } from "@bough/session-core";
import { createQueryFinder, type QueryFinder } from "@bough/session-core/engine";
import { count, counted } from "@bough/session-core/view";
import { age, dateTime } from "../format/time.js";
import { findMarks, markLine } from "../preview/marks.js";
import { snippetFromMatch } from "../preview/snippet.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, fitMiddle, type Line, lineWidth, spreadLine, styled, textOfLine } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth, padStart, truncate } from "../terminal/width.js";
import { branchCount, groupText, leafNames, rowText } from "../tree/row-text.js";
import { gutterText, LEVEL_WIDTH, type VisibleRow } from "../tree/visible-row.js";
import type { FrameLine } from "../tui/screen.js";
import type { HitSnippet, NavigatorModel, NavigatorTree, Search, Subagent } from "./model.js";

/** Minimum width of a row's text, at any depth, and its minimum share of a wide row. */
const MIN_TEXT_WIDTH = 40;
const MIN_TEXT_SHARE = 0.75;
/** From these widths on the row shows its age, and its size. */
const MIN_WIDTH_FOR_AGE = 60;
const MIN_WIDTH_FOR_SIZE = 76;
const AGE_WIDTH = 5;
const TIME_WIDTH = 17;
const SIZE_WIDTH = 8;
/** Columns of the signs for selection and fold. */
const SIGNS_WIDTH = 3;

/** Values that are the same for all rows of a frame. */
interface RowContext {
  readonly model: NavigatorModel;
  readonly tree: NavigatorTree;
  readonly columns: number;
  /** Finds the words of the search in hits; null: there is no search. */
  readonly finder: QueryFinder | null;
  readonly leafNames: ReadonlyMap<EntryId, readonly string[]>;
}

/** Rows of the tree as lines of the list. */
export function viewRows(model: NavigatorModel, tree: NavigatorTree, rows: readonly VisibleRow[], columns: number): readonly FrameLine[] {
  const context = {
    model,
    tree,
    columns,
    finder: hitFinder(model.search),
    leafNames: leafNames(tree.index, tree.leaves, tree.leafName, { filter: model.filter, labeled: tree.labels }),
  };
  return rows.map((row) => viewRow(context, row));
}

function viewRow(context: RowContext, visible: VisibleRow): FrameLine {
  const { model, tree, columns, finder } = context;
  const { glyphs } = model;
  // Its text is requested as soon as it is on the screen.
  if (!tree.index.isHeld(visible.at))
    return { line: fitLine([styled("dim", model.glyphs.ellipsis)], columns, ""), isSelected: visible.at === model.selected };
  const row = tree.index.row(visible.at);
  const isSelected = visible.at === model.selected;
  const right = rightColumns(model, row, columns, visible.group === null);
  const room = columns - lineWidth(right);
  const left: Line = [
    isSelected ? styled("leaf", glyphs.cursor) : " ",
    styled(visible.isOnPath ? "leaf" : "dim", gutterText(visible, maxLevels(room), glyphs)),
    styled("dim", foldSign(visible, model)),
    ...badges(context, row, maxLabelWidth(room)),
  ];
  const snippet = model.search?.snippets.get(visible.at);
  const isDim = finder !== null && !visible.isHit;
  const marks = suffixes(context, visible, row, maxLabelWidth(room));
  const own = rowText(row, room - lineWidth(left) - lineWidth(marks), glyphs.ellipsis);
  const fitted = visible.group === null ? own : groupText(visible.group, own);
  const text =
    finder !== null && visible.isHit
      ? hitText(rowText(row), snippet, finder, room - lineWidth(left), glyphs)
      : isDim
        ? dimmed(fitted)
        : fitted;
  const line = fitMiddle(left, text, marks, room, glyphs.ellipsis);
  return { line: spreadLine(line, right, columns, glyphs.ellipsis, 0), isSelected };
}

/** The column of a row's fold sign. */
export function foldSignColumn({ glyphs, tree, ...model }: NavigatorModel, visible: VisibleRow, columns: number): number {
  const row = tree?.index.isHeld(visible.at) === true ? tree.index.row(visible.at) : undefined;
  const right = row === undefined ? [] : rightColumns({ glyphs, tree, ...model }, row, columns, false);
  return 1 + displayWidth(gutterText(visible, maxLevels(columns - lineWidth(right)), glyphs));
}

function maxLevels(room: number): number {
  const text = Math.max(MIN_TEXT_WIDTH, Math.ceil(room * MIN_TEXT_SHARE));
  return Math.max(1, Math.floor((room - SIGNS_WIDTH - text) / LEVEL_WIDTH));
}

function foldSign({ fold }: VisibleRow, { glyphs }: NavigatorModel): string {
  return fold === "folded" ? `${glyphs.folded} ` : fold === "foldable" ? `${glyphs.unfolded} ` : "  ";
}

/** The maximum width of the label, and of the names of leaves: the text keeps most of the row. */
function maxLabelWidth(room: number): number {
  return Math.max(Math.floor(room / 4), 6);
}

/** Before the text: number of the mark, label, error sign. */
function badges({ model, tree }: RowContext, row: OutlineRow, maxWidth: number): Line {
  const label = tree.labels.get(row.id);
  const mark = model.marks.indexOf(row.id);
  return [
    ...(mark < 0 ? [] : [styled("match", `(${mark + 1}) `)]),
    ...(label === undefined ? [] : [styled("label", `[${truncate(safe(label), maxWidth, model.glyphs.ellipsis)}] `)]),
    ...(row.isError ? [styled("error", `${model.glyphs.error} `)] : []),
  ];
}

/** After the text: number of branches and of folded rows, names of leaves. */
function suffixes({ model, leafNames }: RowContext, { branches, hiddenBelow }: VisibleRow, row: OutlineRow, maxWidth: number): Line {
  const names = (leafNames.get(row.id) ?? []).map((name) => ` ${model.glyphs.arrow} ${name}`).join("");
  const shown = truncate(safe(names), maxWidth, model.glyphs.ellipsis);
  return [
    ...subagentsText(model.subagents.get(row.id) ?? [], model.glyphs),
    ...branchCount(branches, model.glyphs),
    ...(hiddenBelow > 0 ? [styled("dim", ` (+${count(hiddenBelow)})`)] : []),
    ...(shown === "" ? [] : [styled("leaf", shown)]),
  ];
}

/** `hasSize`: rows that are drawn as one have no size of their own. */
function rightColumns({ showsTimes, nowMs }: NavigatorModel, row: OutlineRow, columns: number, hasSize: boolean): Line {
  if (columns < MIN_WIDTH_FOR_AGE) return [];
  const size = columns >= MIN_WIDTH_FOR_SIZE ? padStart(hasSize ? estimatedTokens(row.payloadBytes) : "", SIZE_WIDTH) : "";
  const time = showsTimes ? padStart(dateTime(row.createdAtMs), TIME_WIDTH) : padStart(age(row.createdAtMs, nowMs), AGE_WIDTH);
  return [styled("dim", `${size}${time}`)];
}

/** Estimates four bytes of JSON per token, which is enough to find large entries. */
function estimatedTokens(bytes: number): string {
  const about = Math.ceil(bytes / 4);
  return about < 1000
    ? `~${about}`
    : about < 99_500
      ? `~${(about / 1000).toFixed(about < 9950 ? 1 : 0)}k`
      : `~${(about / 1e6).toFixed(1)}M`;
}

/** That an entry started subagents, whose sessions can be opened. */
function subagentsText(subagents: readonly Subagent[], { child }: Glyphs): Line {
  if (subagents.length === 0) return [];
  const entries = subagents.reduce((sum, { entryCount }) => sum + entryCount, 0);
  const what = subagents.length === 1 ? "subagent" : `${subagents.length} subagents`;
  return [styled("summary", ` ${child} ${what}, ${counted(entries, "entry", "entries")}`)];
}

/** Finds the words of the search's hits in texts; null: there are no hits. */
function hitFinder(search: Search | null): QueryFinder | null {
  if (search === null || search.hits === null || search.words === null) return null;
  return createQueryFinder(search.words.query, search.words.matched);
}

/**
 * The text of a hit's row, with its words marked. If the first `room` columns of the row's own text do not have a word, the row has
 * its role and the text that begins with the first word found.
 */
function hitText(whole: Line, hit: HitSnippet | undefined, finder: QueryFinder, room: number, glyphs: Glyphs): Line {
  const [first, ...rest] = whole;
  const [role, text] = rest.length > 0 && typeof first === "object" ? [[first], rest] : [[], whole];
  const marks = findMarks(fitLine(text, Math.max(room - textOfLine(role).length, 0), ""), finder);
  if (marks.length > 0) return [...role, ...markLine(text, findMarks(text, finder))];
  const snippet = hit === undefined ? undefined : snippetFromMatch(hit, room, glyphs);
  if (snippet === undefined) return whole;
  return [...role, ...(role.length === 0 || textOfLine(role).endsWith(" ") ? [] : [" "]), ...snippet];
}

/** A line without its colors. */
function dimmed(line: Line): Line {
  return [styled("dim", textOfLine(line))];
}
