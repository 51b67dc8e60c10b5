import { wrapLine } from "../format/wrap.js";
import type { Line } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";
import type { Editor } from "./editor.js";
export interface EditorView {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}
export function editorView({ text, cursor }: Editor, width: number, mostRows: number): EditorView {
  const lines = text.split("\n").flatMap((line): readonly Line[] => (line === "" ? [[""]] : wrapLine([line], width)));
  const before = text.slice(0, cursor).split("\n");
  const row = before.length - 1;
  const from = Math.max(0, row - mostRows + 1);
  return {
    lines: lines.slice(from, from + mostRows),
    cursor: { row: row - from, column: Math.min(displayWidth(safe(before.at(-1) ?? "")), width - 1) },
  };
}
