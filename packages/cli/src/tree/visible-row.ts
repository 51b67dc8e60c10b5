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
