import { fitLine, type Line, styled } from "../terminal/line.js";
import type { Editor } from "./editor.js";
import { columnAt, rowIndexAt, wrapToRows } from "./editor-rows.js";

/** The drawn part of an editor. */
interface EditorView {
  /** At most `mostRows` lines, none wider than the width. */
  readonly lines: readonly Line[];
  /** The cursor position in these lines, from 0; `column` is less than the width. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** The visible rows (`to` exclusive), and whether lines above and below count the hidden ones. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly isCounted: boolean;
}

/**
 * Draws an editor in at most `mostRows` lines of `width` columns (both at least 1), wrapped between words and scrolled so
 * that the cursor is visible. From three rows on, "… n more lines" counts the hidden rows above and below.
 */
export function editorView(editor: Editor, width: number, mostRows: number): EditorView {
  const rows = wrapToRows(editor.text, width);
  const here = rowIndexAt(rows, editor.cursor);
  const window = chooseWindow(rows.length, here, Math.max(mostRows, 1));
  const above = window.isCounted ? countLine(window.from, width) : [];
  const below = window.isCounted ? countLine(rows.length - window.to, width) : [];
  const shown = rows.slice(window.from, window.to).map((row) => fitLine([editor.text.slice(row.start, row.end)], width, ""));
  const row = rows[here];
  const column = row === undefined ? 0 : columnAt(editor.text, row, editor.cursor, width);
  return { lines: [...above, ...shown, ...below], cursor: { row: above.length + here - window.from, column } };
}

function chooseWindow(count: number, here: number, most: number): Window {
  if (count <= most) return { from: 0, to: count, isCounted: false };
  if (most < 3) {
    const from = Math.max(here - most + 1, 0);
    return { from, to: from + most, isCounted: false };
  }
  if (here < most - 1) return { from: 0, to: most - 1, isCounted: true };
  if (here > count - most) return { from: count - most + 1, to: count, isCounted: true };
  const from = here - Math.floor((most - 2) / 2);
  return { from, to: from + most - 2, isCounted: true };
}

function countLine(count: number, width: number): readonly Line[] {
  return count === 0 ? [] : [fitLine([styled("dim", `… ${count} more ${count === 1 ? "line" : "lines"}`)], width, "")];
}
