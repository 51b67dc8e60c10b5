import { type Editor, editorOf } from "./editor.js";

/** What was sent before this; at the oldest one nothing changes. What is being typed is kept. `history`: newest last. */
export function older(editor: Editor, history: readonly string[]): Editor {
  const at = (editor.history?.at ?? history.length) - 1;
  const text = history[at];
  return text === undefined ? editor : from(editor, text, { at, draft: editor.history?.draft ?? editor.text });
}

/** What was sent after this, and at last what was being typed. */
export function newer(editor: Editor, history: readonly string[]): Editor {
  if (editor.history === null) return editor;
  const { at, draft } = editor.history;
  const text = history[at + 1];
  return text === undefined ? from(editor, draft, null) : from(editor, text, { at: at + 1, draft });
}

function from(editor: Editor, text: string, history: Editor["history"]): Editor {
  return { ...editorOf(text), killed: editor.killed, history };
}
