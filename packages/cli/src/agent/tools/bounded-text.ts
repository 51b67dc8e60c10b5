import { HEAD_SHARE } from "@bough/session-core/view";

/** Maximum length of a tool's output, in characters. */
export const MAX_OUTPUT = 30_000;

/** Collects output of any length in bounded memory: keeps its beginning and end. */
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
    // Shortened only at twice the limit, so that small pieces do not each copy the tail.
    if (this.#tail.length > 2 * this.#tailRoom) this.#tail = this.#tail.slice(-this.#tailRoom);
  }

  /** The whole output, or its beginning and end with a line between them that counts the omitted characters. */
  text(): string {
    const tail = this.#tail.slice(-this.#tailRoom);
    const left = this.#length - this.#head.length - tail.length;
    const gap = left === 0 ? "" : `\n[${left} characters omitted]\n`;
    return `${this.#head}${gap}${tail}`.toWellFormed();
  }
}
