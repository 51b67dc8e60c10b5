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
