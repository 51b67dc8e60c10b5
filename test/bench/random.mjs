/** Pseudorandom numbers, the same in every run. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. The algorithm is mulberry32, by Tommy Ettinger (public domain). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** A size between `low` and `high`: small ones often, large ones seldom, as texts in sessions are. */
  size(low, high) {
    return Math.round(low * (high / low) ** (this.next() ** 1.7));
  }

  chance(share) {
    return this.next() < share;
  }

  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }

  /** `length` characters of an id. */
  id(length) {
    let id = "";
    while (id.length < length) id += ALPHABET[Math.floor(this.next() * ALPHABET.length)];
    return id;
  }

  uuid() {
    const hex = (length) => Array.from({ length }, () => Math.floor(this.next() * 16).toString(16)).join("");
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  }
}

const ALPHABET = "0123456789abcdefghijkmnpqrstvwxyz";
