import type { RankTable } from "./rank-table.js";

/** Higher than any rank. */
export const NO_PAIR = 0x7fffffff;

const SLOTS = 1 << 20;

/**
 * The rank of two neighbouring tokens as one; `NO_PAIR`: they are none. Pairs come again and again, so the last answers are kept
 * in a table of fixed size (12 MB), where a newer pair takes the place of an older one.
 */
export class PairRanks {
  readonly #left = new Int32Array(SLOTS).fill(-1);
  readonly #right = new Int32Array(SLOTS);
  readonly #rank = new Int32Array(SLOTS);

  constructor(private readonly table: RankTable) {}

  rank(left: number, right: number): number {
    const slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 12;
    if (this.#left[slot] === left && this.#right[slot] === right) return this.#rank[slot] as number;
    const { byteStrings, ranks } = this.table;
    const rank = ranks.get(`${byteStrings[left]}${byteStrings[right]}`) ?? NO_PAIR;
    this.#left[slot] = left;
    this.#right[slot] = right;
    this.#rank[slot] = rank;
    return rank;
  }
}
