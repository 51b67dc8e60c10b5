import { BoughError } from "@bough/session-core";
import { CommandError, errorLine } from "../errors.js";

/** A failure as a one-line notice of a screen. Errors other than documented refusals are marked as unexpected. */
export function failureNotice(error: unknown): string {
  const isExpected = error instanceof BoughError || error instanceof CommandError;
  return isExpected ? errorLine(error) : `Unexpected error: ${errorLine(error)}`;
}
