import { Buffer } from "node:buffer";
import type { TokenCounter } from "../token-counter.js";
import type { RankTable } from "./rank-table.js";

/**
 * The longest piece, in UTF-16 code units, that is counted as a whole. A longer one (a run without any break) is counted in
 * parts of this length, which may add a token for each part, so that the cost stays linear.
 */
export const PART = 1_024;

/** Characters of more than one byte in UTF-8. */
const WIDE = /[^\u0000-\u007f]/;

/**
 * Counts as js-tiktoken does, in linear time. The counts are equal except for runs of more than 1,024 characters without a
 * break. Text that looks like a special token is text; a lone surrogate counts as U+FFFD, which is what is sent.
 */
export class BpeCounter implements TokenCounter {
  readonly name: string;
  readonly #table: RankTable;
  readonly #merger: PieceMerger;
  readonly #cache = new PieceCache();
  /** The last part of a long piece: in a run of one character all parts are equal. */
  #lastPart = { text: "", tokens: 0 };

  constructor(name: string, table: RankTable) {
    this.name = name;
    this.#table = table;
    this.#merger = new PieceMerger(table);
  }

  count(text: string): number {
    let tokens = 0;
    for (const pieces of piecesOf(text, this.#table.pattern)) for (const piece of pieces) tokens += this.#tokensOf(piece);
    return tokens;
  }

  #tokensOf(piece: string): number {
    const slot = this.#cache.slotOf(piece);
    const known = this.#cache.get(slot, piece);
    if (known !== undefined) return known;
    const tokens = piece.length > PART ? this.#countParts(piece) : this.#encode(piece);
    this.#cache.set(slot, piece, tokens);
    return tokens;
  }

  #countParts(piece: string): number {
    let tokens = 0;
    for (let start = 0; start < piece.length; ) {
      let end = Math.min(piece.length, start + PART);
      // Not inside a surrogate pair.
      if ((piece.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
      const part = piece.slice(start, end);
      if (this.#lastPart.text !== part) this.#lastPart = { text: part, tokens: this.#encode(part) };
      tokens += this.#lastPart.tokens;
      start = end;
    }
    return tokens;
  }

  #encode(piece: string): number {
    const bytes = WIDE.test(piece) ? Buffer.from(piece, "utf8").toString("latin1") : piece;
    return this.#table.ranks.has(bytes) ? 1 : this.#merger.count(bytes);
  }
}

/** The pattern is applied to windows of this many UTF-16 code units, never to a text of megabytes. */
export const WINDOW = 1 << 16;

/** A piece may depend on up to two characters after it (`'ll`), so the last pieces of a window are cut again with the next one. */
const UNSURE = 3;

/**
 * Cuts a text into pieces by the pattern, window by window. The pieces are those of the whole text, except that a piece is cut
 * where it fills a whole window (65,536 letters without a break).
 */
function* piecesOf(text: string, pattern: RegExp): Generator<readonly string[], void, void> {
  for (let start = 0; start < text.length; ) {
    const end = endOf(text, start);
    const pieces: string[] = (start === 0 && end === text.length ? text : text.slice(start, end)).match(pattern) ?? [];
    start = end;
    if (end < text.length && pieces.length > UNSURE) for (const piece of pieces.splice(-UNSURE)) start -= piece.length;
    yield pieces;
  }
}

function endOf(text: string, start: number): number {
  const end = Math.min(text.length, start + WINDOW);
  // Not inside a surrogate pair.
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end;
}

/** Slots of the cache, a power of two. */
const PIECE_SLOTS = 1 << 16;
/** Longer pieces are rarely repeated. */
const MAX_LENGTH = 24;

/** Counts of recent pieces in a cache of fixed size, in which a newer piece replaces an older one of the same slot. */
class PieceCache {
  readonly #pieces: string[] = new Array<string>(PIECE_SLOTS).fill("");
  readonly #counts = new Uint16Array(PIECE_SLOTS);

  /** The slot of a piece; -1: it is too long to be cached. */
  slotOf(piece: string): number {
    const { length } = piece;
    if (length > MAX_LENGTH) return -1;
    let hash = length;
    for (let at = 0; at < length; at += 1) hash = Math.imul(hash, 31) + piece.charCodeAt(at);
    return (hash ^ (hash >>> 15)) & (PIECE_SLOTS - 1);
  }

  /** undefined: it is not cached. */
  get(slot: number, piece: string): number | undefined {
    return slot >= 0 && this.#pieces[slot] === piece ? this.#counts[slot] : undefined;
  }

  set(slot: number, piece: string, count: number): void {
    if (slot < 0) return;
    this.#pieces[slot] = piece;
    this.#counts[slot] = count;
  }
}

/** Higher than any rank: the two tokens cannot be merged. */
const NO_PAIR = 0x7fffffff;
/** Up to this many bytes each merge scans the whole piece; above, it scans blocks. */
const SMALL = 64;
/** Positions per block, as a power of two. The lowest rank of each block is kept, so a merge scans at most three of them. */
const SHIFT = 4;

/** The element at an index that is in range. */
function read(array: Int32Array, index: number): number {
  return array[index] ?? 0;
}

/**
 * Counts the tokens of a piece by byte pair encoding: merges the neighbors of the lowest rank (the leftmost of equal ones)
 * until no pair is in the vocabulary. A merge costs a scan of 1/16 of the piece, so callers bound the piece's length.
 */
class PieceMerger {
  readonly #pairs: PairRankCache;
  readonly #byteIds: Int32Array;
  // A linked list of tokens by the position of their first byte: their ids, their neighbors, and the rank of each token with
  // the next one.
  #ids = new Int32Array(1024);
  #next = new Int32Array(1024);
  #previous = new Int32Array(1024);
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
    for (let at = this.#findLowest(length); at >= 0; at = this.#findLowest(length)) {
      const merged = read(this.#next, at);
      const previous = read(this.#previous, at);
      this.#merge(at, length);
      tokens -= 1;
      this.#updateBlock(at >> SHIFT);
      if (merged >> SHIFT !== at >> SHIFT) this.#updateBlock(merged >> SHIFT);
      if (previous >= 0 && previous >> SHIFT !== at >> SHIFT) this.#updateBlock(previous >> SHIFT);
    }
    return tokens;
  }

  #start(bytes: string): void {
    const { length } = bytes;
    // The last block is scanned to its end, which is behind the last byte.
    if (length + (1 << SHIFT) > this.#ids.length) this.#grow(length);
    for (let at = 0; at < length; at += 1) {
      this.#ids[at] = read(this.#byteIds, bytes.charCodeAt(at));
      this.#next[at] = at + 1;
      this.#previous[at] = at - 1;
    }
    for (let at = 0; at + 1 < length; at += 1) this.#ranks[at] = this.#pairs.rank(read(this.#ids, at), read(this.#ids, at + 1));
    this.#ranks[length - 1] = NO_PAIR;
  }

  #startBlocks(length: number): void {
    // Up to the end of the last block.
    for (let at = length; at < length + (1 << SHIFT); at += 1) this.#ranks[at] = NO_PAIR;
    for (let block = 0; block <= length >> SHIFT; block += 1) this.#updateBlock(block);
  }

  #grow(length: number): void {
    const size = 2 ** Math.ceil(Math.log2(length + (2 << SHIFT)));
    this.#ids = new Int32Array(size);
    this.#next = new Int32Array(size);
    this.#previous = new Int32Array(size);
    this.#ranks = new Int32Array(size);
    this.#blockRanks = new Int32Array(size >> SHIFT);
  }

  #countSmall(length: number): number {
    for (let tokens = length; ; tokens -= 1) {
      let lowest = NO_PAIR;
      let best = -1;
      for (let at = 0; at < length; at = read(this.#next, at)) {
        const rank = read(this.#ranks, at);
        if (rank < lowest) {
          lowest = rank;
          best = at;
        }
      }
      if (best === -1) return tokens;
      this.#merge(best, length);
    }
  }

  /** The leftmost position of the lowest rank; -1: no pair is left. */
  #findLowest(length: number): number {
    let lowest = NO_PAIR;
    let best = -1;
    for (let block = 0; block <= length >> SHIFT; block += 1) {
      const rank = read(this.#blockRanks, block);
      if (rank < lowest) {
        lowest = rank;
        best = block;
      }
    }
    if (best === -1) return -1;
    let at = best << SHIFT;
    while (this.#ranks[at] !== lowest) at += 1;
    return at;
  }

  #updateBlock(block: number): void {
    let lowest = NO_PAIR;
    const end = (block + 1) << SHIFT;
    for (let at = block << SHIFT; at < end; at += 1) {
      const rank = read(this.#ranks, at);
      if (rank < lowest) lowest = rank;
    }
    this.#blockRanks[block] = lowest;
  }

  /** Merges the token at a position with the next one. The rank of a pair is the id of the merged token. */
  #merge(position: number, length: number): void {
    const id = read(this.#ranks, position);
    const merged = read(this.#next, position);
    const next = read(this.#next, merged);
    this.#ids[position] = id;
    this.#next[position] = next;
    if (next < length) this.#previous[next] = position;
    this.#ranks[merged] = NO_PAIR;
    this.#ranks[position] = next < length ? this.#pairs.rank(id, read(this.#ids, next)) : NO_PAIR;
    const previous = read(this.#previous, position);
    if (previous >= 0) this.#ranks[previous] = this.#pairs.rank(read(this.#ids, previous), id);
  }
}

/** Slots of the cache, a power of two. */
const PAIR_SLOTS = 1 << 20;

/** Looks up the rank of two neighboring tokens as one, in a cache of fixed size (12 MB) in which newer pairs replace older ones. */
class PairRankCache {
  readonly #table: RankTable;
  readonly #left = new Int32Array(PAIR_SLOTS).fill(-1);
  readonly #right = new Int32Array(PAIR_SLOTS);
  readonly #rank = new Int32Array(PAIR_SLOTS);

  constructor(table: RankTable) {
    this.#table = table;
  }

  /** `NO_PAIR`: the vocabulary has no such token. */
  rank(left: number, right: number): number {
    const slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 12;
    if (this.#left[slot] === left && this.#right[slot] === right) return read(this.#rank, slot);
    const { byteStrings, ranks } = this.#table;
    const rank = ranks.get(`${byteStrings[left]}${byteStrings[right]}`) ?? NO_PAIR;
    this.#left[slot] = left;
    this.#right[slot] = right;
    this.#rank[slot] = rank;
    return rank;
  }
}
