import type { TerminalEvent } from "../tui/event.js";
import { editField } from "../tui/field.js";
import type { HistoryPlace } from "./history.js";
export interface Editor {
  readonly text: string;
  readonly cursor: number;
  readonly column: number | null;
  readonly killed: string;
  readonly history: HistoryPlace | null;
}
export function editorOf(text = ""): Editor {
  return { text, cursor: text.length, column: null, killed: "", history: null };
}
export function edit(editor: Editor, event: TerminalEvent, _width: number): Editor | undefined {
  if (event.kind === "resize") return undefined;
  if (event.kind === "paste") return inserted(editor, event.text);
  if (event.key === "alt+enter" || event.key === "ctrl+j" || event.key === "shift+enter") return inserted(editor, "\n");
  const field = editField({ text: editor.text, cursor: editor.cursor }, event);
  return field === undefined ? undefined : { ...editor, ...field };
}
function inserted(editor: Editor, more: string): Editor {
  return {
    ...editor,
    text: editor.text.slice(0, editor.cursor) + more + editor.text.slice(editor.cursor),
    cursor: editor.cursor + more.length,
  };
}
export function continues(editor: Editor): Editor | undefined {
  if (!editor.text.endsWith("\\") || editor.cursor !== editor.text.length) return undefined;
  const text = `${editor.text.slice(0, -1)}\n`;
  return { ...editor, text, cursor: text.length };
}
