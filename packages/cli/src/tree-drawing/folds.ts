import type { Gutter, PlacedRow } from "./walk.js";

/** Runs up to this length are drawn whole. */
export const LONGEST_RUN = 12;

/** How many rows of a folded run stay at each of its ends. */
const KEPT = 4;

/** A stretch of rows that is told instead of drawn. */
export interface FoldedRows {
  readonly kind: "fold";
  /** Indices of the rows that are not drawn. */
  readonly rows: readonly number[];
  readonly gutter: Gutter | null;
}

/**
 * Folds the middle of long runs: rows one below the other without a branch point between them. Landmarks (leaves,
 * labels, summaries) are never folded away and end a run.
 */
export function folded(placed: readonly PlacedRow[], isLandmark: (at: number) => boolean): readonly (PlacedRow | FoldedRows)[] {
  const drawn: (PlacedRow | FoldedRows)[] = [];
  let run: PlacedRow[] = [];
  const endRun = () => {
    for (const row of foldedRun(run)) drawn.push(row);
    run = [];
  };
  for (const row of placed) {
    if (row.starts) endRun();
    if (isLandmark(row.at)) {
      endRun();
      drawn.push(row);
    } else run.push(row);
  }
  endRun();
  return drawn;
}

function foldedRun(run: readonly PlacedRow[]): readonly (PlacedRow | FoldedRows)[] {
  const [first] = run;
  if (run.length <= LONGEST_RUN || first === undefined) return run;
  const middle = run.slice(KEPT, -KEPT);
  return [...run.slice(0, KEPT), { kind: "fold", rows: middle.map(({ at }) => at), gutter: first.gutter }, ...run.slice(-KEPT)];
}
