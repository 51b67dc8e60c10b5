import type { OutlineRow } from "@bough/session-core";
import { age, dateTime } from "../format/time.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { padStart, truncate } from "../terminal/width.js";
import { gutterText, LEVEL_WIDTH } from "../tree/gutter.js";
import type { VisibleRow } from "../tree/layout.js";
import { rowText } from "../tree/row-text.js";
import type { FrameLine } from "../tui/screen.js";
import type { NavigatorModel, NavigatorTree } from "./model.js";

/** The text of a row has at least this many columns, however deep the tree (regression R184). */
const LEAST_TEXT = 40;
/** Age needs room beside the text; below this width it leaves. */
const LEAST_FOR_AGE = 60;
const LEAST_FOR_SIZE = 76;
const AGE = 5;
const TIME = 17;
const SIZE = 8;
/** The sign of the selected row, the one of the path, the one of folds. */
const SIGNS = 4;

/** What all rows of a screen share. */
export interface RowLook {
  readonly model: NavigatorModel;
  readonly tree: NavigatorTree;
  readonly columns: number;
  readonly words: readonly string[];
  readonly hits: ReadonlySet<number>;
  readonly leafNames: ReadonlyMap<string, readonly string[]>;
}

/** A row of the tree as a line of the screen. */
export function rowLine(look: RowLook, visible: VisibleRow): FrameLine {
  const { model, tree, columns } = look;
  const row = tree.index.row(visible.at);
  const isSelected = visible.at === model.selected;
  const right = rightColumns(model, row, columns);
  const room = columns - lineWidth(right);
  const left: Line = [
    isSelected ? styled("leaf", model.glyphs.cursor) : " ",
    visible.isOnPath ? styled("leaf", model.glyphs.onPath) : " ",
    styled("dim", gutterText(visible.gutter, visible.startsBranch, mostLevels(room), model.glyphs)),
    styled("dim", foldSign(visible, model)),
    ...badges(look, row, mostOfLabel(room)),
  ];
  const line = joined(left, text(look, visible, row), marks(look, visible, row, mostOfLabel(room)), room, model.glyphs.ellipsis);
  return { line: [...line, ...right], isSelected };
}

function mostLevels(room: number): number {
  return Math.max(1, Math.floor((room - SIGNS - LEAST_TEXT) / LEVEL_WIDTH));
}

function foldSign({ fold }: VisibleRow, { glyphs }: NavigatorModel): string {
  return fold === "folded" ? `${glyphs.folded} ` : fold === "foldable" ? `${glyphs.unfolded} ` : "  ";
}

/** A label and the names of leaves may take this much each: the text stays the most of the row. */
function mostOfLabel(room: number): number {
  return Math.max(Math.floor(room / 4), 6);
}

function badges({ model, tree }: RowLook, row: OutlineRow, most: number): Line {
  const label = tree.labels.get(row.id);
  const mark = model.marks.indexOf(row.id);
  return [
    ...(mark < 0 ? [] : [styled("match", `(${mark + 1}) `)]),
    ...(label === undefined ? [] : [styled("label", `[${shortened(label, most, model.glyphs)}] `)]),
    ...(row.isError ? [styled("error", `${model.glyphs.error} `)] : []),
  ];
}

function text({ words, hits }: RowLook, { at }: VisibleRow, row: OutlineRow): Line {
  const line = rowText(row);
  return hits.has(at) ? highlighted(line, words) : line;
}

function shortened(text: string, most: number, { ellipsis }: NavigatorModel["glyphs"]): string {
  return truncate(safe(text), most, ellipsis);
}

function marks({ model, leafNames }: RowLook, { hiddenBelow }: VisibleRow, row: OutlineRow, most: number): Line {
  const names = leafNames.get(row.id) ?? [];
  const said = names.length === 0 ? "" : shortened(names.map((name) => ` ${model.glyphs.arrow} ${name}`).join(""), most, model.glyphs);
  return [...(hiddenBelow > 0 ? [styled("dim", ` (+${hiddenBelow})`)] : []), ...(said === "" ? [] : [styled("leaf", said)])];
}

function rightColumns({ showsTimes, nowMs }: NavigatorModel, row: OutlineRow, columns: number): Line {
  const size = columns >= LEAST_FOR_SIZE ? padStart(tokens(row.payloadBytes), SIZE) : "";
  if (columns < LEAST_FOR_AGE) return [];
  const time = showsTimes ? padStart(dateTime(row.createdAtMs), TIME) : padStart(age(row.createdAtMs, nowMs), AGE);
  return [styled("dim", `${size}${time}`)];
}

/** Four bytes of JSON to a token: enough to see what is large. */
function tokens(bytes: number): string {
  const about = Math.ceil(bytes / 4);
  return about < 1000
    ? `~${about}`
    : about < 99_500
      ? `~${(about / 1000).toFixed(about < 9950 ? 1 : 0)}k`
      : `~${(about / 1e6).toFixed(1)}M`;
}

/** The middle gives way first; what is right of it keeps its columns. */
function joined(left: Line, middle: Line, right: Line, width: number, ellipsis: string): Line {
  const room = width - lineWidth(left) - lineWidth(right);
  const parts: (string | Span)[] = [...left, ...(room > 0 ? fitLine(middle, room, ellipsis) : []), ...right];
  const line = fitLine(parts, width, ellipsis);
  return [...line, " ".repeat(Math.max(0, width - lineWidth(line)))];
}

/** The words of a query that can be seen in a text, in lower case: operators and quotes are none. */
export function wordsOf(query: string): readonly string[] {
  return (query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word, at, all) => all.indexOf(word) === at);
}

/** The line with these words marked wherever they stand, whatever the case. */
export function highlighted(line: Line, words: readonly string[]): Line {
  if (words.length === 0) return line;
  return line.flatMap((piece) => marked(piece, words));
}

function marked(piece: string | Span, words: readonly string[]): Line {
  const text = typeof piece === "string" ? piece : piece.text;
  const lower = text.toLowerCase();
  // Lower case can be longer than the text in some scripts; offsets would lie.
  if (lower.length !== text.length) return [piece];
  const restyled = (part: string) => (typeof piece === "string" ? part : { ...piece, text: part });
  const parts: (string | Span)[] = [];
  let done = 0;
  for (let at = nextMatch(lower, words, 0); at !== undefined; at = nextMatch(lower, words, done)) {
    if (at.from > done) parts.push(restyled(text.slice(done, at.from)));
    // What joins with the last letter stays with it: apart they take other columns than together.
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
