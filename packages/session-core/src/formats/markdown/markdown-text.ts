// Whole escape sequences: without its ESC, the rest of a color code would remain as `[31m`. An operating system command
// matches only if it is closed; otherwise a lone ESC ] would match the rest of the line.
const ESCAPE_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

// Control characters but tab and line feed; marks, embeddings and isolates of the writing direction; zero-width characters
// but the joiners that scripts and emoji need; fillers; tags and rare variation selectors, which can hide a whole text.
const INVISIBLE =
  /\u034f|[\u180b-\u180f]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/**
 * Removes characters that a page or a terminal would interpret or hide: control characters except tab and line feed, escape
 * sequences, marks of the writing direction, invisible characters. Every kind of line end becomes a line feed.
 *
 * @example
 * removeInvisible("\u001b[31mred\u001b[0m\r\n"); // "red\n"
 */
export function removeInvisible(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCE, "")
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(INVISIBLE, "");
}

/** Visible text on one line, runs of white space as one space. */
function toVisibleLine(text: string): string {
  return removeInvisible(text).replace(/\s+/g, " ").trim();
}

// GFM turns bare addresses into links and reads a backslash as part of the address, which undoes the escape after it:
// `www.a.example\<img>`. So addresses are broken up, and characters of HTML become entities.
const IN_MARKDOWN: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "://": ":&#47;/" };

/** Escapes a text for one line of Markdown (CommonMark and GFM). */
export function escapeMarkdown(text: string): string {
  return toVisibleLine(text).replace(
    /:\/\/|(?<=www)\.|[\\`*_[\]<>#|~&!$@]/gi,
    (found) => IN_MARKDOWN[found] ?? (found === "." ? "&#46;" : `\\${found}`),
  );
}

/** Escapes a text for one line of HTML. */
export function escapeHtml(text: string): string {
  return toVisibleLine(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** A code block. Its fence is longer than any run of backticks in the text. */
export function fenceCode(text: string, language = ""): string {
  return fenceLines(removeInvisible(text).replace(/\n$/, "").split("\n"), language).join("\n");
}

/** The lines of a code block with its fence. The lines must contain no invisible characters. */
export function fenceLines(lines: readonly string[], language: string): readonly string[] {
  const fence = "`".repeat(lines.reduce((length, line) => Math.max(length, longestRun(line) + 1), 3));
  return [`${fence}${infoWord(language)}`, ...lines, fence];
}

/** Text as code inside a line. */
export function toCodeSpan(text: string): string {
  const line = toVisibleLine(text);
  if (!line.includes("`")) return line === "" ? "" : `\`${line}\``;
  const ticks = "`".repeat(longestRun(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

/**
 * The language of a file for a renderer: the extension, or the whole name if it has none.
 *
 * @example
 * languageOfFile("src/a.ts"); // "ts"
 */
export function languageOfFile(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

// Only the first word of an info string names the language.
function infoWord(language: string): string {
  const word = language.trim().split(/\s/)[0] ?? "";
  return /^[\w+#.-]{1,30}$/.test(word) ? word : "";
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
