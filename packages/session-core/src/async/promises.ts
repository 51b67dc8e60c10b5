/**
 * Resolves with the promise, or rejects with `signal.reason` when aborted. The promise itself is not canceled; its result
 * after the abort is ignored, without an unhandled rejection. A function is called at once, unless the signal is
 * aborted already. No listener is left on the signal.
 *
 * @example
 * const response = await raceAbort(() => fetch(url, { signal }), signal);
 */
export async function raceAbort<T>(work: Promise<T> | (() => Promise<T>), signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return typeof work === "function" ? work() : work;
  if (signal.aborted && typeof work !== "function") work.catch(() => undefined);
  signal.throwIfAborted();
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    stopListening = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([typeof work === "function" ? work() : work, aborted]);
  } catch (error) {
    // An aborted fetch rejects with its own error; the caller gets the reason of the abort.
    signal.throwIfAborted();
    throw error;
  } finally {
    stopListening();
  }
}

/**
 * Runs pieces of work one after the other, in the order of their calls. Work starts at once if none runs. A failure rejects the
 * promise of its own call only, and the next piece runs.
 *
 * @example
 * const queue = new SerialQueue();
 * await Promise.all([queue.run(() => append("a")), queue.run(() => append("b"))]); // never at the same time
 */
export class SerialQueue {
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** True if work that is called now has to wait. */
  get isBusy(): boolean {
    return this.#unfinished > 0;
  }

  /** Resolves or rejects with `work`. A rejection that nobody awaits is not reported as unhandled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.isBusy ? this.#last.then(work, work) : work();
    this.#unfinished += 1;
    this.#last = result;
    const done = () => {
      this.#unfinished -= 1;
    };
    result.then(done, done);
    return result;
  }

  /** Resolves when the work called so far has ended. Never rejects. */
  async idle(): Promise<void> {
    await this.#last.catch(() => undefined);
  }
}
