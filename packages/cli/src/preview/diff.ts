import { structuredPatch } from "diff";
import { count } from "../format/numbers.js";
import { breakLine, splitLines } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, type Style, styled } from "../terminal/line.js";

/** Unchanged lines that are shown around a change. */
const CONTEXT_LINES = 3;

/** Lines that differ; texts that differ in more are shown one after the other, because comparing takes the square of it. */
const MAX_EDITS = 1000;

/** Characters of both texts together that are compared. */
const MAX_LENGTH = 400_000;

/** Lines of a text that are shown where two are too large or too different to be compared. */
const MAX_LINES = 1000;

/**
 * What was changed between two texts: a unified diff with 3 lines of context, coloured, and the places of its hunks where it
 * has several. Each line fits `width` columns. Texts that are too large or too different to be compared are shown one
 * after the other, at most 1,000 lines of each. No lines: they are equal.
 */
export function diffLines(before: string, after: string, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  if (before === after) return [];
  const hunks = computeHunks(before, after);
  if (hunks === undefined) return [...undiffedLines("-", before, width, glyphs), ...undiffedLines("+", after, width, glyphs)];
  // Pieces of files seldom end with a newline; only a difference in that is worth a line.
  const newlineDiffers = before.endsWith("\n") !== after.endsWith("\n") && before !== "" && after !== "";
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const place = hunks.length === 1 ? [] : [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`];
    const shown = lines.filter((line) => newlineDiffers || !line.startsWith("\\"));
    return [...place, ...shown].flatMap((line) => breakLine(line, width, lineStyle(line)));
  });
}

function computeHunks(before: string, after: string) {
  if (before.length + after.length > MAX_LENGTH) return undefined;
  return structuredPatch("", "", before, after, undefined, undefined, { context: CONTEXT_LINES, maxEditLength: MAX_EDITS })?.hunks;
}

function lineStyle(line: string): Style | undefined {
  switch (line.charAt(0)) {
    case "@":
      return "heading";
    case "+":
      return "added";
    case "-":
      return "removed";
    case "\\":
      return "dim";
    default:
      return undefined;
  }
}

function undiffedLines(sign: "-" | "+", text: string, width: number, glyphs: Glyphs): readonly Line[] {
  if (text === "") return [];
  const { lines, more } = firstLines(text);
  const shown = lines.flatMap((line) => breakLine(`${sign}${line}`, width, lineStyle(sign)));
  if (more === 0) return shown;
  const note = `${glyphs.ellipsis} ${count(more)} more characters`;
  return [...shown, ...breakLine(note, width).map((line): Line => [styled("dim", line.join(""))])];
}

/** The beginning of a text, by lines and by characters. */
function firstLines(text: string): { readonly lines: readonly string[]; readonly more: number } {
  const beginning = text.slice(0, MAX_LENGTH / 4).toWellFormed();
  const lines = splitLines(beginning).slice(0, MAX_LINES);
  const taken = lines.reduce((sum, line) => sum + line.length + 1, 0);
  return { lines, more: Math.max(0, text.length - taken) };
}
