import { SerialQueue } from "../async/serial-queue.js";
import { LeafMovedError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { LeafState, SessionRow } from "../port/records.js";
import type { SearchPage, SearchRequest } from "../port/search.js";
import type { SessionStorage } from "../port/session-storage.js";
import { type BatchResult, copyWrites, type OnConflict, type Write } from "../port/writes.js";

/** Options for a batch whose leaf another writer may have moved. */
export interface WriteOptions {
  /** Default `error`: throws `LeafMovedError` and writes nothing. */
  readonly onConflict?: OnConflict | undefined;
  /**
   * Writes only if the leaf is exactly at this entry when the queued write runs, in this handle and in the store; otherwise throws
   * `LeafMovedError`, regardless of `onConflict`. Use it for entries that belong to one leaf, such as a summary. null: before
   * the first entry.
   */
  readonly expectedLeafId?: EntryId | null | undefined;
}

/** Where an append puts its entry. */
export interface AppendOptions extends WriteOptions {
  /**
   * The entry is appended below this one instead of the leaf; null: as a first entry. The leaf does not move, and another writer's
   * move of the leaf is no conflict.
   */
  readonly parentId?: EntryId | null | undefined;
}

/** An entry that an append wrote. */
export interface AppendedEntry {
  readonly id: EntryId;
  /** Its order of arrival in the store. */
  readonly seq: number;
}

/** The parts of a store that its session handles use. */
export interface SessionHost {
  readonly storage: SessionStorage;
  /** Writes that have been called and have not finished. */
  readonly accepted: Set<Promise<unknown>>;
  /** Called after entries were written. */
  readonly onAppended: (count: number) => void;
  /** Searches, and has the search index updated behind it. */
  readonly search: (request: SearchRequest) => Promise<SearchPage>;
}

/** Writes for one handle: keeps the leaf position that the handle last read, and runs its writes in order. */
export class LeafWriter {
  readonly #host: SessionHost;
  readonly #row: SessionRow;
  readonly #leafName: string;
  /** Writes use the leaf position that the previous one returned. */
  readonly #queue = new SerialQueue();
  #leaf: LeafState;

  constructor(host: SessionHost, row: SessionRow, leafName: string, leaf: LeafState) {
    this.#host = host;
    this.#row = row;
    this.#leafName = leafName;
    this.#leaf = leaf;
  }

  get leafId(): EntryId | null {
    return this.#leaf.entryId;
  }

  commit(writes: readonly Write[], options: WriteOptions = {}): Promise<BatchResult> {
    const { onConflict = "error", expectedLeafId } = options;
    // Writes that have to wait are copied, so that later changes by their owner are not written.
    const batch = this.#queue.isBusy ? copyWrites(writes) : writes;
    return this.#run(async () => {
      const { entryId } = this.#leaf;
      if (expectedLeafId !== undefined && expectedLeafId !== entryId)
        throw new LeafMovedError(this.#row.id, this.#leafName, expectedLeafId, entryId);
      const result = await this.#host.storage.commit({
        sessionId: this.#row,
        leafName: this.#leafName,
        seen: this.#leaf,
        onConflict,
        onlyIfSeen: expectedLeafId !== undefined,
        writes: batch,
      });
      this.#leaf = result.leaf;
      this.#host.onAppended(result.entries.length);
      return result;
    });
  }

  /** Runs `work` in the order of the writes and stores the leaf state that `work` returns. Returns false if it returns undefined. */
  updateLeaf(work: (storage: SessionStorage, row: SessionRow, leafName: string) => Promise<LeafState | undefined>): Promise<boolean> {
    return this.#run(async () => {
      const leaf = await work(this.#host.storage, this.#row, this.#leafName);
      if (leaf !== undefined) this.#leaf = leaf;
      return leaf !== undefined;
    });
  }

  /** Runs a write that does not concern the leaf, in the order of the writes. */
  run(write: () => Promise<void>): Promise<void> {
    return this.#run(write);
  }

  /** Runs a write after those before. `Store.close` waits for it. */
  #run<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#queue.run(write);
    const { accepted } = this.#host;
    accepted.add(result);
    const done = () => void accepted.delete(result);
    result.then(done, done);
    return result;
  }
}
