import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import type { Size } from "../tui/screen.js";
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
