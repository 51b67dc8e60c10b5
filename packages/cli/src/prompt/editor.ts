import type { TerminalEvent } from "../tui/screen.js";
import { columnAt, lastOffset, offsetAt, rowIndexAt, wrapToRows } from "./editor-rows.js";
import { graphemeAfter, graphemeBefore, lineEnd, lineStart, snapToGrapheme, wordAfter, wordBefore } from "./offsets.js";

/** Where a person is in the history: at this entry, and what had been typed before they went there. */
export interface HistoryPosition {
  /** Index in the list of what was sent, oldest first. */
  readonly at: number;
  readonly draft: string;
}

/** Text of several lines that is being typed. Its lines end with `\n` only. */
export interface Editor {
  readonly text: string;
  /** An offset in UTF-16 code units, never inside what is seen as one character. */
  readonly cursor: number;
  /** The column that `up` and `down` aim at while they follow each other; null: where the cursor is. */
  readonly column: number | null;
  /** What was cut last, for `ctrl+y`. */
  readonly killed: string;
  /** null: what is shown is what was typed. */
  readonly history: HistoryPosition | null;
}

/** An editor with this text and the cursor behind it; every kind of line end becomes `\n`. */
export function createEditor(text = ""): Editor {
  return setText({ text: "", cursor: 0, column: null, killed: "", history: null }, text);
}

/** The editor with another text, its cursor behind it; what was cut and the place in the history stay. */
export function setText(editor: Editor, text: string): Editor {
  const lines = normalizeLineEnds(text);
  return { ...editor, text: lines, cursor: lines.length, column: null };
}

/** The text with `\n` for `\r\n` and `\r`: a cursor between the two could not be shown. */
export function normalizeLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

type Edit = (editor: Editor, width: number) => Editor | undefined;

const EDITS: Readonly<Record<string, Edit>> = {
  left: (editor) => moveTo(editor, graphemeBefore(editor.text, editor.cursor)),
  right: (editor) => moveTo(editor, graphemeAfter(editor.text, editor.cursor)),
  up: (editor, width) => moveVertically(editor, -1, width),
  down: (editor, width) => moveVertically(editor, 1, width),
  home: (editor, width) => moveTo(editor, cursorRow(editor, width)?.start ?? 0),
  end: (editor, width) => {
    const row = cursorRow(editor, width);
    return moveTo(editor, row === undefined ? editor.text.length : lastOffset(editor.text, row));
  },
  "ctrl+left": (editor) => moveTo(editor, wordBefore(editor.text, editor.cursor)),
  "ctrl+right": (editor) => moveTo(editor, wordAfter(editor.text, editor.cursor)),
  "ctrl+home": (editor) => moveTo(editor, 0),
  "ctrl+end": (editor) => moveTo(editor, editor.text.length),
  backspace: (editor) => replaceRange(editor, graphemeBefore(editor.text, editor.cursor), editor.cursor, ""),
  delete: (editor) => replaceRange(editor, editor.cursor, graphemeAfter(editor.text, editor.cursor), ""),
  "ctrl+d": (editor) =>
    editor.text === "" ? undefined : replaceRange(editor, editor.cursor, graphemeAfter(editor.text, editor.cursor), ""),
  "ctrl+u": (editor) =>
    kill(editor, Math.min(lineStart(editor.text, editor.cursor), graphemeBefore(editor.text, editor.cursor)), editor.cursor),
  "ctrl+k": (editor) =>
    kill(editor, editor.cursor, Math.max(lineEnd(editor.text, editor.cursor), graphemeAfter(editor.text, editor.cursor))),
  "ctrl+w": (editor) => kill(editor, wordBefore(editor.text, editor.cursor), editor.cursor),
  "alt+d": (editor) => kill(editor, editor.cursor, wordAfter(editor.text, editor.cursor)),
  "ctrl+y": (editor) => insert(editor, editor.killed),
  "ctrl+j": (editor) => insert(editor, "\n"),
  space: (editor) => insert(editor, " "),
};

const ALIASES: Readonly<Record<string, string>> = {
  "ctrl+b": "left",
  "ctrl+f": "right",
  "ctrl+a": "home",
  "ctrl+e": "end",
  "alt+b": "ctrl+left",
  "alt+left": "ctrl+left",
  "alt+f": "ctrl+right",
  "alt+right": "ctrl+right",
  "alt+backspace": "ctrl+w",
  "ctrl+backspace": "ctrl+w",
  "alt+delete": "alt+d",
  "ctrl+delete": "alt+d",
  "alt+enter": "ctrl+j",
  "shift+enter": "ctrl+j",
  "shift+backspace": "backspace",
  "shift+space": "space",
};

