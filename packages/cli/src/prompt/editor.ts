import type { TerminalEvent } from "../tui/event.js";
import type { HistoryPlace } from "./history-place.js";
import { columnsOf, offsetAt, rowAt, stopsOf, textRows } from "./text-rows.js";

/** A text of several lines that is being typed. Plain data. */
export interface Editor {
  readonly text: string;
  /** Offset in UTF-16 code units, never inside a character. */
  readonly cursor: number;
  /** The column that up and down keep to; null: that of the cursor. */
  readonly column: number | null;
  /** What was cut last, for `ctrl+y`. */
  readonly killed: string;
  /** Where in the history the text is from; null: it was typed. */
  readonly history: HistoryPlace | null;
}

/** An editor with the cursor behind its text. */
export function editorOf(text = ""): Editor {
  return { text, cursor: text.length, column: null, killed: "", history: null };
}

/**
 * The editor after an event; undefined: the event is not about the text, or leads out of it (up from the first row, down
 * from the last one). `width`: columns that the text is shown in.
 */
export function edit(editor: Editor, event: TerminalEvent, width: number): Editor | undefined {
  if (event.kind === "resize") return undefined;
  if (event.kind === "paste") return inserted(editor, event.text.replaceAll("\t", "    "));
  if (event.text !== undefined) return inserted(editor, event.text);
  if (event.key === "up" || event.key === "down") return vertically(editor, event.key === "up" ? -1 : 1, width);
  return KEYS[SAME[event.key] ?? event.key]?.(editor, width);
}

/** Enter behind a backslash makes a new line of it; undefined: it does not. */
export function continues(editor: Editor): Editor | undefined {
  const { text, cursor } = editor;
  if (cursor !== text.length || !text.endsWith("\\")) return undefined;
  return moved({ ...editor, text: `${text.slice(0, -1)}\n` }, text.length);
}

type Key = (editor: Editor, width: number) => Editor;

const KEYS: Readonly<Record<string, Key>> = {
  newline: (editor) => inserted(editor, "\n"),
  left: (editor) => moved(editor, before(editor)),
  right: (editor) => moved(editor, after(editor)),
  wordLeft: (editor) => moved(editor, wordBefore(editor)),
  wordRight: (editor) => moved(editor, wordAfter(editor)),
  rowStart: (editor, width) => moved(editor, rowOf(editor, width).start),
  rowEnd: (editor, width) => moved(editor, rowOf(editor, width).end),
  start: (editor) => moved(editor, 0),
  end: (editor) => moved(editor, editor.text.length),
  backspace: (editor) => without(editor, before(editor), editor.cursor),
  delete: (editor) => without(editor, editor.cursor, after(editor)),
  cutWordLeft: (editor) => killed(editor, wordBefore(editor), editor.cursor),
  cutWordRight: (editor) => killed(editor, editor.cursor, wordAfter(editor)),
  cutToStart: (editor) => killed(editor, lineStart(editor), editor.cursor),
  cutToEnd: (editor) => killed(editor, editor.cursor, lineEnd(editor)),
  yank: (editor) => inserted(editor, editor.killed),
};

const SAME: Readonly<Record<string, string>> = {
  "alt+enter": "newline",
  "shift+enter": "newline",
  "ctrl+j": "newline",
  "ctrl+b": "left",
  "ctrl+f": "right",
  "ctrl+left": "wordLeft",
  "alt+left": "wordLeft",
  "alt+b": "wordLeft",
  "ctrl+right": "wordRight",
  "alt+right": "wordRight",
  "alt+f": "wordRight",
  home: "rowStart",
  "ctrl+a": "rowStart",
  end: "rowEnd",
  "ctrl+e": "rowEnd",
  "ctrl+home": "start",
  "ctrl+end": "end",
  "ctrl+h": "backspace",
  "ctrl+d": "delete",
  "ctrl+w": "cutWordLeft",
  "alt+backspace": "cutWordLeft",
  "alt+d": "cutWordRight",
  "ctrl+u": "cutToStart",
  "ctrl+k": "cutToEnd",
  "ctrl+y": "yank",
};

function moved(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor, column: null };
}

function inserted(editor: Editor, more: string): Editor {
  const { text, cursor } = editor;
  const next = text.slice(0, cursor) + more + text.slice(cursor);
  // What is typed may join with what stands behind it into one character.
  const end = stopsOf(next).find((stop) => stop >= cursor + more.length) ?? next.length;
  return { ...moved(editor, end), text: next, history: null };
}

function without(editor: Editor, from: number, to: number): Editor {
  const text = editor.text.slice(0, from) + editor.text.slice(to);
  const cursor = stopsOf(text).find((stop) => stop >= from) ?? text.length;
  return { ...moved(editor, cursor), text, history: null };
}

function killed(editor: Editor, from: number, to: number): Editor {
  return from === to ? editor : { ...without(editor, from, to), killed: editor.text.slice(from, to) };
}

function vertically(editor: Editor, by: 1 | -1, width: number): Editor | undefined {
  const { text, cursor } = editor;
  const rows = textRows(text, width);
  const row = rowAt(rows, cursor);
  const target = rows[row + by];
  if (target === undefined) return undefined;
  const column = editor.column ?? columnsOf(text.slice(rows[row]?.start ?? 0, cursor));
  const found = offsetAt(text, target, column);
  // The end of a row that goes on is the start of the next one; the place before it is meant.
  const isNext = rows[row + by + 1]?.start === found && found > target.start;
  return { ...editor, cursor: isNext ? before({ ...editor, cursor: found }) : found, column };
}

function rowOf({ text, cursor }: Editor, width: number) {
  const rows = textRows(text, width);
  const at = rowAt(rows, cursor);
  const row = rows[at] ?? { start: 0, end: text.length };
  // The end of a row that goes on is a place in the next one.
  return rows[at + 1]?.start === row.end ? { start: row.start, end: before({ text, cursor: row.end }) } : row;
}

type Place = Pick<Editor, "text" | "cursor">;

const before = ({ text, cursor }: Place) => stopsOf(text).findLast((stop) => stop < cursor) ?? 0;
const after = ({ text, cursor }: Place) => stopsOf(text).find((stop) => stop > cursor) ?? text.length;
const wordBefore = ({ text, cursor }: Place) => Math.max(text.slice(0, cursor).search(/\S+\s*$/u), 0);
const wordAfter = ({ text, cursor }: Place) => cursor + (/^\s*\S+/u.exec(text.slice(cursor))?.[0].length ?? text.length - cursor);
const lineStart = ({ text, cursor }: Place) => text.lastIndexOf("\n", cursor - 1) + 1;
const lineEnd = ({ text, cursor }: Place) => (text.indexOf("\n", cursor) === -1 ? text.length : text.indexOf("\n", cursor));
