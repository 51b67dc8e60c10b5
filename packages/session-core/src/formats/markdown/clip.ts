/** The most that is shown of a text; `characters` in UTF-16 code units. */
export interface Limit {
  readonly lines: number;
  readonly characters: number;
}

/** A text as far as it is shown, and the words that say what is missing. */
export interface Clipped {
  readonly text: string;
  /** null: nothing is missing. */
  readonly missing: string | null;
}

/** The start of the text, within the limit (null: none), never ending inside a surrogate pair. */
export function clipped(text: string, limit: Limit | null): Clipped {
  if (limit === null) return { text, missing: null };
  const end = Math.min(endOfLine(text, limit.lines), wholeEnd(text, limit.characters));
  if (text.slice(end).trim() === "") return { text: text.slice(0, end), missing: null };
  const shown = text.slice(0, end);
  const lines = count(text, "\n") - count(shown, "\n");
  const rest = `${grouped(text.length - end)} more characters`;
  return { text: shown, missing: lines > 0 ? `${grouped(lines)} more ${lines === 1 ? "line" : "lines"}, ${rest}` : rest };
}

/** Where the given number of lines ends, without its line break. */
function endOfLine(text: string, lines: number): number {
  let at = -1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text.length;
  }
  return at;
}

function wholeEnd(text: string, length: number): number {
  if (text.length <= length) return text.length;
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found++;
  return found;
}

function grouped(value: number): string {
  return value.toLocaleString("en-US");
}
