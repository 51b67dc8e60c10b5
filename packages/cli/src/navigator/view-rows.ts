import type { EntryId, OutlineRow } from "@bough/session-core";
import { age, dateTime } from "../format/time.js";
import { fitLine, fitMiddle, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { padStart, truncate } from "../terminal/width.js";
import { gutterText, LEVEL_WIDTH } from "../tree/gutter.js";
import type { VisibleRow } from "../tree/layout.js";
import { leafNames, rowText } from "../tree/row-text.js";
import type { FrameLine } from "../tui/screen.js";
import type { NavigatorModel, NavigatorTree } from "./model.js";

/** Minimum width of a row's text, at any depth. */
const MIN_TEXT_WIDTH = 40;
/** From these widths on the row shows its age, and its size. */
const MIN_WIDTH_FOR_AGE = 60;
const MIN_WIDTH_FOR_SIZE = 76;
const AGE_WIDTH = 5;
const TIME_WIDTH = 17;
const SIZE_WIDTH = 8;
/** Columns of the signs for selection, path and fold. */
const SIGNS_WIDTH = 4;

/** Values that are the same for all rows of a frame. */
interface RowContext {
  readonly model: NavigatorModel;
  readonly tree: NavigatorTree;
  readonly columns: number;
  /** Words to highlight in hits. */
  readonly words: readonly string[];
  readonly leafNames: ReadonlyMap<EntryId, readonly string[]>;
}

/** Rows of the tree as lines of the list. */
export function viewRows(model: NavigatorModel, tree: NavigatorTree, rows: readonly VisibleRow[], columns: number): readonly FrameLine[] {
  const words = model.search === null ? [] : queryWords(model.search.field.text);
  const context = { model, tree, columns, words, leafNames: leafNames(tree.leaves, tree.leafName) };
  return rows.map((row) => viewRow(context, row));
}

function viewRow(context: RowContext, visible: VisibleRow): FrameLine {
  const { model, tree, columns, words } = context;
  const { glyphs } = model;
  // Its text is requested as soon as it is on the screen.
  if (!tree.index.isHeld(visible.at))
    return { line: fitLine([styled("dim", model.glyphs.ellipsis)], columns, ""), isSelected: visible.at === model.selected };
  const row = tree.index.row(visible.at);
  const isSelected = visible.at === model.selected;
  const right = rightColumns(model, row, columns);
  const room = columns - lineWidth(right);
  const left: Line = [
    isSelected ? styled("leaf", glyphs.cursor) : " ",
    visible.isOnPath ? styled("leaf", glyphs.onPath) : " ",
    styled("dim", gutterText(visible.gutter, visible.startsBranch, maxLevels(room), glyphs)),
    styled("dim", foldSign(visible, model)),
    ...badges(context, row, maxLabelWidth(room)),
  ];
  const text = visible.isHit ? highlightWords(rowText(row), words) : rowText(row);
  const line = fitMiddle(left, text, suffixes(context, visible, row, maxLabelWidth(room)), room, glyphs.ellipsis);
  return { line: [...line, " ".repeat(Math.max(0, room - lineWidth(line))), ...right], isSelected };
}

function maxLevels(room: number): number {
  return Math.max(1, Math.floor((room - SIGNS_WIDTH - MIN_TEXT_WIDTH) / LEVEL_WIDTH));
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

/** After the text: number of folded rows, names of leaves. */
function suffixes({ model, leafNames }: RowContext, { hiddenBelow }: VisibleRow, row: OutlineRow, maxWidth: number): Line {
  const names = (leafNames.get(row.id) ?? []).map((name) => ` ${model.glyphs.arrow} ${name}`).join("");
  const shown = truncate(safe(names), maxWidth, model.glyphs.ellipsis);
  return [...(hiddenBelow > 0 ? [styled("dim", ` (+${hiddenBelow})`)] : []), ...(shown === "" ? [] : [styled("leaf", shown)])];
}

function rightColumns({ showsTimes, nowMs }: NavigatorModel, row: OutlineRow, columns: number): Line {
  if (columns < MIN_WIDTH_FOR_AGE) return [];
  const size = columns >= MIN_WIDTH_FOR_SIZE ? padStart(estimatedTokens(row.payloadBytes), SIZE_WIDTH) : "";
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

/** The words of a query in lower case, without operators and quotes. */
function queryWords(query: string): readonly string[] {
  return (query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word, at, all) => all.indexOf(word) === at);
}

/** Highlights all occurrences of the words, ignoring case. */
function highlightWords(line: Line, words: readonly string[]): Line {
  if (words.length === 0) return line;
  return line.flatMap((piece) => highlightIn(piece, words));
}

function highlightIn(piece: string | Span, words: readonly string[]): Line {
  const text = typeof piece === "string" ? piece : piece.text;
  const lower = text.toLowerCase();
  // In some scripts the lower case has another length, so that offsets differ.
  if (lower.length !== text.length) return [piece];
  const restyled = (part: string) => (typeof piece === "string" ? part : { ...piece, text: part });
  const parts: (string | Span)[] = [];
  let done = 0;
  for (let at = nextMatch(lower, words, 0); at !== undefined; at = nextMatch(lower, words, done)) {
    if (at.from > done) parts.push(restyled(text.slice(done, at.from)));
    // Combining marks after the match belong to its last letter; separated from it they would change the width.
    done = at.to + (/^[\p{M}\u200d]+/u.exec(text.slice(at.to))?.[0].length ?? 0);
    parts.push(styled("match", text.slice(at.from, done)));
  }
  if (done < text.length) parts.push(restyled(text.slice(done)));
  return parts;
}

function nextMatch(lower: string, words: readonly string[], from: number): { readonly from: number; readonly to: number } | undefined {
  let best: { readonly from: number; readonly to: number } | undefined;
  for (const word of words) {
    const at = lower.indexOf(word, from);
    if (at >= 0 && (best === undefined || at < best.from)) best = { from: at, to: at + word.length };
  }
  return best;
}
