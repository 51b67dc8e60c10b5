import { Buffer } from "node:buffer";
import type { TokenCounter } from "../token-counter.js";
import { PieceMerger } from "./piece-merger.js";
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
const SLOTS = 1 << 16;
/** Longer pieces are rarely repeated. */
const MAX_LENGTH = 24;

/** Counts of recent pieces in a cache of fixed size, in which a newer piece replaces an older one of the same slot. */
class PieceCache {
  readonly #pieces: string[] = new Array<string>(SLOTS).fill("");
  readonly #counts = new Uint16Array(SLOTS);

  /** The slot of a piece; -1: it is too long to be cached. */
  slotOf(piece: string): number {
    const { length } = piece;
    if (length > MAX_LENGTH) return -1;
    let hash = length;
    for (let at = 0; at < length; at += 1) hash = Math.imul(hash, 31) + piece.charCodeAt(at);
    return (hash ^ (hash >>> 15)) & (SLOTS - 1);
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
