import { countAtMost } from "@bough/session-core/engine";

/**
 * The keys that the user folded and unfolded: row numbers of subtrees, and keys of groups (`Layout`). The layout adds those that are
 * folded by default. Immutable: each change returns a new one, linear in its size.
 */
export class Folds {
  /** Nothing was folded or unfolded. */
  static readonly none: Folds = new Folds([]);

  /** The folded keys, unordered. */
  readonly folded: ReadonlySet<number>;
  /** The unfolded keys, unordered. */
  readonly unfolded: ReadonlySet<number>;

  constructor(folded: Iterable<number>, unfolded: Iterable<number> = []) {
    this.folded = new Set(folded);
    this.unfolded = new Set(unfolded);
  }

  /** Returns these folds with one key folded. */
  fold(key: number): Folds {
    return new Folds(
      [...this.folded, key],
      [...this.unfolded].filter((one) => one !== key),
    );
  }

  /** Returns these folds with the keys unfolded. */
  unfold(keys: readonly number[]): Folds {
    if (keys.every((key) => this.unfolded.has(key) && !this.folded.has(key))) return this;
    const unfolded = new Set(keys);
    return new Folds(
      [...this.folded].filter((one) => !unfolded.has(one)),
      [...this.unfolded, ...keys],
    );
  }
}

/** Ranks that a fold draws as one row: the first one stays visible. */
export interface FoldedRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The ranges of ranks that folds hide: disjoint, ascending, each directly below the row that is visible for it. A rank counts all rows of a
 * layout; a position counts only the visible ones.
 */
export class FoldedRanges {
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  // By range: the position of the first row after the range.
  readonly #position: number[] = [];
  /** Number of hidden rows. */
  readonly hidden: number;

  /** From folded ranges, ascending by their first rank, of several with the same one the longest first. Linear in them. */
  constructor(folded: Iterable<FoldedRange>) {
    let hidden = 0;
    let lastHidden = -1;
    for (const { first, last } of folded) {
      // One that begins inside another one, or with nothing below it, hides nothing.
      if (first <= lastHidden || last === first) continue;
      this.#first.push(first + 1);
      this.#last.push(last);
      this.#position.push(first + 1 - hidden);
      hidden += last - first;
      lastHidden = last;
    }
    this.hidden = hidden;
  }

  /** Returns the last rank that is drawn as a visible row: its own if nothing below it is folded. O(log folds). */
  lastOf(rank: number): number {
    const range = countAtMost(this.#first, rank + 1) - 1;
    return this.#first[range] === rank + 1 ? (this.#last[range] ?? rank) : rank;
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

  /** The rank of the visible row below a visible one; it may be beyond the end. O(log folds). */
  next(rank: number): number {
    return this.lastOf(rank) + 1;
  }

  /** Returns the number of rows that the first `ranges` ranges hide. */
  #hiddenBy(ranges: number): number {
    const last = ranges - 1;
    return last < 0 ? 0 : (this.#last[last] ?? 0) + 1 - (this.#position[last] ?? 0);
  }
}
