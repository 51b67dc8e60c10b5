/**
 * Base of the errors that Bough's packages throw on purpose.
 *
 * `code` is stable and meant for programs. `message` is one line: the failure, and whether anything was written. `hint`, if
 * present, is the remedy for the caller, in terms of the API.
 *
 * @example
 * try { await session.append(entry); }
 * catch (error) { if (error instanceof BoughError && error.code === "LEAF_MOVED") await session.refresh(); }
 */
export abstract class BoughError extends Error {
  abstract readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, { hint, ...options }: { readonly hint?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.hint = hint;
  }
}

/**
 * An argument of a public function has the wrong type or is out of range. The function did nothing.
 *
 * `argument` is the name used in the documentation (`options.limit`). `wanted` and `given` are descriptions for people;
 * `given` is short and contains no control characters.
 */
export class InvalidArgumentError extends BoughError {
  readonly code = "INVALID_ARGUMENT";
  readonly argument: string;
  readonly wanted: string;
  readonly given: string;

  constructor(argument: string, wanted: string, given: string) {
    super(`The argument ${argument} must be ${wanted}; it is ${given}. Nothing was done.`);
    this.argument = argument;
    this.wanted = wanted;
    this.given = given;
  }
}
