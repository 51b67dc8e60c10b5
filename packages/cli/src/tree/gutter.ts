import type { Glyphs } from "../terminal/glyphs.js";
import type { RowOrder } from "./row-order.js";
import { NONE } from "./tree-index.js";

/** Columns of one level of indentation. */
export const LEVEL_WIDTH = 3;

/** The gutters of the rows of a layout. Rows below the same branch child share one. */
export class Gutters {
  readonly #order: RowOrder;
  readonly #byBranchChild = new Map<number, Gutter>();

  constructor(order: RowOrder) {
    this.#order = order;
  }

  /** The gutter of the row with a rank, null if no branch point is above it. Constant time. */
  of(rank: number): Gutter | null {
    const branchChild = this.#order.branchChild[rank] ?? NONE;
    if (branchChild === NONE) return null;
    let gutter = this.#byBranchChild.get(branchChild);
    if (gutter === undefined) {
      gutter = new Gutter(this, this.#order, branchChild);
      this.#byBranchChild.set(branchChild, gutter);
    }
    return gutter;
  }
}

/** The lines on the left of a row, innermost level first. Outer levels are computed when read: there may be 50,000 of them. */
export class Gutter {
  /** Whether this branch is the last one of its branch point. */
  readonly isLast: boolean;
  /** How many levels there are, this one included. */
  readonly depth: number;
  readonly #gutters: Gutters;
  readonly #parent: number;

  constructor(gutters: Gutters, { parent, end, level }: RowOrder, branchChild: number) {
    this.#gutters = gutters;
    this.#parent = parent[branchChild] ?? NONE;
    this.isLast = end[branchChild] === (this.#parent === NONE ? end.length - 1 : end[this.#parent]);
    this.depth = level[branchChild] ?? 0;
  }

  /** The next outer level, null: there is none. */
  get above(): Gutter | null {
    return this.#gutters.of(this.#parent);
  }
}

/**
 * The gutter as text. Of more than `maxLevels` levels only the innermost are drawn, after an ellipsis, so that the row's text
 * keeps its width in a deep tree. `startsBranch`: the innermost level is drawn as a connector.
 */
export function gutterText(gutter: Gutter | null, startsBranch: boolean, maxLevels: number, glyphs: Glyphs): string {
  if (gutter === null) return "";
  const isCut = gutter.depth > maxLevels;
  const drawn: string[] = [];
  let level: Gutter | null = gutter;
  for (let left = isCut ? maxLevels - 1 : maxLevels; level !== null && left > 0; left -= 1) {
    drawn.push(levelText(level, level === gutter && startsBranch, glyphs));
    level = level.above;
  }
  if (isCut) drawn.push(glyphs.ellipsis.padEnd(LEVEL_WIDTH));
  return drawn.reverse().join("");
}

function levelText({ isLast }: Gutter, isConnector: boolean, glyphs: Glyphs): string {
  if (isConnector) return isLast ? glyphs.lastBranch : glyphs.branch;
  return isLast ? glyphs.nothing : glyphs.through;
}
