import { count } from "@bough/session-core/view";
import { structuredPatch } from "diff";
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
  return hunks.flatMap(({ place, lines }) =>
    (hunks.length === 1 ? lines : [place, ...lines]).flatMap((line) => breakLine(line, width, signStyle(line))),
  );
}

/** A part of a difference: its header, and its lines with their signs. */
interface Hunk {
  readonly place: string;
  readonly lines: readonly string[];
}

/** The hunks of a unified diff; undefined if the texts are too large or too different. */
export function computeHunks(before: string, after: string): readonly Hunk[] | undefined {
  if (before.length + after.length > MAX_LENGTH) return undefined;
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS };
  // Excerpts of files seldom end with a newline, so its absence is shown only where the texts differ in it.
  const newlineDiffers = before.endsWith("\n") !== after.endsWith("\n") && before !== "" && after !== "";
  return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) => ({
      place: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      lines: lines.filter((line) => newlineDiffers || !line.startsWith("\\")),
    }),
  );
}

/** The style of a line of a hunk by its first character, which is its sign, or that of a header. */
export function signStyle(line: string): Style | undefined {
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
  const shown = lines.flatMap((line) => breakLine(`${sign}${line}`, width, signStyle(sign)));
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

/** A part of a text: a unified diff, or the text around diffs. */
interface TextPart {
  readonly kind: "text" | "patch";
  readonly text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADER =
  /^(?:diff --git |index [0-9a-f]|(?:old|new|deleted file|new file) mode |similarity index |rename |copy |Binary files |--- |\+\+\+ )/;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Splits a text into unified diffs (of Git or `diff -u`, delimited by their headers and the line counts of their hunks) and the
 * text around them. Fenced Markdown code is text. Linear in the length of the text.
 */
export function patchParts(text: string): readonly TextPart[] {
  if (!/^@@ -\d/m.test(text)) return [{ kind: "text", text }];
  const lines = text.split(/\r?\n/);
  const parts: TextPart[] = [];
  let start = 0;
  const take = (kind: TextPart["kind"], end: number) => {
    if (end > start) parts.push({ kind, text: lines.slice(start, end).join("\n") });
    start = end;
  };
  let fence: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    fence = fenceAfter(fence, lines[at] ?? "");
    const end = fence === undefined ? patchEnd(lines, at) : at;
    if (end === at) continue;
    take("text", at);
    take("patch", end);
    at = end - 1;
  }
  take("text", lines.length);
  return parts;
}

/** The fence that is open after this line. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  const mark = FENCE.exec(line)?.[1];
  if (mark === undefined) return open;
  if (open === undefined) return mark;
  return mark.startsWith(open) ? undefined : open;
}

/** The end of the diff that starts at a line (exclusive); `start` itself if none starts there. */
function patchEnd(lines: readonly string[], start: number): number {
  if (!startsPatch(lines, start)) return start;
  let at = start;
  while (at < lines.length) {
    const hunk = HUNK.exec(lines[at] ?? "");
    if (hunk === null && !HEADER.test(lines[at] ?? "")) break;
    at = hunk === null ? at + 1 : hunkEnd(lines, at + 1, Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
  }
  return at;
}

function startsPatch(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.startsWith("diff --git ")) return true;
  return line.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ") && HUNK.test(lines[at + 2] ?? "");
}

function hunkEnd(lines: readonly string[], start: number, before: number, after: number): number {
  let [old, added, at] = [before, after, start];
  for (; at < lines.length && (old > 0 || added > 0 || (lines[at] ?? "").startsWith("\\")); at += 1) {
    const sign = (lines[at] ?? "").charAt(0);
    if (!"-+ \\".includes(sign)) break;
    if (sign !== "+" && sign !== "\\") old -= 1;
    if (sign !== "-" && sign !== "\\") added -= 1;
  }
  return at;
}

/** Draws a diff or patch with colors for added lines, removed lines and headers. */
export function patchLines(text: string, width: number): readonly Line[] {
  const lines = splitLines(text);
  const styles = patchStyles(lines);
  return lines.flatMap((line, at) => breakLine(line, width, styles[at]));
}

/** The styles of the lines of a diff or patch: those of added lines, removed lines and headers. */
export function patchStyles(lines: readonly string[]): readonly (Style | undefined)[] {
  // Inside a hunk only the first character counts: a removed line may itself start with two dashes.
  let inHunkUntil = 0;
  return lines.map((line, at) => {
    const hunk = at < inHunkUntil ? null : HUNK.exec(line);
    if (hunk !== null) inHunkUntil = hunkEnd(lines, at + 1, Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
    const isHeading = hunk !== null || (at >= inHunkUntil && isHeader(line, lines[at - 1] ?? "", lines[at + 1] ?? ""));
    return isHeading ? "heading" : /^[-+]/.test(line) ? signStyle(line) : undefined;
  });
}

function isHeader(line: string, before: string, after: string): boolean {
  if (/^(?:@@|diff --git |\*\*\* )/.test(line)) return true;
  return line.startsWith("--- ") ? after.startsWith("+++ ") : line.startsWith("+++ ") && before.startsWith("--- ");
}
