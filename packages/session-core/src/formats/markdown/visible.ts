// Escape sequences as a whole: without its ESC, the rest of a colour code would stand in the text as `[31m`.
// An operating system command counts only when it is closed, or a lone ESC ] would take the rest of the line.
const ESCAPE_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Text without what a page or a terminal would obey instead of show: control characters but tab and line feed,
 * escape sequences, overrides of the writing direction. Every kind of line end becomes a line feed.
 *
 * @example
 * visible("\u001b[31mred\u001b[0m\r\n"); // "red\n"
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCE, "")
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(UNSEEN, "");
}

/** Visible text on one line, runs of white space as one space. */
export function onOneLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}

/** One line of visible text in which no character means anything to Markdown. */
export function escapedLine(text: string): string {
  return onOneLine(text).replace(/[\\`*_[\]<>#|~&!$]/g, "\\$&");
}

/** One line of visible text in which no character means anything to HTML. */
export function htmlLine(text: string): string {
  return onOneLine(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
