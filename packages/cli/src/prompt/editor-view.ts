import type { Line } from "../terminal/line.js";
import type { Editor } from "./editor.js";
import { columnsOf, rowAt, textRows } from "./text-rows.js";

/** An editor as it is seen. */
export interface EditorView {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/**
 * The rows of a text around the cursor, at most `mostRows`, each with a column to spare for the cursor behind it. Where
 * there are more, the window follows the cursor.
 */
export function editorView({ text, cursor }: Editor, width: number, mostRows: number): EditorView {
  const rows = textRows(text, rowWidth(width));
  const at = rowAt(rows, cursor);
  const from = Math.max(0, Math.min(at - Math.floor(mostRows / 2), rows.length - mostRows));
  const lines = rows.slice(from, from + mostRows).map(({ start, end }): Line => [text.slice(start, end)]);
  const column = columnsOf(text.slice(rows[at]?.start ?? 0, cursor));
  return { lines, cursor: { row: at - from, column: Math.min(column, width - 1) } };
}

/** The columns that text may take, where the prompt has `width`: as `edit` needs them. */
export function rowWidth(width: number): number {
  return Math.max(width - 1, 1);
}
