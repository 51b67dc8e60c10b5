import type { CallSummary } from "./groups.js";

/** What a folded group is drawn as. */
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
  /** How many side branches the row is in, one inside the other: 0 on the leaf's path. */
  readonly level: number;
  /** Whether the row is the first one of a side branch. */
  readonly startsBranch: boolean;
  /** Whether it is the first row of all. */
  readonly isFirst: boolean;
  readonly isOnPath: boolean;
  /** How many shown branches leave the row; 0: it is no branch point. */
  readonly branches: number;
  readonly isHit: boolean;
  /** The rows that are drawn as this one; null: it is a row by itself. */
  readonly group: DrawnGroup | null;
  /** `foldable`: it starts a side branch and has rows below it, or it is the first one of an unfolded group of calls. */
  readonly fold: "folded" | "foldable" | "none";
  /** How many rows its fold hides; 0: it is not folded. */
  readonly hiddenBelow: number;
}
