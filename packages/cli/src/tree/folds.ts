import { countAtMost } from "./binary-search.js";

/** The rows whose subtrees are folded, by row number. Immutable: each change returns a new one, linear in its size. */
export class Folds implements Iterable<number> {
  /** No row is folded. */
  static readonly none: Folds = new Folds([]);

  readonly #rows: ReadonlySet<number>;

  constructor(rows: Iterable<number>) {
    this.#rows = new Set(rows);
  }

  /** How many rows are folded. */
  get size(): number {
    return this.#rows.size;
  }

  /** Whether this row itself is folded. Another fold may hide it. */
  isFolded(at: number): boolean {
    return this.#rows.has(at);
  }

  /** Folds a row, or unfolds it. */
  toggle(at: number): Folds {
    return this.isFolded(at) ? this.unfold([at]) : this.fold(at);
  }

  /** With this row folded. */
  fold(at: number): Folds {
    return this.isFolded(at) ? this : new Folds([...this.#rows, at]);
  }

  /** Without these rows. */
  unfold(rows: Iterable<number>): Folds {
    const left = new Set(this.#rows);
    for (const at of rows) left.delete(at);
    if (left.size === this.size) return this;
    return left.size === 0 ? Folds.none : new Folds(left);
  }

  /** The folded rows, in no order. */
  [Symbol.iterator](): Iterator<number> {
    return this.#rows[Symbol.iterator]();
  }
}

/**
 * The ranges of ranks that folds hide: disjoint, ascending, each directly below the row that is folded. A rank counts all rows of a
 * layout; a position counts only the visible ones.
 */
export class FoldedRanges {
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  // By range: the position of the first row after the range.
  readonly #position: number[] = [];
  /** How many rows are hidden. */
  readonly hidden: number;

  /** From the ascending ranks of folded rows, and the end of each row's subtree. Linear in the number of folds. */
  constructor(folded: Iterable<number>, end: Int32Array) {
    let hidden = 0;
    let lastHidden = -1;
    for (const rank of folded) {
      const last = end[rank] ?? rank;
      // A fold inside another one, or with nothing below it, hides nothing.
      if (rank <= lastHidden || last === rank) continue;
      this.#first.push(rank + 1);
      this.#last.push(last);
      this.#position.push(rank + 1 - hidden);
      hidden += last - rank;
      lastHidden = last;
    }
    this.hidden = hidden;
  }

  /** The row itself if it is visible, else the folded row that hides it. O(log folds). */
  visibleRank(rank: number): number {
    const range = countAtMost(this.#first, rank) - 1;
    return rank <= (this.#last[range] ?? -1) ? (this.#first[range] ?? 0) - 1 : rank;
  }

  /** The position of a visible row. O(log folds). */
  positionOf(rank: number): number {
    return rank - this.#hiddenBy(countAtMost(this.#first, rank));
  }

  /** The rank of the row at a position. O(log folds). */
  rankAt(position: number): number {
    return position + this.#hiddenBy(countAtMost(this.#position, position));
  }

  /** The rank of the next visible row below; it may be beyond the end. O(log folds). */
  next(rank: number): number {
    const range = countAtMost(this.#first, rank + 1) - 1;
    return rank + 1 <= (this.#last[range] ?? -1) ? (this.#last[range] ?? rank) + 1 : rank + 1;
  }

  /** How many rows the first `ranges` ranges hide. */
  #hiddenBy(ranges: number): number {
    const last = ranges - 1;
    return last < 0 ? 0 : (this.#last[last] ?? 0) + 1 - (this.#position[last] ?? 0);
  }
}
