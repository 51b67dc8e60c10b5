import { countBefore } from "@bough/session-core/engine";
import { graphemeBefore, graphemesOf, lineEnd } from "../terminal/graphemes.js";
import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

const PLAIN = /^[\x20-\x7e]*$/;

/** One line on the screen: the text from `start` to `end` (offsets in UTF-16 code units). */
interface EditorRow {
  readonly start: number;
  readonly end: number;
  /** True if the line continues in the next row; then the offset `end` is shown there. */
  readonly isWrapped: boolean;
}

let cached: { readonly text: string; readonly width: number; readonly rows: readonly EditorRow[] } | undefined;

/**
 * Wraps a text to rows of `width` columns, between words where possible; at least one row. The last column is left for the
 * cursor and for the space at a break. O(length); the last result is cached, because a key and the following frame both
 * need it. Unlike `wrapLine`, it keeps every character, so that each offset has a position on the screen.
 */
export function wrapToRows(text: string, width: number): readonly EditorRow[] {
  if (cached?.text === text && cached.width === width) return cached.rows;
  const rows: EditorRow[] = [];
  for (let start = 0; start <= text.length; ) {
    const end = lineEnd(text, start);
    addRows(rows, text.slice(start, end), start, Math.max(width - 1, 1));
    start = end + 1;
  }
  cached = { text, width, rows };
  return rows;
}

/** The index of the row that shows an offset. */
export function rowIndexAt(rows: readonly EditorRow[], offset: number): number {
  return Math.max(0, countBefore(rows.length, (at) => (rows[at]?.start ?? 0) <= offset) - 1);
}

/** The last offset that a row shows. */
export function lastOffset(text: string, row: EditorRow): number {
  return row.isWrapped ? Math.max(graphemeBefore(text, row.end), row.start) : row.end;
}

/** The column of an offset in its row. */
export function columnAt(text: string, row: EditorRow, offset: number, width: number): number {
  return Math.min(displayWidth(safe(text.slice(row.start, offset))), Math.max(width - 1, 0));
}

/** The offset at a column of a row, or the closest one before it. */
export function offsetAt(text: string, row: EditorRow, column: number): number {
  const end = lastOffset(text, row);
  let used = 0;
  for (const { segment, index } of graphemesOf(text.slice(row.start, end))) {
    used += displayWidth(safe(segment));
    if (used > column) return row.start + index;
  }
  return end;
}

/** Appends the rows of one line, which starts at the offset `from`. */
function addRows(rows: EditorRow[], line: string, from: number, room: number): void {
  let start = 0;
  let used = 0;
  let gap = { at: 0, used: 0 };
  const cut = (at: number, usedThere: number) => {
    rows.push({ start: from + start, end: from + at, isWrapped: true });
    start = at;
    used -= usedThere;
    gap = { at, used: 0 };
  };
  for (const { segment, index } of line.length <= room && PLAIN.test(line) ? [] : graphemesOf(line)) {
    const end = index + segment.length;
    const width = displayWidth(safe(segment));
    // One space at a break takes the free column; further spaces start the next row, so that typing them is visible.
    if (segment === " " && used + width > room && index > start) {
      cut(end, used);
      continue;
    }
    while (used + width > room && index > start) {
      if (gap.at > start && width !== 2) cut(gap.at, gap.used);
      else cut(index, used);
    }
    used += width;
    // Scripts with wide characters have no spaces and may break anywhere.
    if (segment === " " || width === 2) gap = { at: end, used };
  }
  rows.push({ start: from + start, end: from + line.length, isWrapped: false });
}
