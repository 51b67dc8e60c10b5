import { BoughError } from "./base.js";

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
