import { FoldedRanges, type Folds } from "./folds.js";
import { type Group, groupAt, groupBefore, type InitialFolds } from "./groups.js";
import { isBelow, type RowOrder } from "./row-order.js";
import { NONE } from "./tree-index.js";

/** A rank and the folds after a fold key. */
interface FoldedAt {
  readonly rank: number;
  readonly folds: Folds;
}

/** The folded rows of a layout: those that start folded, changed by the folds of the user. */
export class LayoutFolds {
  readonly #order: RowOrder;
  readonly #calls: readonly Group[];
  readonly #branches: readonly Group[];
  readonly #initial: ReadonlySet<number>;
  readonly #ranges = new WeakMap<Folds, FoldedRanges>();

  constructor(order: RowOrder, { groups, folded }: InitialFolds) {
    this.#order = order;
    this.#calls = groups.filter(({ kind }) => kind === "calls");
    this.#branches = groups.filter(({ kind }) => kind === "branches");
    this.#initial = new Set(folded);
  }

  /** The ranges that are hidden. Linear in all folds for new `folds`, then constant. */
  rangesOf(folds: Folds): FoldedRanges {
    let ranges = this.#ranges.get(folds);
    if (ranges === undefined) {
      ranges = new FoldedRanges(this.#foldedRanges(folds));
      this.#ranges.set(folds, ranges);
    }
    return ranges;
  }

  /** Returns the folded group that is drawn at a visible rank. */
  group(rank: number, folds: Folds): Group | undefined {
    const group = groupAt(this.#calls, rank) ?? groupAt(this.#branches, rank);
    // A fold of the whole subtree hides more than the group.
    return group === undefined || this.#isOpen(group, folds) || this.rangesOf(folds).lastOf(rank) !== group.last ? undefined : group;
  }

  /** True if a rank is the first one of an unfolded group of calls. */
  startsOpenCalls(rank: number, folds: Folds): boolean {
    const group = groupAt(this.#calls, rank);
    return group !== undefined && this.#isOpen(group, folds);
  }

  /** True if the subtree of a rank is folded, or the group that is drawn at it. */
  isFolded(rank: number, folds: Folds): boolean {
    return this.rangesOf(folds).lastOf(rank) > rank;
  }

  /** Folds the rows below a visible rank. */
  fold(rank: number, folds: Folds): Folds {
    return folds.fold(this.#row(rank));
  }

  /** Unfolds a visible rank: the group that is drawn at it, else its subtree. */
  unfold(rank: number, folds: Folds): Folds {
    const group = this.group(rank, folds);
    return folds.unfold([group === undefined ? this.#row(rank) : this.#keyOf(group)]);
  }

  /** Unfolds a folded row; folds the group of calls that the row is in, else its subtree. undefined: there is nothing to fold. */
  toggle(rank: number, folds: Folds): FoldedAt | undefined {
    if (this.isFolded(rank, folds)) return { rank, folds: this.unfold(rank, folds) };
    const calls = this.#callsAround(rank);
    if (calls !== undefined) return { rank: calls.first, folds: folds.fold(this.#keyOf(calls)) };
    return (this.#order.end[rank] ?? rank) > rank ? { rank, folds: this.fold(rank, folds) } : undefined;
  }

  /** Folds the unfolded group that a side branch belongs to. undefined: it belongs to none. */
  foldBranches(rank: number, folds: Folds): FoldedAt | undefined {
    const group = groupAt(this.#branches, (this.#order.parent[rank] ?? NONE) + 1);
    if (group === undefined || rank > group.last || !this.#isOpen(group, folds)) return undefined;
    return { rank: group.first, folds: folds.fold(this.#keyOf(group)) };
  }

  /** The folds without those that hide a rank. Linear in the folds and in the branch points above. */
  reveal(rank: number, folds: Folds): Folds {
    const keys = [...folds.folded].filter((row) => row >= 0 && isBelow(this.#order, rank, this.#order.rank[row] ?? NONE));
    const calls = this.#callsAround(rank);
    // A folded group of calls is drawn as its last reply, which is visible therefore.
    if (calls !== undefined && rank < calls.last && !this.#isOpen(calls, folds)) keys.push(this.#keyOf(calls));
    for (let start = this.#start(rank); start !== NONE; start = this.#start(this.#order.parent[start] ?? NONE)) {
      if (start < rank && this.#initial.has(start) && !folds.unfolded.has(this.#row(start))) keys.push(this.#row(start));
      const group = groupAt(this.#branches, (this.#order.parent[start] ?? NONE) + 1);
      if (group !== undefined && start <= group.last && !this.#isOpen(group, folds)) keys.push(this.#keyOf(group));
    }
    return keys.length === 0 ? folds : folds.unfold(keys);
  }

  *#foldedRanges(folds: Folds) {
    const ranges = [...this.#calls, ...this.#branches]
      .filter((group) => !this.#isOpen(group, folds))
      .map(({ first, last }) => ({ first, last }));
    const add = (first: number) => ranges.push({ first, last: this.#order.end[first] ?? first });
    for (const rank of this.#initial) if (!folds.unfolded.has(this.#row(rank))) add(rank);
    for (const row of folds.folded) if ((this.#order.rank[row] ?? NONE) !== NONE) add(this.#order.rank[row] ?? NONE);
    yield* ranges.sort((a, b) => a.first - b.first || b.last - a.last);
  }

  /** The first row of the branch that a rank is in. */
  #start(rank: number): number {
    return rank === NONE ? NONE : (this.#order.branchChild[rank] ?? NONE);
  }

  #callsAround(rank: number): Group | undefined {
    const group = groupBefore(this.#calls, rank);
    return group !== undefined && rank <= group.last ? group : undefined;
  }

  #row(rank: number): number {
    return this.#order.rows[rank] ?? NONE;
  }

  #isOpen(group: Group, folds: Folds): boolean {
    return folds.unfolded.has(this.#keyOf(group));
  }

  /** Negative, so that it is no row number. Rows added at the end of a group do not change it. */
  #keyOf({ first }: Group): number {
    return -2 - this.#row(first);
  }
}
