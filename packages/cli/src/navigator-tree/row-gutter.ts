import type { Gutter } from "../tree-drawing/walk.js";
import type { Placement } from "./placement.js";
import { NONE } from "./tree-index.js";

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
