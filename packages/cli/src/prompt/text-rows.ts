import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

/** A row of a wrapped text: offsets in UTF-16 code units. A row that ends with a line break leaves it out. */
export interface TextRow {
  readonly start: number;
  readonly end: number;
}

let graphemes: Intl.Segmenter | undefined;

/** The offsets between the characters of a text as a person sees them, both ends included. */
export function stopsOf(text: string): readonly number[] {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return [...Array.from(graphemes.segment(text), ({ index }) => index), text.length];
}

/** Columns that a piece of typed text takes as it is shown. */
export function columnsOf(text: string): number {
  return displayWidth(safe(text));
}

/** A text as rows of at most `width` columns, broken behind spaces where it can be. There is always a row. */
export function textRows(text: string, width: number): readonly TextRow[] {
  const rows: TextRow[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    for (const row of lineRows(line, width)) rows.push({ start: start + row.start, end: start + row.end });
    start += line.length + 1;
  }
  return rows;
}

function lineRows(line: string, width: number): readonly TextRow[] {
  if (columnsOf(line) <= width) return [{ start: 0, end: line.length }];
  const rows: TextRow[] = [];
  const stops = stopsOf(line);
  let [start, used, space] = [0, 0, 0];
  for (const [at, from] of stops.entries()) {
    const to = stops[at + 1];
    if (to === undefined) break;
    const character = line.slice(from, to);
    const columns = columnsOf(character);
    if (used + columns > width && from > start) {
      const end = space > start ? space : from;
      rows.push({ start, end });
      start = end;
      used = columnsOf(line.slice(start, from));
    }
    used += columns;
    if (character === " ") space = to;
  }
  return [...rows, { start, end: line.length }];
}

/** The row that an offset is in: where one ends and the next begins, the next. */
export function rowAt(rows: readonly TextRow[], offset: number): number {
  return Math.max(
    rows.findLastIndex(({ start }) => start <= offset),
    0,
  );
}

/** The offset in a row that stands at a column, or at the row's end. */
export function offsetAt(text: string, { start, end }: TextRow, column: number): number {
  const line = text.slice(start, end);
  let offset = 0;
  for (const stop of stopsOf(line)) {
    if (columnsOf(line.slice(0, stop)) > column) break;
    offset = stop;
  }
  return start + offset;
}
