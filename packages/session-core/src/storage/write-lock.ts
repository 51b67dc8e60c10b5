import { setTimeout as delay } from "node:timers/promises";
import { StoreBusyError } from "../errors/store-errors.js";

/** Bounds of the time between two attempts, in milliseconds. */
const SHORTEST_MS = 1;
const EAGER_MS = 3;
const LONGEST_MS = 100;

/** After so long of writes without a pause, the lock is left to others for a moment, in milliseconds. */
const WITHOUT_PAUSE_MS = 100;
const PAUSE_MS = 4;

/** A usual wait below this counts as none. */
const NO_WAIT_MS = 0.3;

/**
 * Runs the writes of one connection one after the other, in the order in which they were asked for. Where another
 * process holds the lock, a write is tried again by a timer, so that the event loop goes on.
 *
 * SQLite has no queue for its lock: whoever tries at the right moment has it. So that no process starves, each of them
 * remembers how long it usually waits. A write that has waited for less than that tries rarely, one that has waited for
 * longer tries about every millisecond. After a write that had to wait, and now and then in a long row of writes, the next
 * one leaves the lock to others first: between two writes of one process it is free for less time than others need to see it.
 */
export class WriteLock {
  readonly #timeoutMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** How long a write waited for the lock, averaged over the last ones; 0: nobody else writes. */
  #usualMs = 0;
  /** When this connection may try again after its last write. */
  #restsUntilMs = 0;
  #lastTakenMs = 0;
  /** Since when this connection has been writing without a pause. */
  #writingSinceMs = 0;

  /** `timeoutMs`: how long a write waits while none of this connection gets the lock. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs `write`, at once where the lock is free and no write waits; `beforeWaiting` is called before this returns where
   * it has to wait.
   *
   * @throws {StoreBusyError} the lock was not free within the timeout. `write` must throw it before it changes anything.
   */
  async run<T>(write: () => T, beforeWaiting?: () => void): Promise<T> {
    const tried = this.#waiting === 0 && performance.now() >= this.#restsUntilMs ? this.#attempt(write, 0) : undefined;
    if (tried !== undefined) return tried.result;
    beforeWaiting?.();
    return this.#inTurn(write);
  }

  #inTurn<T>(write: () => T): Promise<T> {
    const askedMs = performance.now();
    this.#waiting += 1;
    const result = this.#last.then(() => this.#whenFree(write, askedMs));
    const done = () => {
      this.#waiting -= 1;
    };
    this.#last = result.then(done, done);
    return result;
  }

  async #whenFree<T>(write: () => T, askedMs: number): Promise<T> {
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs > 0) await delay(restMs);
    const startedMs = performance.now();
    const deadlineMs = Math.max(askedMs, this.#lastTakenMs) + this.#timeoutMs;
    for (let waitedMs = 0; ; waitedMs = performance.now() - startedMs) {
      const tried = this.#attempt(write, waitedMs);
      if (tried !== undefined) return tried.result;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw new StoreBusyError(this.#timeoutMs);
      await delay(Math.min(this.#pauseMs(waitedMs), leftMs));
    }
  }

  /** undefined: the lock is taken. */
  #attempt<T>(write: () => T, waitedMs: number): { readonly result: T } | undefined {
    const startedMs = performance.now();
    try {
      const result = write();
      this.#taken(startedMs, waitedMs);
      return { result };
    } catch (error) {
      if (error instanceof StoreBusyError) return undefined;
      this.#taken(startedMs, waitedMs);
      throw error;
    }
  }

  #taken(startedMs: number, waitedMs: number): void {
    if (startedMs - this.#lastTakenMs > PAUSE_MS) this.#writingSinceMs = startedMs;
    this.#lastTakenMs = performance.now();
    // It rises faster than it falls: one write that found the lock free by chance says little.
    this.#usualMs += (waitedMs - this.#usualMs) / (waitedMs > this.#usualMs ? 4 : 8);
    if (this.#usualMs < NO_WAIT_MS) this.#usualMs = 0;
    const owesPause = this.#lastTakenMs - this.#writingSinceMs > WITHOUT_PAUSE_MS;
    this.#restsUntilMs = this.#usualMs > 0 || owesPause ? this.#lastTakenMs + Math.max(this.#pauseMs(0), owesPause ? PAUSE_MS : 0) : 0;
    if (owesPause) this.#writingSinceMs = this.#lastTakenMs;
  }

  /** How long to rest before the next attempt of a write that has waited for so long. */
  #pauseMs(waitedMs: number): number {
    const eager = clamp(this.#usualMs / 50, SHORTEST_MS, EAGER_MS);
    // Spread, so that processes that wait for the same lock do not try at the same moments.
    return clamp((1.2 * this.#usualMs - waitedMs) / 3, eager, LONGEST_MS) * (0.5 + Math.random());
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Runs `attempt` until it meets no lock: for work that has no connection yet. @throws {StoreBusyError} after the timeout. */
export async function retryWhileBusy<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  return new WriteLock(timeoutMs).run(attempt);
}
