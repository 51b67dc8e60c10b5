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
