import { countUpTo } from "./binary-search.js";

/** The rows whose subtrees are folded away, by place in the index. Never changes: each change is a new one, linear in its size. */
export class Folds implements Iterable<number> {
  /** Nothing is folded. */
  static readonly none: Folds = new Folds(new Set());

  readonly #rows: ReadonlySet<number>;

  private constructor(rows: ReadonlySet<number>) {
    this.#rows = rows;
  }

  /** These rows folded. */
  static of(rows: Iterable<number>): Folds {
    return Folds.none.#with(new Set(rows));
  }

  /** How many rows are folded. */
  get size(): number {
    return this.#rows.size;
  }

  /** Whether this row is folded itself; whether it is seen is another question. */
  isFolded(at: number): boolean {
    return this.#rows.has(at);
  }

  /** Folds a row, or unfolds it. */
  toggle(at: number): Folds {
    return this.isFolded(at) ? this.unfold([at]) : this.fold(at);
  }

  /** With this row folded. */
  fold(at: number): Folds {
    return this.isFolded(at) ? this : this.#with(new Set(this.#rows).add(at));
  }

  /** Without these rows. */
  unfold(rows: Iterable<number>): Folds {
    const left = new Set(this.#rows);
    for (const at of rows) left.delete(at);
    return left.size === this.size ? this : this.#with(left);
  }

  /** Nothing is folded any more. */
  clear(): Folds {
    return Folds.none;
  }

  /** The folded rows, in no order. */
  [Symbol.iterator](): Iterator<number> {
    return this.#rows[Symbol.iterator]();
  }

  #with(rows: ReadonlySet<number>): Folds {
    return rows.size === 0 ? Folds.none : new Folds(rows);
  }
}

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
