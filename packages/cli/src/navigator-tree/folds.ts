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
