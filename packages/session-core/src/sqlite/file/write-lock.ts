import { setTimeout as delay } from "node:timers/promises";
import { StoreBusyError } from "../../errors/store-errors.js";

/** Bounds of the time between two attempts, in milliseconds. */
const SHORTEST_MS = 1;
const EAGER_MS = 3;
const LONGEST_MS = 100;

/** After this time of writes without a pause, the next write waits, so that other processes can get the lock, in milliseconds. */
const WITHOUT_PAUSE_MS = 100;
const PAUSE_MS = 4;

/** An average wait below this counts as none. */
const NO_WAIT_MS = 0.3;

/**
 * Runs the writes of one connection one after the other, in the order of the calls. While another process holds the lock of
 * SQLite, a write is retried by a timer, so that the event loop is not blocked.
 *
 * SQLite has no queue for its lock: the process that tries while the lock is free gets it. To prevent starvation, each process
 * tracks its average wait. A write that has waited less than the average retries rarely; one that has waited longer retries
 * about every millisecond. After a write that had to wait, and regularly during long series of writes, the next write pauses
 * first, because between two writes of one process the lock is free for less time than the retry interval of others.
 */
export class WriteLock {
  readonly #timeoutMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** The average wait of recent writes for the lock; 0 if no other process writes. */
  #averageWaitMs = 0;
  /** The time before which the next write must not start. */
  #pausedUntilMs = 0;
  #lastTakenMs = 0;
  /** The start of the current series of writes without a pause. */
  #writingSinceMs = 0;

  /** `timeoutMs`: how long a write waits if no write of this connection gets the lock. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs `write`, synchronously if the lock is free and no write waits. Otherwise calls `beforeWaiting` before this function
   * returns.
   *
   * @throws {StoreBusyError} the lock was not free within the timeout. `write` must throw it before it changes anything.
   */
  async run<T>(write: () => T, beforeWaiting?: () => void): Promise<T> {
    const attempt = this.#attemptIfIdle(write);
    if (attempt !== undefined) return attempt.result;
    beforeWaiting?.();
    return this.#enqueue(write);
  }

  /** Runs `write` if the lock is free and no write waits. @throws {StoreBusyError} otherwise. */
  runIfFree<T>(write: () => T): T {
    const attempt = this.#attemptIfIdle(write);
    if (attempt === undefined) throw new StoreBusyError(0);
    return attempt.result;
  }

  #attemptIfIdle<T>(write: () => T): { readonly result: T } | undefined {
    return this.#waiting === 0 && performance.now() >= this.#pausedUntilMs ? this.#attempt(write, 0) : undefined;
  }

  #enqueue<T>(write: () => T): Promise<T> {
    const calledMs = performance.now();
    this.#waiting += 1;
    const result = this.#last.then(() => this.#retryUntilFree(write, calledMs));
    const done = () => {
      this.#waiting -= 1;
    };
    this.#last = result.then(done, done);
    return result;
  }

  async #retryUntilFree<T>(write: () => T, calledMs: number): Promise<T> {
    const pauseMs = this.#pausedUntilMs - performance.now();
    if (pauseMs > 0) await delay(pauseMs);
    const startedMs = performance.now();
    const deadlineMs = Math.max(calledMs, this.#lastTakenMs) + this.#timeoutMs;
    for (let waitedMs = 0; ; waitedMs = performance.now() - startedMs) {
      const attempt = this.#attempt(write, waitedMs);
      if (attempt !== undefined) return attempt.result;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw new StoreBusyError(this.#timeoutMs);
      await delay(Math.min(this.#pauseMs(waitedMs), leftMs));
    }
  }

  /** Returns undefined if another process holds the lock. */
  #attempt<T>(write: () => T, waitedMs: number): { readonly result: T } | undefined {
    const startedMs = performance.now();
    try {
      const result = write();
      this.#recordAttempt(startedMs, waitedMs);
      return { result };
    } catch (error) {
      if (error instanceof StoreBusyError) return undefined;
      this.#recordAttempt(startedMs, waitedMs);
      throw error;
    }
  }

  #recordAttempt(startedMs: number, waitedMs: number): void {
    if (startedMs - this.#lastTakenMs > PAUSE_MS) this.#writingSinceMs = startedMs;
    this.#lastTakenMs = performance.now();
    // Rises faster than it falls, because a single write may find the lock free by chance.
    this.#averageWaitMs += (waitedMs - this.#averageWaitMs) / (waitedMs > this.#averageWaitMs ? 4 : 8);
    if (this.#averageWaitMs < NO_WAIT_MS) this.#averageWaitMs = 0;
    const needsPause = this.#lastTakenMs - this.#writingSinceMs > WITHOUT_PAUSE_MS;
    this.#pausedUntilMs =
      this.#averageWaitMs > 0 || needsPause ? this.#lastTakenMs + Math.max(this.#pauseMs(0), needsPause ? PAUSE_MS : 0) : 0;
    if (needsPause) this.#writingSinceMs = this.#lastTakenMs;
  }

  /** The pause before the next attempt of a write that has waited `waitedMs`. */
  #pauseMs(waitedMs: number): number {
    const eager = clamp(this.#averageWaitMs / 50, SHORTEST_MS, EAGER_MS);
    // Randomized, so that waiting processes do not retry at the same times.
    return clamp((1.2 * this.#averageWaitMs - waitedMs) / 3, eager, LONGEST_MS) * (0.5 + Math.random());
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Retries `attempt` while it throws `StoreBusyError`, for reads and for opening. @throws {StoreBusyError} after the timeout. */
export async function retryWhileBusy<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  return new WriteLock(timeoutMs).run(attempt);
}
