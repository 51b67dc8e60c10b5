/**
 * Runs the writes of one handle one after the other, in the order in which they were asked for, so that calls that
 * nobody awaits still arrive in order, each seeing the leaf that the one before it left. A failed write stops no other.
 */
export class WriteQueue {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `accepted` holds what has been asked for and not been done yet; closing a store waits for it. */
  constructor(private readonly accepted: Set<Promise<unknown>>) {}

  /** Whether a write that is asked for now has to wait. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  run<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#waiting === 0 ? write() : this.#last.then(write, write);
    this.#waiting += 1;
    this.#last = result;
    this.accepted.add(result);
    const done = () => {
      this.#waiting -= 1;
      this.accepted.delete(result);
    };
    result.then(done, done);
    return result;
  }
}
