import { Buffer } from "node:buffer";
import type { TokenCounter } from "../token-counter.js";
import { PieceMerger } from "./piece-merger.js";
import type { RankTable } from "./rank-table.js";

/**
 * A longer piece, in UTF-16 code units, is counted in parts of this length: no word, but a run without any break, of which
 * the count may be one token more for each part. Within it the cost does not depend on what the text is.
 */
export const PART = 1_024;

/** Not ASCII: more than a byte a character. */
const WIDE = /[^\u0000-\u007f]/;

/**
 * Counts as js-tiktoken does, exactly but for runs of more than 1,024 characters without any break, in linear time whatever
 * the text. Text that looks like a special token is text; half a surrogate pair counts as U+FFFD, which it is sent as.
 */
export class BpeCounter implements TokenCounter {
  readonly #merger: PieceMerger;
  readonly #kept = new PieceCache();
  /** The last long part and its tokens: a run of one character is the same part again and again. */
  #long = { text: "", tokens: 0 };

  readonly name: string;
  readonly #table: RankTable;

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
    const slot = this.#kept.slotOf(piece);
    const known = this.#kept.get(slot, piece);
    if (known !== undefined) return known;
    const tokens = piece.length > PART ? this.#inParts(piece) : this.#encoded(piece);
    this.#kept.set(slot, piece, tokens);
    return tokens;
  }

  #inParts(piece: string): number {
    let tokens = 0;
    for (let start = 0; start < piece.length; ) {
      let end = Math.min(piece.length, start + PART);
      // Not between the halves of a pair.
      if ((piece.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
      const part = piece.slice(start, end);
      if (this.#long.text !== part) this.#long = { text: part, tokens: this.#encoded(part) };
      tokens += this.#long.tokens;
      start = end;
    }
    return tokens;
  }

  #encoded(piece: string): number {
    const bytes = WIDE.test(piece) ? Buffer.from(piece, "utf8").toString("latin1") : piece;
    return this.#table.ranks.has(bytes) ? 1 : this.#merger.count(bytes);
  }
}

/** So much of a text is cut into pieces at once, in UTF-16 code units: a pattern never meets a text of megabytes. */
export const WINDOW = 1 << 16;

/** A piece can depend on what follows it: on the character behind it, or on two for `'ll`. So the last ones are cut again. */
const UNSURE = 3;

/**
 * The pieces of a text as the pattern cuts them, a windowful at a time. The same as cutting the whole text at once, but for
 * a piece that fills a whole window (65,536 letters without a break), which is cut there.
 */
export function* piecesOf(text: string, pattern: RegExp): Generator<readonly string[], void, void> {
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
  // Not between the halves of a pair.
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end;
}

/** How many counts are kept; a power of two. */
const SLOTS = 1 << 16;
/** Longer pieces seldom come again. */
const MAX_LENGTH = 24;

/**
 * The counts of pieces that came lately, in a table of fixed size: words, names and signs come again and again. A newer
 * piece takes the place of an older one with the same hash, so that text that never repeats costs no memory and no clearing.
 */
export class PieceCache {
  readonly #pieces: string[] = new Array<string>(SLOTS).fill("");
  readonly #counts = new Uint16Array(SLOTS);

  /** Where a piece's count would be; -1: it is too long to be kept. */
  slotOf(piece: string): number {
    const { length } = piece;
    if (length > MAX_LENGTH) return -1;
    let hash = length;
    for (let at = 0; at < length; at += 1) hash = Math.imul(hash, 31) + piece.charCodeAt(at);
    return (hash ^ (hash >>> 15)) & (SLOTS - 1);
  }

  /** undefined: it is not kept. */
  get(slot: number, piece: string): number | undefined {
    return slot >= 0 && this.#pieces[slot] === piece ? this.#counts[slot] : undefined;
  }

  set(slot: number, piece: string, count: number): void {
    if (slot < 0) return;
    this.#pieces[slot] = piece;
    this.#counts[slot] = count;
  }
}
