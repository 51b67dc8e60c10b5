/** Longest title, label or leaf name, in UTF-16 code units. */
const MAX_LENGTH = 500;

/**
 * A name on one line: white space and control characters become single spaces, lone halves of surrogate pairs U+FFFD
 * (regression R27: a line break in a name broke line-based storage and screens).
 */
export function singleLine(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.slice(0, MAX_LENGTH).toWellFormed();
}

// Zero-width characters but the joiners that scripts and emoji need, marks of the writing direction, fillers, tags.
const HIDDEN =
  /\u034f|[\u180b-\u180f]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The name of a leaf: a single line without hidden characters, as it is typed after `@` and two that look alike are one. */
export function leafName(text: string): string {
  return singleLine(text.replace(HIDDEN, ""));
}
