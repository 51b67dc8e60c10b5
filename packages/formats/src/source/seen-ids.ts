import { isObject } from "@bough/session-core/wire";

/** Bits for each id: one in 10,000 ids that were never added counts as seen while no more than the planned number were added. */
const BITS = 16;
const HASHES = 8;

/** A set of ids that takes two bytes for each: it may say that an id was seen that was not, never the other way round (a Bloom filter). */
export class SeenIds {
  readonly #bits: Buffer;
  readonly #most: number;
  #count: number;

  private constructor(bits: Buffer, most: number, count: number) {
    this.#bits = bits;
    this.#most = most;
    this.#count = count;
  }

  /** An empty set, planned for a quarter more than `count` ids. */
  static for(count: number): SeenIds {
    const most = Math.ceil(count * 1.25) + 256;
    return new SeenIds(Buffer.alloc((most * BITS) / 8), most, 0);
  }

  /** The set of a state. */
  static from({ bits, count, most }: SavedIds): SeenIds {
    return new SeenIds(Buffer.from(bits, "base64"), most, count);
  }

  /** A JSON value; undefined: more ids were added than were planned. */
  get state(): SavedIds | undefined {
    return this.#count > this.#most ? undefined : { bits: this.#bits.toString("base64"), count: this.#count, most: this.#most };
  }

  add(id: string): void {
    this.#count += 1;
    for (const bit of this.#placesOf(id)) this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** False: it was never added. */
  has(id: string): boolean {
    return this.#placesOf(id).every((bit) => ((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  // Two hashes make any number of them (Kirsch and Mitzenmacher, "Less Hashing, Same Performance").
  #placesOf(id: string): readonly number[] {
    let [one, other] = [0x811c9dc5, 0x9dc5811c];
    for (let at = 0; at < id.length; at += 1) {
      one = Math.imul(one ^ id.charCodeAt(at), 0x01000193);
      other = Math.imul(other ^ id.charCodeAt(at), 0x85ebca6b) ^ (other >>> 15);
    }
    const length = this.#bits.length * 8;
    return Array.from({ length: HASHES }, (_, at) => ((one + Math.imul(at, other | 1)) >>> 0) % length);
  }
}

/** The set of a state; undefined: it is none. */
export function readSeenIds(value: unknown): SeenIds | undefined {
  if (!isObject(value)) return undefined;
  const { bits, count, most } = value;
  return typeof bits === "string" && typeof count === "number" && typeof most === "number"
    ? SeenIds.from({ bits, count, most })
    : undefined;
}

/** A set of ids as a JSON value. */
export interface SavedIds {
  readonly bits: string;
  readonly count: number;
  readonly most: number;
}
