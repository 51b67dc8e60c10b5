import { Buffer } from "node:buffer";
import type { TokenCounter } from "../counter.js";
import { KeptCounts } from "./kept-counts.js";
import { PieceMerger } from "./piece-merger.js";
import { piecesOf } from "./pieces.js";
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
  readonly #kept = new KeptCounts();
  /** The last long part and its tokens: a run of one character is the same part again and again. */
  #long = { text: "", tokens: 0 };

  constructor(
    readonly name: string,
    private readonly table: RankTable,
  ) {
    this.#merger = new PieceMerger(table);
  }

  count(text: string): number {
    let tokens = 0;
    for (const pieces of piecesOf(text, this.table.pattern)) for (const piece of pieces) tokens += this.#tokensOf(piece);
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
    return this.table.ranks.has(bytes) ? 1 : this.#merger.count(bytes);
  }
}
