import type { RankTable } from "./rank-table.js";

/** Up to this many bytes all places are looked through for each merge; above, blocks of them pay. */
const SMALL = 64;
/** Places are looked after in blocks of 16: the lowest rank of each is known, so that a merge looks at three of them. */
const SHIFT = 4;

/**
 * Counts the tokens of pieces as byte pair encoding cuts them: again and again the neighbours of lowest rank are merged,
 * the leftmost of equals first, until none is in the vocabulary. One merge costs a look at a 16th of the piece, which is why
 * the caller bounds its length.
 */
export class PieceMerger {
  readonly #pairs: PairRankCache;
  readonly #byteIds: Int32Array;
  #ids = new Int32Array(1024);
  #next = new Int32Array(1024);
  #before = new Int32Array(1024);
  #ranks = new Int32Array(1024);
  #blockRanks = new Int32Array(1024 >> SHIFT);

  constructor(table: RankTable) {
    this.#pairs = new PairRankCache(table);
    this.#byteIds = Int32Array.from({ length: 256 }, (_one, byte) => table.ranks.get(String.fromCharCode(byte)) ?? 0);
  }

  /** Tokens of a piece, given as one character for each of its bytes. */
  count(bytes: string): number {
    const { length } = bytes;
    this.#start(bytes);
    if (length <= SMALL) return this.#countSmall(length);
    this.#startBlocks(length);
    let tokens = length;
    for (let at = this.#lowest(length); at >= 0; at = this.#lowest(length)) {
      const [gone, before] = [this.#next[at] as number, this.#before[at] as number];
      this.#merge(at, length);
      tokens -= 1;
      this.#lookAt(at >> SHIFT);
      if (gone >> SHIFT !== at >> SHIFT) this.#lookAt(gone >> SHIFT);
      if (before >= 0 && before >> SHIFT !== at >> SHIFT) this.#lookAt(before >> SHIFT);
    }
    return tokens;
  }

  #start(bytes: string): void {
    const { length } = bytes;
    if (length > this.#ids.length) this.#grow(length);
    for (let at = 0; at < length; at += 1) {
      this.#ids[at] = this.#byteIds[bytes.charCodeAt(at)] as number;
      this.#next[at] = at + 1;
      this.#before[at] = at - 1;
    }
    for (let at = 0; at + 1 < length; at += 1) this.#ranks[at] = this.#pairs.rank(this.#ids[at] as number, this.#ids[at + 1] as number);
    this.#ranks[length - 1] = NO_PAIR;
  }

  #startBlocks(length: number): void {
    // Up to the end of the last block.
    for (let at = length; at < length + (1 << SHIFT); at += 1) this.#ranks[at] = NO_PAIR;
    for (let block = 0; block <= length >> SHIFT; block += 1) this.#lookAt(block);
  }

  #grow(length: number): void {
    const room = 2 ** Math.ceil(Math.log2(length + (2 << SHIFT)));
    this.#ids = new Int32Array(room);
    this.#next = new Int32Array(room);
    this.#before = new Int32Array(room);
    this.#ranks = new Int32Array(room);
    this.#blockRanks = new Int32Array(room >> SHIFT);
  }

  #countSmall(length: number): number {
    for (let tokens = length; ; tokens -= 1) {
      let lowest = NO_PAIR;
      let best = -1;
      for (let at = 0; at < length; at = this.#next[at] as number) {
        if ((this.#ranks[at] as number) < lowest) {
          lowest = this.#ranks[at] as number;
          best = at;
        }
      }
      if (best === -1) return tokens;
      this.#merge(best, length);
    }
  }

  /** Where the lowest rank is, the leftmost of equals; -1: there is none. */
  #lowest(length: number): number {
    let lowest = NO_PAIR;
    let best = -1;
    for (let block = 0; block <= length >> SHIFT; block += 1) {
      if ((this.#blockRanks[block] as number) < lowest) {
        lowest = this.#blockRanks[block] as number;
        best = block;
      }
    }
    if (best === -1) return -1;
    let at = best << SHIFT;
    while (this.#ranks[at] !== lowest) at += 1;
    return at;
  }

  #lookAt(block: number): void {
    let lowest = NO_PAIR;
    const end = (block + 1) << SHIFT;
    for (let at = block << SHIFT; at < end; at += 1) if ((this.#ranks[at] as number) < lowest) lowest = this.#ranks[at] as number;
    this.#blockRanks[block] = lowest;
  }

  /** Merges the token at a place with the one behind it. The rank of a pair is the id of the token that it becomes. */
  #merge(at: number, length: number): void {
    const id = this.#ranks[at] as number;
    const gone = this.#next[at] as number;
    const behind = this.#next[gone] as number;
    this.#ids[at] = id;
    this.#next[at] = behind;
    if (behind < length) this.#before[behind] = at;
    this.#ranks[gone] = NO_PAIR;
    this.#ranks[at] = behind < length ? this.#pairs.rank(id, this.#ids[behind] as number) : NO_PAIR;
    const before = this.#before[at] as number;
    if (before >= 0) this.#ranks[before] = this.#pairs.rank(this.#ids[before] as number, id);
  }
}

/** Higher than any rank. */
export const NO_PAIR = 0x7fffffff;

const SLOTS = 1 << 20;

/**
 * The rank of two neighbouring tokens as one; `NO_PAIR`: they are none. Pairs come again and again, so the last answers are kept
 * in a table of fixed size (12 MB), where a newer pair takes the place of an older one.
 */
export class PairRankCache {
  readonly #left = new Int32Array(SLOTS).fill(-1);
  readonly #right = new Int32Array(SLOTS);
  readonly #rank = new Int32Array(SLOTS);

  readonly #table: RankTable;

  constructor(table: RankTable) {
    this.#table = table;
  }

  rank(left: number, right: number): number {
    const slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 12;
    if (this.#left[slot] === left && this.#right[slot] === right) return this.#rank[slot] as number;
    const { byteStrings, ranks } = this.#table;
    const rank = ranks.get(`${byteStrings[left]}${byteStrings[right]}`) ?? NO_PAIR;
    this.#left[slot] = left;
    this.#right[slot] = right;
    this.#rank[slot] = rank;
    return rank;
  }
}
