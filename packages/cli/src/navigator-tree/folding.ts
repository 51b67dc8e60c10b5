import type { Folds } from "./folds.js";
import type { Layout } from "./layout.js";

/** Where the selection is after a key, and what is folded then. */
export interface FoldStep {
  readonly at: number;
  readonly folds: Folds;
}

/**
 * To the left: folds the segment of a row, at whose start the selection then is. Where that is folded already, or has
 * nothing below its start, goes to the start of the segment above. At the very top nothing changes.
 */
export function foldOrJump(layout: Layout, at: number, folds: Folds): FoldStep {
  const start = layout.segmentStart(at);
  if (layout.hasBelow(start) && !folds.isFolded(start)) return { at: start, folds: folds.fold(start) };
  return { at: layout.previousSegment(start), folds };
}

/** To the right: unfolds a row that is folded, else goes to the next segment start; below the last one, to the last row. */
export function unfoldOrJump(layout: Layout, at: number, folds: Folds): FoldStep {
  if (layout.hasBelow(at) && folds.isFolded(at)) return { at, folds: folds.unfold([at]) };
  return { at: layout.nextSegment(at, folds), folds };
}
