/**
 * Base of every failure this package raises on purpose.
 *
 * `code` is stable and for programs; `message` is one line for people and says what, where and what to do.
 *
 * @example
 * try { await session.append(entry); }
 * catch (error) { if (error instanceof BoughError && error.code === "LEAF_MOVED") await session.refresh(); }
 */
export abstract class BoughError extends Error {
  abstract readonly code: string;
}

/**
 * A function was called with an argument of the wrong type or outside its range. Nothing was done.
 *
 * `argument` names it as the documentation does (`options.limit`), `wanted` and `given` are texts for people; `given` is
 * cut to a short length and never holds control characters.
 */
export class InvalidArgumentError extends BoughError {
  readonly code = "INVALID_ARGUMENT";
  override readonly name = "InvalidArgumentError";
  constructor(
    readonly argument: string,
    readonly wanted: string,
    readonly given: string,
  ) {
    super(`The argument ${argument} must be ${wanted}; it is ${given}. Nothing was done.`);
  }
}
