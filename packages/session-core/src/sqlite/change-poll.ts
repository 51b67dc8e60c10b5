import { BoughError } from "../errors/bough-error.js";
import type { StoreChange } from "../port/session-storage.js";
import { query, rawQuery } from "./query.js";
import type { SerializedConnection } from "./serialized-connection.js";

// SQLite's count of the commits of other connections. It is read from the WAL index, so a poll costs some microseconds.
const changeCount = query<Record<never, never>, { changes: number }>(({ sql }) =>
  rawQuery(sql<{ changes: number }>`SELECT data_version AS changes FROM pragma_data_version`),
);

/** The interval of the polls, in milliseconds. */
const LOOK_MS = 500;

type Listener = (change: StoreChange) => void;

/** Calls its listeners after other connections have written to a file. Polls SQLite's count of commits every 500 ms. */
export class ChangePoll {
  readonly #queue: SerializedConnection;
  readonly #listeners = new Set<Listener>();
  #timer: NodeJS.Timeout | undefined;
  #known: number | undefined;
  #isLooking = false;

  constructor(queue: SerializedConnection) {
    this.#queue = queue;
  }

  /** Polls as long as there is a listener. Returns a function that removes this one. */
  add(listener: Listener): () => void {
    // A copy, because a function that is added twice is called twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#stop();
    };
  }

  /** Removes all listeners. */
  end(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    this.#known = undefined;
    void this.#look();
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const count = await this.#queue.read((connection) => connection.get(changeCount, {})?.changes);
      const isChanged = this.#known !== undefined && count !== this.#known;
      this.#known = count;
      if (isChanged) for (const listener of [...this.#listeners]) listener({ sessionIds: null });
    } catch (error) {
      // A file that cannot be read now is reported by the next operation of the user. The next poll may succeed.
      if (!(error instanceof BoughError)) throw error;
    } finally {
      this.#isLooking = false;
    }
  }
}
