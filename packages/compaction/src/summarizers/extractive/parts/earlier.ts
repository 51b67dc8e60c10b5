import { cleanText } from "../../../text/clean-text.js";
import { type Material, oldLines } from "../material.js";
import { type Line, MARKER } from "../outline.js";
import { isUnderline, safeLine } from "../safe-line.js";

const LINE_CHARS = 500;
/** A line cut shorter than this says nothing. */
const LEAST = 40;
const CUT = "[... the middle of this summary is left out ...]";

/**
 * Summaries that a model or a program wrote, line by line and without their middle where they are too long. Their headings
 * become bold, so that they cannot be taken for ours.
 */
export function earlierLines(material: Material): readonly Line[] {
  const { earlier, limits } = material;
  const given = [...oldLines(material, "earlier"), ...earlier.flatMap(linesOf)];
  return withoutMiddle(given, limits.earlierChars).map((text, at) => ({ text, rank: 10 + at / 100 }));
}

function linesOf(summary: string): readonly string[] {
  return cleanText(summary)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith(MARKER) && !isUnderline(line) && !/^\s*(?:```|~~~)/.test(line))
    .map((line) => safeLine(line.replace(/^\s*#{1,6}\s+(.*?)\s*#*$/, "**$1**"), LINE_CHARS))
    .filter((line) => line !== "");
}

function withoutMiddle(lines: readonly string[], maxChars: number): readonly string[] {
  const all = lines.filter((line) => line !== CUT);
  if (sizeOf(all) <= maxChars) return lines;
  const half = (maxChars - CUT.length) / 2;
  const head = take(all, half);
  const tail = take(all.slice(head.length).reverse(), half).reverse();
  return [...head, CUT, ...tail];
}

function take(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    const text = line.length + 1 <= left ? line : safeLine(line, Math.max(0, left - 1));
    if (text.length < Math.min(line.length, LEAST)) break;
    left -= text.length + 1;
    taken.push(text);
  }
  return taken;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
