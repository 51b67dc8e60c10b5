import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import { fitted, flowedText } from "./flow.js";
import { blockLines } from "./markdown-blocks.js";
import { markdownTokens } from "./markdown-tokens.js";
import { marksOf, UNICODE_GLYPHS } from "./marks.js";
import { patchLines, patchParts } from "./patch-text.js";

/** Longer texts are shown as they are: nobody reads them as a document, and the lexer would hold the screen up. */
const MAX_LENGTH = 60_000;

/**
 * Markdown for a terminal: headings, emphasis, code, lists, tasks, quotes, tables, links with their addresses; HTML as text;
 * diffs, fenced or not, in colours. Line breaks stay where they were written. Each line fits `width` columns (at least 2).
 * Never throws; what is nested too deeply or longer than 60,000 characters is plain wrapped text. Cost: about the length
 * of the text. `loadExactWidths` goes before it.
 */
export function markdownLines(text: string, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  if (text.trim() === "") return [];
  const lines: Line[] = [];
  for (const part of patchParts(text)) {
    const drawn = part.kind === "patch" ? patchLines(part.text, width) : documentLines(part.text, width, glyphs);
    if (lines.length > 0 && drawn.length > 0) lines.push([]);
    for (const line of drawn) for (const one of fitted(line, width)) lines.push(one);
  }
  return lines;
}

function documentLines(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  if (text.length > MAX_LENGTH) return flowedText(text, width);
  try {
    return blockLines(markdownTokens(text), width, marksOf(glyphs));
  } catch (error) {
    // Text that the library cannot take, whatever the reason, is still text; everything else is our own mistake.
    if (!(error instanceof RangeError)) throw error;
    return flowedText(text, width);
  }
}