/**
 * The editor after an event; `width` is the one it is drawn with. undefined: the event is not about the text (`enter`,
 * `escape`, `tab`, `ctrl+c`, `ctrl+d` in an empty text), or `up` and `down` lead out of it, to the history. Tabs of a
 * paste become four spaces, everything else in it is kept. O(length of the line); `up`, `down`, `home`, `end`: of the text.
 *
 * @example
 * edit(editorOf("plan"), { kind: "key", key: "alt+enter" }, 80)?.text; // "plan\n"
 */
export function edit(editor: Editor, event: TerminalEvent, width: number): Editor | undefined {
  if (event.kind === "resize") return undefined;
  if (event.kind === "paste") return insert(editor, normalizeLineEnds(event.text).replaceAll("\t", "    "));
  if (event.text !== undefined) return insert(editor, event.text);
  const key = ALIASES[event.key] ?? event.key;
  return Object.hasOwn(EDITS, key) ? EDITS[key]?.(editor, width) : undefined;
}

/**
 * What `enter` makes of a text that ends with a backslash, if the cursor is behind it: the backslash becomes a line end.
 * undefined: the text does not go on.
 */
export function continueLine(editor: Editor): Editor | undefined {
  const end = editor.text.length;
  return editor.cursor === end && editor.text.endsWith("\\") ? replaceRange(editor, end - 1, end, "\n") : undefined;
}

function moveTo(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor, column: null };
}

function insert(editor: Editor, more: string): Editor {
  return replaceRange(editor, editor.cursor, editor.cursor, more);
}

/** What comes together may become one character, as a letter and an accent do; the cursor goes behind it. */
function replaceRange(editor: Editor, from: number, to: number, by: string): Editor {
  const text = editor.text.slice(0, from) + by + editor.text.slice(to);
  return { ...editor, text, cursor: snapToGrapheme(text, from + by.length), column: null };
}

/** Cutting nothing keeps what was cut before. */
function kill(editor: Editor, from: number, to: number): Editor {
  return from === to ? moveTo(editor, editor.cursor) : { ...replaceRange(editor, from, to, ""), killed: editor.text.slice(from, to) };
}

function cursorRow({ text, cursor }: Editor, width: number) {
  const rows = wrapToRows(text, width);
  return rows[rowIndexAt(rows, cursor)];
}

function moveVertically(editor: Editor, by: 1 | -1, width: number): Editor | undefined {
  const rows = wrapToRows(editor.text, width);
  const here = rowIndexAt(rows, editor.cursor);
  const row = rows[here];
  const target = rows[here + by];
  if (row === undefined || target === undefined) return undefined;
  const column = editor.column ?? columnAt(editor.text, row, editor.cursor, width);
  return { ...editor, cursor: offsetAt(editor.text, target, column), column };
}

/**
 * The editor with what was sent before the entry it shows, its cursor at the end; the same editor at the oldest one.
 * `history` has the newest last. What had been typed is kept as the draft.
 */
export function showOlder(editor: Editor, history: readonly string[]): Editor {
  const at = Math.min(editor.history?.at ?? history.length, history.length) - 1;
  const entry = history[at];
  return entry === undefined ? editor : setText({ ...editor, history: { at, draft: keepDraft(editor, history) } }, entry);
}

/** The editor with what was sent after the entry it shows; behind the newest one comes the draft. */
export function showNewer(editor: Editor, history: readonly string[]): Editor {
  if (editor.history === null) return editor;
  const place: HistoryPosition = { at: editor.history.at + 1, draft: keepDraft(editor, history) };
  const entry = history[place.at];
  return entry === undefined ? setText({ ...editor, history: null }, place.draft) : setText({ ...editor, history: place }, entry);
}

/** An old entry that was changed is a draft too, unless there is one already. */
function keepDraft({ text, history: place }: Editor, history: readonly string[]): string {
  if (place === null) return text;
  const isChanged = text !== normalizeLineEnds(history[place.at] ?? "");
  return place.draft === "" && isChanged ? text : place.draft;
}
