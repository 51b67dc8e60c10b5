import { BoughError } from "@bough/session-core";
import { CommandFailure } from "../errors.js";

/** A failure as a one-line notice of a screen. Errors other than documented refusals are marked as unexpected. */
export function failureNotice(error: unknown): string {
  const isExpected = error instanceof BoughError || error instanceof CommandFailure;
  return isExpected ? errorLine(error) : `Unexpected error: ${errorLine(error)}`;
}

/** The first line of an error's message, for screens. A store, a model or a tool may throw any value. */
export function errorLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
