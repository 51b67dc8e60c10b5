import { onOneLine, visible } from "./visible.js";

/** The text as a block of code. The fence is longer than any run of backticks inside, so nothing in the text ends it. */
export function fenced(text: string, language = ""): string {
  return fencedLines(visible(text).replace(/\n$/, "").split("\n"), language).join("\n");
}

/** The lines of a block of code, with those of its fence. They must be visible text. */
export function fencedLines(lines: readonly string[], language: string): readonly string[] {
  const fence = "`".repeat(lines.reduce((length, line) => Math.max(length, longestRun(line) + 1), 3));
  return [`${fence}${infoWord(language)}`, ...lines, fence];
}

/** Text as code inside a line. */
export function codeSpan(text: string): string {
  const line = onOneLine(text);
  if (!line.includes("`")) return line === "" ? "" : `\`${line}\``;
  const ticks = "`".repeat(longestRun(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

/**
 * The word that names the language of a file to a renderer: its extension, or its whole name where it has none.
 *
 * @example
 * languageOf("src/a.ts"); // "ts"
 */
export function languageOf(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

// The rest of an info string means something only to the program that wrote it.
function infoWord(language: string): string {
  const word = language.trim().split(/\s/)[0] ?? "";
  return /^[\w+#.-]{1,30}$/.test(word) ? word : "";
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
