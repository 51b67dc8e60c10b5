import { countUpTo } from "./sorted.js";

/**
 * The ranges of positions that folds hide: apart from each other, in order, each right below the row that is folded.
 * A `pos` counts all rows of a layout, a `position` those that are not folded away.
 */
export class FoldedRanges {
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  // By range: what its first row would have as a position, which the row after the range has.
  readonly #position: number[] = [];
  /** How many rows are hidden. */
  readonly hidden: number;

  /** From the positions of folded rows in order, and the end of each row's subtree. Linear in the number of folds. */
  constructor(folded: Iterable<number>, end: Int32Array) {
    let hidden = 0;
    let lastHidden = -1;
    for (const pos of folded) {
      const last = end[pos] ?? pos;
      // What is inside another fold, or has nothing below it, hides nothing.
      if (pos <= lastHidden || last === pos) continue;
      this.#first.push(pos + 1);
      this.#last.push(last);
      this.#position.push(pos + 1 - hidden);
      hidden += last - pos;
      lastHidden = last;
    }
    this.hidden = hidden;
  }

  /** The row that is seen for one: itself, or the folded row it is folded into. O(log folds). */
  seen(pos: number): number {
    const range = countUpTo(this.#first, pos) - 1;
    return pos <= (this.#last[range] ?? -1) ? (this.#first[range] ?? 0) - 1 : pos;
  }

  /** The position of a row that is seen. O(log folds). */
  positionOf(pos: number): number {
    return pos - this.#hiddenBy(countUpTo(this.#first, pos));
  }

  /** The row at a position. O(log folds). */
  posAt(position: number): number {
    return position + this.#hiddenBy(countUpTo(this.#position, position));
  }

  /** The next row that is seen, downwards (1) or upwards (-1); it may be beyond the ends. O(log folds). */
  step(pos: number, direction: 1 | -1): number {
    if (direction === -1) return this.seen(pos - 1);
    const range = countUpTo(this.#first, pos + 1) - 1;
    return pos + 1 <= (this.#last[range] ?? -1) ? (this.#last[range] ?? pos) + 1 : pos + 1;
  }

  /** How many rows the first `ranges` ranges hide. */
  #hiddenBy(ranges: number): number {
    const last = ranges - 1;
    return last < 0 ? 0 : (this.#last[last] ?? 0) + 1 - (this.#position[last] ?? 0);
  }
}
