import { randomFillSync } from "node:crypto";

/** The 32-bit words of a UUID. */
export const UUID_WORDS = 4;

/** The characters at which a UUID has hyphens. */
const HYPHENS = [8, 13, 18, 23];
const LENGTH = 36;
const HYPHEN = 0x2d;

/** Writes a UUID in its usual form as four words at `at`. Returns false for any other text. */
export function parseUuid(text: string, into: Uint32Array, at: number): boolean {
  if (text.length !== LENGTH || HYPHENS.some((hyphen) => text[hyphen] !== "-")) return false;
  let word = 0;
  let digits = 0;
  for (let index = 0; index < LENGTH; index += 1) {
    const code = text.charCodeAt(index);
    if (code === HYPHEN) continue;
    const digit = code >= 0x30 && code <= 0x39 ? code - 0x30 : code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
    if (digit < 0) return false;
    word = (word << 4) | digit;
    digits += 1;
    if (digits % 8 === 0) into[at + digits / 8 - 1] = word;
  }
  return digits === 32;
}

const DIGITS = Buffer.from("0123456789abcdef", "latin1");
/** The text that `formatUuid` writes. */
const TEXT = Buffer.from("00000000-0000-0000-0000-000000000000", "latin1");

/** The text of the UUID at `at`. Digit by digit into bytes: joined from texts it takes eight times as long, and is copied when it is used. */
export function formatUuid(words: Uint32Array, at: number): string {
  let digit = 0;
  for (let index = 0; index < LENGTH; index += 1) {
    if (TEXT[index] === HYPHEN) continue;
    const word = words[at + (digit >>> 3)] ?? 0;
    TEXT[index] = DIGITS[(word >>> (28 - 4 * (digit & 7))) & 15] ?? 0;
    digit += 1;
  }
  return TEXT.toString("latin1");
}

/** The value of a slot without a UUID, and of one whose UUID was deleted. */
const FREE = -0x80000000;
const DELETED = FREE + 1;

/** Odd random numbers: a file cannot be made so that its ids have one slot. */
const FACTORS = randomFillSync(new Uint32Array(UUID_WORDS)).map((factor) => factor | 1);

/** A hash of the words at `at`. */
function hashOf(words: Uint32Array, at: number): number {
  let hash = 0;
  for (let word = 0; word < UUID_WORDS; word += 1) {
    hash = Math.imul(hash ^ (words[at + word] ?? 0), FACTORS[word] ?? 1);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** The slots for which there is room at first: a power of two. */
const FIRST_SLOTS = 128;

/**
 * A map of ids to the numbers of records, by open addressing: the UUIDs as numbers, other ids in a `Map`. Memory: 27 to 53 bytes a UUID, a
 * fifth of a `Map` of strings.
 */
export class UuidMap {
  #uuids = new Uint32Array(FIRST_SLOTS * UUID_WORDS);
  #values = new Int32Array(FIRST_SLOTS).fill(FREE);
  /** The slots that are not free. */
  #used = 0;
  #deleted = 0;
  readonly #others = new Map<string, number>();
  readonly #asked = new Uint32Array(UUID_WORDS);

  get size(): number {
    return this.#used - this.#deleted + this.#others.size;
  }

  get(id: string): number | undefined {
    if (!parseUuid(id, this.#asked, 0)) return this.#others.get(id);
    const value = this.#values[this.#slotOf(this.#asked, 0)] ?? FREE;
    return value === FREE || value === DELETED ? undefined : value;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  set(id: string, node: number): void {
    if (!parseUuid(id, this.#asked, 0)) {
      this.#others.set(id, node);
      return;
    }
    const slot = this.#slotOf(this.#asked, 0);
    if (this.#values[slot] === FREE) this.#used += 1;
    if (this.#values[slot] === DELETED) this.#deleted -= 1;
    this.#uuids.set(this.#asked, slot * UUID_WORDS);
    this.#values[slot] = node;
    if (this.#used * 4 > this.#values.length * 3) this.#grow();
  }

  delete(id: string): void {
    if (!parseUuid(id, this.#asked, 0)) {
      this.#others.delete(id);
      return;
    }
    const slot = this.#slotOf(this.#asked, 0);
    if (this.#values[slot] === FREE || this.#values[slot] === DELETED) return;
    this.#values[slot] = DELETED;
    this.#deleted += 1;
  }

  *keys(): Generator<string, void, void> {
    yield* this.#others.keys();
    for (const [slot, value] of this.#values.entries())
      if (value !== FREE && value !== DELETED) yield formatUuid(this.#uuids, slot * UUID_WORDS);
  }

  /** The slot of a UUID, or the free one where it belongs. A deleted one keeps its slot. */
  #slotOf(words: Uint32Array, at: number): number {
    const [a = 0, b = 0, c = 0, d = 0] = [words[at], words[at + 1], words[at + 2], words[at + 3]];
    const mask = this.#values.length - 1;
    let slot = hashOf(words, at) & mask;
    for (; this.#values[slot] !== FREE; slot = (slot + 1) & mask) {
      const place = slot * UUID_WORDS;
      const uuids = this.#uuids;
      if (uuids[place] === a && uuids[place + 1] === b && uuids[place + 2] === c && uuids[place + 3] === d) break;
    }
    return slot;
  }

  #grow(): void {
    const [uuids, values] = [this.#uuids, this.#values];
    this.#uuids = new Uint32Array(2 * uuids.length);
    this.#values = new Int32Array(2 * values.length).fill(FREE);
    [this.#used, this.#deleted] = [0, 0];
    for (const [from, value] of values.entries()) {
      if (value === FREE || value === DELETED) continue;
      const slot = this.#slotOf(uuids, from * UUID_WORDS);
      this.#uuids.set(uuids.subarray(from * UUID_WORDS, (from + 1) * UUID_WORDS), slot * UUID_WORDS);
      this.#values[slot] = value;
      this.#used += 1;
    }
  }
}
