/** Keeps the values that were used last, up to a total size. Values must not change. */
export class RecentlyUsed<V> {
  readonly #most: number;
  readonly #sizeOf: (value: V) => number;
  readonly #values = new Map<string, { readonly value: V; readonly size: number }>();
  #size = 0;

  constructor(most: number, sizeOf: (value: V) => number) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  get(key: string): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    // The order of a Map is that of insertion: the first key is the one that was not used for the longest time.
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** Stores a value; the one that was stored last is kept even if it is larger than the limit. */
  set(key: string, value: V): void {
    this.delete(key);
    const size = this.#sizeOf(value);
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#most || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#values.get(key)?.size ?? 0;
    this.#values.delete(key);
  }
}
