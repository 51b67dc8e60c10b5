import { setImmediate as pause } from "node:timers/promises";
import { BoughError } from "../errors/bough-error.js";
import { StoreBusyError, StoreFullError } from "../errors/store-errors.js";
import type { SessionStorage } from "../port/session-storage.js";

/** After how many appended entries the search index is updated in the background. */
const INDEX_AFTER = 200;

/** Keeps the search index up to date: in the background after appends, and before a search. */
export class SearchIndexer {
  readonly #storage: SessionStorage;
  #unindexed = 0;
  #isRunning = false;
  #isStopped = false;
  /** An unexpected error of a background run. The next search throws it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(storage: SessionStorage) {
    this.#storage = storage;
  }

  /** Starts a background run after every `INDEX_AFTER` entries, so that no append pays for the merges of FTS5. */
  countAppended(count: number): void {
    this.#unindexed += count;
    if (this.#unindexed < INDEX_AFTER || this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#runInBackground());
  }

  /** Prevents further background runs. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Indexes all entries, unless another process holds the lock or the disk is full. Throws the error of the last background run. */
  async catchUpIfPossible(): Promise<void> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    try {
      await this.catchUp(Number.POSITIVE_INFINITY, "throw");
    } catch (error) {
      if (!(error instanceof StoreBusyError || error instanceof StoreFullError)) throw error;
    }
  }

  /** Indexes at most `limit` entries, with the event loop between batches. Returns an upper bound of those that are missing. */
  async catchUp(limit: number, whenLocked: "wait" | "throw"): Promise<number> {
    const before = await this.#storage.catchUpSearch(0, whenLocked);
    let left = before;
    while (left > 0 && before - left < limit) {
      const now = await this.#storage.catchUpSearch(limit - (before - left), whenLocked);
      // A read-only store makes no progress.
      if (now >= left) return now;
      left = now;
      if (left > 0) await pause();
    }
    return left;
  }

  async #runInBackground(): Promise<void> {
    try {
      if (!this.#isStopped) await this.catchUp(INDEX_AFTER, "throw");
      this.#unindexed = Math.max(0, this.#unindexed - INDEX_AFTER);
    } catch (error) {
      // Another process may hold the lock, or the store was closed; the next search catches up. Nothing awaits this run, so the
      // next search throws any other error.
      if (!(error instanceof BoughError)) this.#failure = { error };
    } finally {
      this.#isRunning = false;
    }
  }
}
