import { graphemeAfter, graphemeBefore, lineEnd, lineStart, snapToGrapheme, wordAfter, wordBefore } from "../terminal/graphemes.js";
import { EDIT_ALIASES } from "../tui/field.js";
import type { TerminalEvent } from "../tui/screen.js";
import { columnAt, lastOffset, offsetAt, rowIndexAt, wrapToRows } from "./editor-rows.js";

/** The history item that is shown, and the text that was being typed before. */
interface HistoryPosition {
  /** Index in the history, oldest first. */
  readonly at: number;
  readonly draft: string;
}

/** A text field of several lines. Lines end with `\n` only. */
export interface Editor {
  readonly text: string;
  /** Offset in UTF-16 code units, never inside a grapheme cluster. */
  readonly cursor: number;
  /** The column that repeated `up` and `down` keep; null: the column of the cursor. */
  readonly column: number | null;
  /** The text cut last, inserted by `ctrl+y`. */
  readonly killed: string;
  /** null: no history item is shown. */
  readonly history: HistoryPosition | null;
}

/** Creates an editor with a text and the cursor at its end. `killed`: the text that was cut last in the editor before it. */
export function createEditor(text = "", killed = ""): Editor {
  return setText({ text: "", cursor: 0, column: null, killed, history: null }, text);
}

/** Replaces the text and puts the cursor at its end; keeps the cut text and the history position. */
function setText(editor: Editor, text: string): Editor {
  const lines = normalizeLineEnds(text);
  return { ...editor, text: lines, cursor: lines.length, column: null };
}

/** Replaces `\r\n` and `\r` by `\n`. */
function normalizeLineEnds(text: string): string {
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
  ...EDIT_ALIASES,
  "ctrl+backspace": "ctrl+w",
  "alt+delete": "alt+d",
  "ctrl+delete": "alt+d",
  "alt+enter": "ctrl+j",
  "shift+enter": "ctrl+j",
  "shift+backspace": "backspace",
  "shift+space": "space",
};

/**
 * Applies a key or paste; `width` is the width in which the editor is drawn. Returns undefined if the event does not edit
 * (`enter`, `escape`, `tab`, `ctrl+c`, `ctrl+d` in an empty text), or if `up` or `down` would leave the text. Tabs of a
 * paste become four spaces. O(length of the line); for `up`, `down`, `home` and `end` O(length of the text).
 *
 * @example
 * edit(createEditor("plan"), { kind: "key", key: "alt+enter" }, 80)?.text; // "plan\n"
 */
export function edit(editor: Editor, event: TerminalEvent, width: number): Editor | undefined {
  if (event.kind === "resize" || event.kind === "mouse") return undefined;
  if (event.kind === "paste") return insert(editor, normalizeLineEnds(event.text).replaceAll("\t", "    "));
  if (event.text !== undefined) return insert(editor, event.text);
  const key = ALIASES[event.key] ?? event.key;
  return Object.hasOwn(EDITS, key) ? EDITS[key]?.(editor, width) : undefined;
}

/**
 * Replaces a backslash before the cursor at the end of the text by a line end, as `enter` does. Returns undefined if there is
 * none.
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

/** Replaces a range. Neighboring characters may join to one grapheme; the cursor is put after it. */
function replaceRange(editor: Editor, from: number, to: number, by: string): Editor {
  const text = editor.text.slice(0, from) + by + editor.text.slice(to);
  return { ...editor, text, cursor: snapToGrapheme(text, from + by.length), column: null };
}

/** Cuts a range; an empty range keeps the text that was cut before. */
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
 * Shows the previous history item; the same editor at the oldest one. `history` has the newest item last. The typed text is
 * kept as the draft.
 */
export function showOlder(editor: Editor, history: readonly string[]): Editor {
  const at = Math.min(editor.history?.at ?? history.length, history.length) - 1;
  const entry = history[at];
  return entry === undefined ? editor : setText({ ...editor, history: { at, draft: keepDraft(editor, history) } }, entry);
}

/** Shows the next history item; after the newest one, the draft. */
export function showNewer(editor: Editor, history: readonly string[]): Editor {
  if (editor.history === null) return editor;
  const place: HistoryPosition = { at: editor.history.at + 1, draft: keepDraft(editor, history) };
  const entry = history[place.at];
  return entry === undefined ? setText({ ...editor, history: null }, place.draft) : setText({ ...editor, history: place }, entry);
}

/** An edited history item becomes the draft if there is no other one. */
function keepDraft({ text, history: place }: Editor, history: readonly string[]): string {
  if (place === null) return text;
  const isChanged = text !== normalizeLineEnds(history[place.at] ?? "");
  return place.draft === "" && isChanged ? text : place.draft;
}
