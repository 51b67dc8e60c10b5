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
