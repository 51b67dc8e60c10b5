import type { Glyphs } from "../terminal/glyphs.js";
import type { Gutter } from "./walk.js";

/** Columns that one level of branches takes. */
export const LEVEL_WIDTH = 3;

/**
 * The lines on the left of a row. Where there are more than `mostLevels`, only the deepest are drawn, behind an
 * ellipsis, so that the text keeps its room however deep the tree is (regression R184).
 */
export function gutterText(gutter: Gutter | null, starts: boolean, mostLevels: number, glyphs: Glyphs): string {
  if (gutter === null) return "";
  const isCut = gutter.depth > mostLevels;
  const drawn: string[] = [];
  let level: Gutter | null = gutter;
  for (let left = isCut ? mostLevels - 1 : mostLevels; level !== null && left > 0; left -= 1) {
    drawn.push(levelText(level, level === gutter && starts, glyphs));
    level = level.above;
  }
  if (isCut) drawn.push(glyphs.ellipsis.padEnd(LEVEL_WIDTH));
  return drawn.reverse().join("");
}

function levelText({ isLast }: Gutter, isConnector: boolean, glyphs: Glyphs): string {
  if (isConnector) return isLast ? glyphs.lastBranch : glyphs.branch;
  return isLast ? glyphs.nothing : glyphs.through;
}
