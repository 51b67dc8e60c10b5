import type { Glyphs } from "../terminal/glyphs.js";
import type { CallSummary } from "./groups.js";

/** The facts with which a folded group is drawn. */
export type DrawnGroup =
  | ({ readonly kind: "calls" } & CallSummary)
  /** `count` side branches of one branch point. */
  | { readonly kind: "branches"; readonly count: number };

/** A row as it is drawn. */
export interface VisibleRow {
  /** Its row number; of replies that are drawn as one row the last one. */
  readonly at: number;
  /** Counted from 0 among the visible rows. */
  readonly position: number;
  /** Number of nested side branches that contain the row: 0 on the leaf's path. */
  readonly level: number;
  /** True if the row is the first one of a side branch. */
  readonly startsBranch: boolean;
  /** True if it is the first row of all. */
  readonly isFirst: boolean;
  readonly isOnPath: boolean;
  /** Number of shown branches that leave the row; 0: it is no branch point. */
  readonly branches: number;
  readonly isHit: boolean;
  /** The rows that are drawn as this one; null: it is a row by itself. */
  readonly group: DrawnGroup | null;
  /** `foldable`: it starts a side branch and has rows below it, or it is the first one of an unfolded group of calls. */
  readonly fold: "folded" | "foldable" | "none";
  /** Number of rows that its fold hides; 0: it is not folded. */
  readonly hiddenBelow: number;
}

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
