import type { SessionFilter, SessionRecord, Store } from "@bough/session-core";
import { listSessions } from "./paging.js";

/**
 * Lists of sessions for searches that somebody types: each is read once, not again for each key. A write of another process drops
 * them, in a file half a second later at most: sessions that arrive are in the next search after that. Memory: about 1 kB a session.
 */
export class KeptSessions {
  readonly #store: Store;
  readonly #lists = new Map<string, Promise<readonly SessionRecord[]>>();
  #endWatch: (() => void) | undefined;
  #isOver = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** As `listSessions`. */
  async list(filter: SessionFilter): Promise<readonly SessionRecord[]> {
    if (!this.#isOver) this.#endWatch ??= this.#store.onChange(() => this.forget());
    const key = JSON.stringify(filter);
    const read = this.#lists.get(key) ?? listSessions(this.#store, filter);
    this.#lists.set(key, read);
    try {
      return await read;
    } catch (error) {
      // The next search may succeed.
      if (this.#lists.get(key) === read) this.#lists.delete(key);
      throw error;
    }
  }

  /** Drops the lists, after a write of this process that they would show. */
  forget(): void {
    this.#lists.clear();
  }

  /** Ends the watching of the store. */
  end(): void {
    this.#isOver = true;
    this.#endWatch?.();
    this.forget();
  }
}
