/** How many counts are kept; a power of two. */
const SLOTS = 1 << 16;
/** Longer pieces seldom come again. */
const MAX_LENGTH = 24;

/**
 * The counts of pieces that came lately, in a table of fixed size: words, names and signs come again and again. A newer
 * piece takes the place of an older one with the same hash, so that text that never repeats costs no memory and no clearing.
 */
export class KeptCounts {
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
