import { removeInvisible } from "@bough/session-core/view";

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
