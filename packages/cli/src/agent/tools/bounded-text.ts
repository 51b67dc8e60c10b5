import { HEAD_SHARE } from "@bough/session-core/internals";

/** What a tool says to a model is no longer than this, in characters. */
export const MAX_OUTPUT = 30_000;

/** Collects output of any length in bounded memory: its beginning and its end. */
export class BoundedText {
  readonly #headRoom: number;
  readonly #tailRoom: number;
  #head = "";
  #tail = "";
  #length = 0;

  constructor(limit = MAX_OUTPUT) {
    this.#headRoom = Math.floor(limit * HEAD_SHARE);
    this.#tailRoom = limit - this.#headRoom;
  }

  push(piece: string): void {
    this.#length += piece.length;
    const toHead = piece.slice(0, this.#headRoom - this.#head.length);
    this.#head += toHead;
    this.#tail += piece.slice(toHead.length);
    // Cut seldom, so that many small pieces do not each copy the whole tail.
    if (this.#tail.length > 2 * this.#tailRoom) this.#tail = this.#tail.slice(-this.#tailRoom);
  }

  /** All of it, or beginning and end with a line between them that says how much is left out. */
  text(): string {
    const tail = this.#tail.slice(-this.#tailRoom);
    const left = this.#length - this.#head.length - tail.length;
    const gap = left === 0 ? "" : `\n[${left} characters left out]\n`;
    return `${this.#head}${gap}${tail}`.toWellFormed();
  }
}
