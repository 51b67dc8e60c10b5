// Offsets of a text in UTF-16 code units. Only the line around an offset is read: a pasted text may be long, and no grapheme spans a line end.
import { graphemesOf } from "./graphemes.js";

/** The start of the line that contains an offset. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** The end of the line that contains an offset, before its `\n`. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** The start of the grapheme cluster before an offset; 0 at the start of the text. */
export function graphemeBefore(text: string, offset: number): number {
  const from = lineStart(text, offset);
  return offset === from ? Math.max(offset - 1, 0) : from + boundaryBefore(text.slice(from, lineEnd(text, offset)), offset - from);
}

/** The end of the grapheme cluster at an offset; the end of the text at its end. */
export function graphemeAfter(text: string, offset: number): number {
  const from = lineStart(text, offset);
  const to = lineEnd(text, offset);
  return offset === to ? Math.min(offset + 1, text.length) : from + boundaryFrom(text.slice(from, to), offset - from + 1);
}

/** The offset itself at a grapheme boundary, otherwise the next boundary. */
export function snapToGrapheme(text: string, offset: number): number {
  const from = lineStart(text, offset);
  return from + boundaryFrom(text.slice(from, lineEnd(text, offset)), offset - from);
}

/** The start of the word before an offset. Words are separated by whitespace. */
export function wordBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && isSpace(text, at - 1)) at -= 1;
  while (at > 0 && !isSpace(text, at - 1)) at -= 1;
  return at === offset || snapToGrapheme(text, at) === at ? at : graphemeBefore(text, at);
}

/** The end of the word after an offset. */
export function wordAfter(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && isSpace(text, at)) at += 1;
  while (at < text.length && !isSpace(text, at)) at += 1;
  return snapToGrapheme(text, at);
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}

function boundaryBefore(line: string, offset: number): number {
  let stop = 0;
  for (const { index } of graphemesOf(line)) {
    if (index >= offset) break;
    stop = index;
  }
  return stop;
}

/** The first grapheme boundary at or after an offset. */
function boundaryFrom(line: string, offset: number): number {
  if (offset <= 0) return 0;
  for (const { index } of graphemesOf(line)) if (index >= offset) return index;
  return line.length;
}
