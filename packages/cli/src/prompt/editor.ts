import type { TerminalEvent } from "../tui/screen.js";
import { after, before, lineEnd, lineStart, snapped, wordAfter, wordBefore } from "./graphemes.js";
import { columnOf, lastOf, offsetAt, rowAt, rowsOf } from "./rows.js";

/** Where a person is in the history: at this entry, and what had been typed before they went there. */
export interface HistoryPlace {
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
  readonly history: HistoryPlace | null;
}

/** An editor with this text and the cursor behind it; every kind of line end becomes `\n`. */
export function editorOf(text = ""): Editor {
  return withText({ text: "", cursor: 0, column: null, killed: "", history: null }, text);
}

/** The editor with another text, its cursor behind it; what was cut and the place in the history stay. */
export function withText(editor: Editor, text: string): Editor {
  const lines = withPlainLineEnds(text);
  return { ...editor, text: lines, cursor: lines.length, column: null };
}

/** The text with `\n` for `\r\n` and `\r`: a cursor between the two could not be shown. */
export function withPlainLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

type Edit = (editor: Editor, width: number) => Editor | undefined;

const KEYS: Readonly<Record<string, Edit>> = {
  left: (editor) => at(editor, before(editor.text, editor.cursor)),
  right: (editor) => at(editor, after(editor.text, editor.cursor)),
  up: (editor, width) => vertical(editor, -1, width),
  down: (editor, width) => vertical(editor, 1, width),
  home: (editor, width) => at(editor, rowOf(editor, width)?.start ?? 0),
  end: (editor, width) => {
    const row = rowOf(editor, width);
    return at(editor, row === undefined ? editor.text.length : lastOf(editor.text, row));
  },
  "ctrl+left": (editor) => at(editor, wordBefore(editor.text, editor.cursor)),
  "ctrl+right": (editor) => at(editor, wordAfter(editor.text, editor.cursor)),
  "ctrl+home": (editor) => at(editor, 0),
  "ctrl+end": (editor) => at(editor, editor.text.length),
  backspace: (editor) => replaced(editor, before(editor.text, editor.cursor), editor.cursor, ""),
  delete: (editor) => replaced(editor, editor.cursor, after(editor.text, editor.cursor), ""),
  "ctrl+d": (editor) => (editor.text === "" ? undefined : replaced(editor, editor.cursor, after(editor.text, editor.cursor), "")),
  "ctrl+u": (editor) => killed(editor, Math.min(lineStart(editor.text, editor.cursor), before(editor.text, editor.cursor)), editor.cursor),
  "ctrl+k": (editor) => killed(editor, editor.cursor, Math.max(lineEnd(editor.text, editor.cursor), after(editor.text, editor.cursor))),
  "ctrl+w": (editor) => killed(editor, wordBefore(editor.text, editor.cursor), editor.cursor),
  "alt+d": (editor) => killed(editor, editor.cursor, wordAfter(editor.text, editor.cursor)),
  "ctrl+y": (editor) => inserted(editor, editor.killed),
  "ctrl+j": (editor) => inserted(editor, "\n"),
  space: (editor) => inserted(editor, " "),
};

const SAME: Readonly<Record<string, string>> = {
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
  if (event.kind === "paste") return inserted(editor, withPlainLineEnds(event.text).replaceAll("\t", "    "));
  if (event.text !== undefined) return inserted(editor, event.text);
  const key = SAME[event.key] ?? event.key;
  return Object.hasOwn(KEYS, key) ? KEYS[key]?.(editor, width) : undefined;
}

/**
 * What `enter` makes of a text that ends with a backslash, if the cursor is behind it: the backslash becomes a line end.
 * undefined: the text does not go on.
 */
export function continues(editor: Editor): Editor | undefined {
  const end = editor.text.length;
  return editor.cursor === end && editor.text.endsWith("\\") ? replaced(editor, end - 1, end, "\n") : undefined;
}

function at(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor, column: null };
}

function inserted(editor: Editor, more: string): Editor {
  return replaced(editor, editor.cursor, editor.cursor, more);
}

/** What comes together may become one character, as a letter and an accent do; the cursor goes behind it. */
function replaced(editor: Editor, from: number, to: number, by: string): Editor {
  const text = editor.text.slice(0, from) + by + editor.text.slice(to);
  return { ...editor, text, cursor: snapped(text, from + by.length), column: null };
}

/** Cutting nothing keeps what was cut before. */
function killed(editor: Editor, from: number, to: number): Editor {
  return from === to ? at(editor, editor.cursor) : { ...replaced(editor, from, to, ""), killed: editor.text.slice(from, to) };
}

function rowOf({ text, cursor }: Editor, width: number) {
  const rows = rowsOf(text, width);
  return rows[rowAt(rows, cursor)];
}

function vertical(editor: Editor, by: 1 | -1, width: number): Editor | undefined {
  const rows = rowsOf(editor.text, width);
  const here = rowAt(rows, editor.cursor);
  const row = rows[here];
  const target = rows[here + by];
  if (row === undefined || target === undefined) return undefined;
  const column = editor.column ?? columnOf(editor.text, row, editor.cursor, width);
  return { ...editor, cursor: offsetAt(editor.text, target, column), column };
}

/**
 * The editor with what was sent before the entry it shows, its cursor at the end; the same editor at the oldest one.
 * `history` has the newest last. What had been typed is kept as the draft.
 */
export function older(editor: Editor, history: readonly string[]): Editor {
  const at = Math.min(editor.history?.at ?? history.length, history.length) - 1;
  const entry = history[at];
  return entry === undefined ? editor : withText({ ...editor, history: { at, draft: draftOf(editor, history) } }, entry);
}

/** The editor with what was sent after the entry it shows; behind the newest one comes the draft. */
export function newer(editor: Editor, history: readonly string[]): Editor {
  if (editor.history === null) return editor;
  const place: HistoryPlace = { at: editor.history.at + 1, draft: draftOf(editor, history) };
  const entry = history[place.at];
  return entry === undefined ? withText({ ...editor, history: null }, place.draft) : withText({ ...editor, history: place }, entry);
}

/** An old entry that was changed is a draft too, unless there is one already. */
function draftOf({ text, history: place }: Editor, history: readonly string[]): string {
  if (place === null) return text;
  const isChanged = text !== withPlainLineEnds(history[place.at] ?? "");
  return place.draft === "" && isChanged ? text : place.draft;
}
