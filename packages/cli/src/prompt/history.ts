import type { Editor } from "./editor.js";
export interface HistoryPlace {
  readonly at: number;
  readonly draft: string;
}
export function older(editor: Editor, history: readonly string[]): Editor {
  const at = (editor.history?.at ?? history.length) - 1;
  const text = history[at];
  if (text === undefined) return editor;
  return { ...editor, text, cursor: text.length, history: { at, draft: editor.history?.draft ?? editor.text } };
}
export function newer(editor: Editor, history: readonly string[]): Editor {
  if (editor.history === null) return editor;
  const at = editor.history.at + 1;
  const text = history[at] ?? editor.history.draft;
  return { ...editor, text, cursor: text.length, history: at >= history.length ? null : { ...editor.history, at } };
}
