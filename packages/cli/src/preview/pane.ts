import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, padLine, styled } from "../terminal/line.js";
import { WHEEL_ROWS } from "../tui/list.js";
import { type FrameLine, type MouseEvent, plainLine, type Size } from "../tui/screen.js";
import { type MarkedPlace, markLine } from "./marks.js";

/** The scrolled lines of a preview, with the places of a search. */
export interface Pane {
  /** null: they are being read. */
  readonly lines: readonly Line[] | null;
  readonly scroll: number;
  /** The places of the words in `lines`, in order. */
  readonly places: readonly MarkedPlace[];
  /** The number of the current place; -1: none. */
  readonly place: number;
}

/** The place that becomes the current one when lines arrive. `keep`: the same number, and the pane does not scroll. */
export type GoesTo = "first" | "last" | "keep";

/** A pane before its lines are read. */
export const EMPTY_PANE: Pane = { lines: null, scroll: 0, places: [], place: -1 };

/** Returns the number of places in the lines. */
export function placeCount({ places }: Pick<Pane, "places">): number {
  return (places.at(-1)?.place ?? -1) + 1;
}

/** The pane with other lines, in `rows` rows. */
export function withLines<P extends Pane>(pane: P, lines: readonly Line[], places: readonly MarkedPlace[], to: GoesTo, rows: number): P {
  const last = placeCount({ places }) - 1;
  const next = { ...pane, lines, places, place: Math.min(pane.place, last) };
  return to === "keep" ? next : goToPlace(next, to === "first" ? Math.min(0, last) : last, rows);
}

/** Makes a place the current one, and scrolls the pane of `rows` rows only if the place is not visible. */
export function goToPlace<P extends Pane>(pane: P, place: number, rows: number): P {
  const line = pane.places.find((one) => one.place === place)?.line ?? -1;
  // The last row may hold the note about further lines.
  const isVisible = line >= pane.scroll && line < pane.scroll + Math.max(rows - 1, 1);
  const scroll = isVisible || line < 0 ? pane.scroll : clampScroll(pane, rows, line - Math.floor(rows / 3));
  return { ...pane, place, scroll };
}

/** A scroll offset, clamped so that a pane of `rows` rows is not scrolled past the last line. */
export function clampScroll({ lines }: Pick<Pane, "lines">, rows: number, scroll: number): number {
  return Math.min(Math.max(scroll, 0), Math.max((lines?.length ?? 0) - rows, 0));
}

/** The pane scrolled by half its rows. */
export function scrollByHalf<P extends Pane>(pane: P, rows: number, direction: 1 | -1): P {
  return { ...pane, scroll: clampScroll(pane, rows, pane.scroll + direction * Math.max(Math.floor(rows / 2), 1)) };
}

/** The pane after a step of the wheel. */
export function scrollByWheel<P extends Pane>(pane: P, rows: number, direction: 1 | -1): P {
  return { ...pane, scroll: clampScroll(pane, rows, pane.scroll + direction * WHEEL_ROWS) };
}

/** A list and the pane of its selected item: beside it, below it, or over it. undefined: there is no pane. */
export interface SplitAreas {
  readonly list: Size;
  readonly preview: (Size & { readonly place: "beside" | "below" | "over" }) | undefined;
}

/** The areas with the pane at the right; a column between them is the line. */
export function splitBeside({ columns, rows }: Size): SplitAreas {
  const right = Math.min(Math.floor(columns / 2), 100);
  return { list: { columns: columns - right - 1, rows }, preview: { columns: right, rows, place: "beside" } };
}

/** The areas with a pane of `below` rows under the list; a row between them is the line. */
export function splitBelow({ columns, rows }: Size, below = Math.floor(rows * 0.45)): SplitAreas {
  return { list: { columns, rows: rows - below - 1 }, preview: { columns, rows: below, place: "below" } };
}

/** True if the pointer is over the pane; `head`: the rows above the areas. */
export function isOverPane({ list, preview }: SplitAreas, { column, row }: MouseEvent, head: number): boolean {
  if (preview === undefined || row < head) return false;
  if (preview.place === "over") return true;
  return preview.place === "beside" ? column >= list.columns : row - head >= list.rows;
}

/** The lines of a list and of its pane, which has not more than its rows. */
export function splitLines(list: readonly FrameLine[], pane: readonly Line[], { list: { columns }, preview }: SplitAreas, glyphs: Glyphs) {
  if (preview?.place === "below") {
    const rule = plainLine(styled("dim", glyphs.rule.repeat(columns)));
    return [...list, rule, ...Array.from({ length: preview.rows }, (_, at) => plainLine(...(pane[at] ?? [])))];
  }
  return list.map(({ line, isSelected }, at) => {
    // In a divided screen the selected row is bold: an inverted line would extend into the pane.
    const left = isSelected === true ? line.map((piece) => (typeof piece === "string" ? styled("bold", piece) : piece)) : line;
    return plainLine(...padLine(left, columns, glyphs.ellipsis), styled("dim", glyphs.bar), ...(pane[at] ?? []));
  });
}

/** The visible lines, at most `rows`. `keys`: what scrolls the pane, for the note about further lines. */
export function paneLines(pane: Pane, { columns, rows }: Size, keys: string, glyphs: Glyphs): readonly Line[] {
  const { lines, scroll } = pane;
  if (lines === null) return [[styled("dim", glyphs.ellipsis)]];
  const shown = lines
    .slice(scroll, scroll + rows)
    .map((line, at) => fitLine(markLine(line, marksOfLine(pane, scroll + at)), columns, glyphs.ellipsis));
  const rest = lines.length - scroll - rows;
  if (rest > 0) shown[rows - 1] = fitLine([styled("dim", `${glyphs.ellipsis} ${rest + 1} more lines (${keys} scroll)`)], columns, "");
  return shown;
}

/** The marks of a line; that of the current place is distinguished. */
function marksOfLine({ places, place }: Pane, line: number) {
  const marks = places.filter((one) => one.line === line);
  return marks.map((one) => ({ ...one, style: one.place === place ? ("current" as const) : ("match" as const) }));
}
