import { structuredPatch } from "diff";
import { count } from "../format/numbers.js";
import { breakLine, splitLines } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, type Style, styled } from "../terminal/line.js";

const CONTEXT_LINES = 3;

/** Most changed lines: the cost of a diff grows with their square. */
const MAX_EDITS = 1000;

/** Most characters of both texts together. */
const MAX_LENGTH = 400_000;

/** Lines shown of each text that is too large or too different for a diff. */
const MAX_LINES = 1000;

/**
 * Draws the difference of two texts as a unified diff in colors, with 3 lines of context; hunk headers are shown if there
 * are several hunks. Texts that are too large or too different are shown one after the other, at most 1,000 lines of
 * each. Each line fits `width` columns. Equal texts give no lines.
 */
export function diffLines(before: string, after: string, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  if (before === after) return [];
  const hunks = computeHunks(before, after);
  if (hunks === undefined) return [...undiffedLines("-", before, width, glyphs), ...undiffedLines("+", after, width, glyphs)];
  // Excerpts of files seldom end with a newline, so its absence is shown only where the texts differ in it.
  const newlineDiffers = before.endsWith("\n") !== after.endsWith("\n") && before !== "" && after !== "";
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const place = hunks.length === 1 ? [] : [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`];
    const shown = lines.filter((line) => newlineDiffers || !line.startsWith("\\"));
    return [...place, ...shown].flatMap((line) => breakLine(line, width, lineStyle(line)));
  });
}

/** The hunks of a unified diff; undefined if the texts are too large or too different. */
export function computeHunks(before: string, after: string) {
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

/** The start of a text, limited in lines and characters; `more` counts the characters left out. */
function firstLines(text: string): { readonly lines: readonly string[]; readonly more: number } {
  const beginning = text.slice(0, MAX_LENGTH / 4).toWellFormed();
  const lines = splitLines(beginning).slice(0, MAX_LINES);
  const taken = lines.reduce((sum, line) => sum + line.length + 1, 0);
  return { lines, more: Math.max(0, text.length - taken) };
}
