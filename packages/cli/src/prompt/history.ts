import { type Editor, type HistoryPlace, withPlainLineEnds, withText } from "./editor-state.js";

export type { HistoryPlace } from "./editor-state.js";

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
