/**
 * Runs one piece of work at a time. Of the inputs that arrive while one runs, only the newest is kept, and `isWanted` of the running
 * work returns false. A search therefore needs no timer between keys: each key starts a query at once if none runs.
 */
export class NewestOnly<Input> {
  readonly #work: (input: Input, isWanted: () => boolean) => Promise<void>;
  #next: { readonly input: Input } | undefined;
  #isRunning = false;
  #isOver = false;

  /** `work` must not reject. It must check `isWanted` between its steps, and end early if that returns false. */
  constructor(work: (input: Input, isWanted: () => boolean) => Promise<void>) {
    this.#work = work;
  }

  /** Runs the work with this input, after the running one has ended. */
  start(input: Input): void {
    if (this.#isOver) return;
    this.#next = { input };
    if (!this.#isRunning) void this.#runAll();
  }

  /** Drops the waiting input. From then on `isWanted` of the running work returns false. */
  end(): void {
    this.#isOver = true;
    this.#next = undefined;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#next !== undefined) {
      // Keys that arrived together are handled before the first query of them starts.
      await new Promise(setImmediate);
      const next: { readonly input: Input } | undefined = this.#next;
      if (next === undefined) break;
      this.#next = undefined;
      await this.#work(next.input, () => this.#next === undefined && !this.#isOver);
    }
    this.#isRunning = false;
  }
}
