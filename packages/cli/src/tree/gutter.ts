import type { Glyphs } from "../terminal/glyphs.js";
import type { Placement } from "./row-order.js";
import { NONE } from "./tree-index.js";
import type { Gutter } from "./visible-tree.js";

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

/** The lines on the left of a row below branch point, level by level as they are asked for: it may be very deep. */
export class RowGutter implements Gutter {
  readonly isLast: boolean;
  readonly depth: number;
  #above: Gutter | null | undefined;

  private constructor(
    private readonly placement: Placement,
    private readonly head: number,
  ) {
    const { up, end, level } = placement;
    const parent = up[head] ?? NONE;
    this.isLast = end[head] === (parent === NONE ? end.length - 1 : end[parent]);
    this.depth = level[head] ?? 0;
  }

  /** The gutter of the row at a pos, null where there are no lines. Constant. */
  static of(placement: Placement, pos: number): Gutter | null {
    const head = placement.head[pos] ?? NONE;
    return head === NONE ? null : new RowGutter(placement, head);
  }

  get above(): Gutter | null {
    if (this.#above === undefined) this.#above = RowGutter.of(this.placement, this.placement.up[this.head] ?? NONE);
    return this.#above;
  }
}
