import { wrapLine } from "../format/wrap.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import type { Layout } from "./layout.js";
import { type PickerModel, type PreviewMessage, selectedRow } from "./model.js";

/** The lines of the preview, as many as it has rows; empty without one. Wraps no more text than fits. */
export function previewLines(model: PickerModel, { preview }: Layout): readonly Line[] {
  if (preview === undefined) return [];
  const lines = linesOf(model, preview.columns, preview.rows);
  return Array.from({ length: preview.rows }, (_, at) => fitLine(lines[at] ?? [], preview.columns, model.settings.glyphs.ellipsis));
}

/** The line between the list and a preview below it. */
export function previewRule({ preview, settings, size }: PickerModel): Line {
  const text = ` ${preview.end === "last" ? "the last messages" : "the first messages"} `;
  const sign = settings.glyphs.arrow === "<-" ? "-" : "─";
  return fitLine([styled("dim", sign.repeat(2) + text + sign.repeat(Math.max(0, size.columns - text.length - 2)))], size.columns, "");
}

function linesOf(model: PickerModel, columns: number, rows: number): readonly Line[] {
  const { messages, end } = model.preview;
  if (selectedRow(model) === undefined) return [[styled("dim", "(no session is selected)")]];
  if (messages === undefined) return [[styled("dim", `reading${model.settings.glyphs.ellipsis}`)]];
  if (messages.length === 0) return [[styled("dim", "(nobody has said anything on this branch)")]];
  return end === "first" ? fromStart(messages, columns, rows) : fromEnd(messages, columns, rows);
}

function fromStart(messages: readonly PreviewMessage[], columns: number, rows: number): readonly Line[] {
  const lines: Line[] = [];
  for (const message of messages) {
    if (lines.length >= rows) break;
    for (const line of messageLines(message, columns, rows)) lines.push(line);
  }
  return lines;
}

/** So much of the end as fits: the beginnings of the last messages, or the beginning of the last one alone. */
function fromEnd(messages: readonly PreviewMessage[], columns: number, rows: number): readonly Line[] {
  const shown: (readonly Line[])[] = [];
  let room = rows;
  for (let at = messages.length - 1; at >= 0 && room > 0; at -= 1) {
    const message = messages[at];
    if (message === undefined) break;
    // A long message leaves some rows for what it answers.
    const lines = messageLines(message, columns, Math.min(room, shown.length === 0 ? rows : 6));
    shown.unshift(lines);
    room -= lines.length;
  }
  return shown.flat();
}

function messageLines({ role, text }: PreviewMessage, columns: number, most: number): readonly Line[] {
  const lines: Line[] = [];
  for (const part of safeLines(text)) {
    if (lines.length >= most) break;
    for (const line of wrapLine([part], Math.max(columns - 3, 8))) lines.push(line);
  }
  const sign = role === "user" ? "> " : "  ";
  return lines.slice(0, most).map((line, at) => [styled(role, at === 0 ? sign : "  "), ...(role === "user" ? coloured(line) : line)]);
}

function coloured(line: Line): Line {
  return line.map((piece) => (typeof piece === "string" ? styled("user", piece) : piece));
}

/** A line filled with blanks up to a width, for what stands beside it. */
export function filled(line: Line, width: number, ellipsis: string): Line {
  const fitted = fitLine(line, width, ellipsis);
  return [...fitted, " ".repeat(Math.max(0, width - lineWidth(fitted)))];
}
