import { breakLine, splitLines } from "../format/wrap.js";
import type { Line, Style } from "../terminal/line.js";

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
  // Inside a hunk only the first character counts: a removed line may itself start with two dashes.
  let inHunkUntil = 0;
  return lines.flatMap((line, at) => {
    const hunk = at < inHunkUntil ? null : HUNK.exec(line);
    if (hunk !== null) inHunkUntil = hunkEnd(lines, at + 1, Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
    const isHeading = hunk !== null || (at >= inHunkUntil && isHeader(line, lines[at - 1] ?? "", lines[at + 1] ?? ""));
    return breakLine(line, width, isHeading ? "heading" : signStyle(line));
  });
}

function isHeader(line: string, before: string, after: string): boolean {
  if (/^(?:@@|diff --git |\*\*\* )/.test(line)) return true;
  return line.startsWith("--- ") ? after.startsWith("+++ ") : line.startsWith("+++ ") && before.startsWith("--- ");
}

function signStyle(line: string): Style | undefined {
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}
