import type { SessionId, Store } from "@bough/session-core";
import { NewestOnly } from "./typed-search.js";

/** Waits for writes of other processes to a store. */
export class StoreChanges {
  #isChanged = false;
  #wake: (() => void) | undefined;
  readonly #end: () => void;

  constructor(store: Store) {
    this.#end = store.onChange(() => {
      this.#isChanged = true;
      this.#wake?.();
    });
  }

  /** Resolves after a write, or after this time. Returns whether there was a write since the last call. */
  async next(waitMs?: number): Promise<boolean> {
    if (!this.#isChanged)
      await new Promise<void>((resolve) => {
        const timer = waitMs === undefined ? undefined : setTimeout(resolve, waitMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged;
  }

  end(): void {
    this.#end();
    this.#wake?.();
  }
}

/** The longest wait before the store is asked again, in milliseconds. A timer cannot wait for longer than 24 days. */
const MOST_MS = 3_600_000;

/**
 * Watches what other processes write to a store, and the sessions whose last reply their program is still writing: the last sync left it
 * out, so the store does not have it yet. After the time that the sync noted, nothing is known about a session until the next sync, and it
 * is no longer one of them.
 */
export class StoreWatcher {
  readonly #store: Store;
  readonly #now: () => number;
  #calls: NewestOnly<void> | undefined;
  #endListening: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Calls `onChange` after another process has written to the store, or to this session of it, not after writes of this process; and when
   * the first time of those that `readHeld` found last has passed. While a call runs, no other one starts; what changed meanwhile is one
   * call after it. `onChange` must not fail.
   */
  start(onChange: () => Promise<void> | void, sessionId?: SessionId): void {
    const calls = new NewestOnly<void>(async () => onChange());
    this.#calls = calls;
    this.#endListening = this.#store.onChange(({ sessionIds }) => {
      if (sessionId === undefined || sessionIds?.includes(sessionId) !== false) calls.start();
    });
  }

  /** The sessions with such a reply. */
  async readHeld(): Promise<ReadonlySet<SessionId>> {
    const nowMs = this.#now();
    const held = await this.#store.sources.heldSessions(nowMs);
    clearTimeout(this.#timer);
    if (held.length > 0 && this.#calls !== undefined) {
      const first = held.reduce((least, { untilMs }) => Math.min(least, untilMs - nowMs), MOST_MS);
      this.#timer = setTimeout(() => this.#calls?.start(), first + 1);
      this.#timer.unref();
    }
    return new Set(held.map(({ sessionId }) => sessionId));
  }

  end(): void {
    this.#calls?.end();
    this.#calls = undefined;
    this.#endListening();
    clearTimeout(this.#timer);
  }
}

/** The name of such a reply in all commands and screens. */
export const BEING_WRITTEN = "being written";
