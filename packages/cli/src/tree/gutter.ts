import type { Glyphs } from "../terminal/glyphs.js";
import type { VisibleRow } from "./visible-row.js";

/** Columns of one level of indentation. */
export const LEVEL_WIDTH = 3;

/** The place of a row in the graph. `level`: the number of nested side branches that contain it. */
export type GutterPlace = Pick<VisibleRow, "level" | "startsBranch" | "isFirst" | "isOnPath">;

/**
 * Draws the graph at the left of a row. In the first column: the mark of the leaf's path, or nothing below the leaf. In a side branch:
 * one line for each column that continues below it, the innermost one drawn as a connector in the first row of the branch. Of more than
 * `maxLevels` levels only the innermost are drawn, after an ellipsis, so that the row's text keeps its width in a deep tree.
 */
export function gutterText({ level, startsBranch, isFirst, isOnPath }: GutterPlace, maxLevels: number, glyphs: Glyphs): string {
  if (level === 0) return isOnPath ? glyphs.onPath : " ";
  const innermost = !startsBranch ? glyphs.through : isFirst ? glyphs.firstBranch : glyphs.branch;
  if (level <= maxLevels) return glyphs.through.repeat(level - 1) + innermost;
  return glyphs.ellipsis.padEnd(LEVEL_WIDTH) + (maxLevels > 1 ? glyphs.through.repeat(maxLevels - 2) + innermost : "");
}
