import { type EntryId, quoted, type SessionId } from "../ids/ids.js";
import { BoughError } from "./base.js";

/** Something handed in does not fit its schema. `path` names the field (`message.content[2].text`). Nothing was written. */
export class InvalidEntryError extends BoughError {
  readonly code = "INVALID_ENTRY";
  override readonly name = "InvalidEntryError";
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`Not a valid entry: ${path === "" ? "" : `${quoted(path, 200)}: `}${reason}.`);
  }
}

/** A value that JSON cannot hold (a BigInt, a function, NaN, a cycle, a Map…). `path` names it. Nothing was written. */
export class UnserialisableValueError extends BoughError {
  readonly code = "UNSERIALISABLE_VALUE";
  override readonly name = "UnserialisableValueError";
  constructor(
    readonly path: string,
    readonly found: string,
  ) {
    super(`${quoted(path, 200)} holds ${found}, which JSON cannot keep. Convert it to text, a number or a plain object.`);
  }
}

/** An entry of this id exists with other content. Entries are never changed; nothing was written. */
export class EntryConflictError extends BoughError {
  readonly code = "ENTRY_CONFLICT";
  override readonly name = "EntryConflictError";
  constructor(
    readonly sessionId: SessionId,
    readonly entryId: EntryId,
  ) {
    super(`Session ${sessionId} has an entry ${entryId} with other content. Entries never change; use a new id.`);
  }
}

/** An entry refers to another one that is not where it must be (not on its path, or not of this session). */
export class InvalidReferenceError extends BoughError {
  readonly code = "INVALID_REFERENCE";
  override readonly name = "InvalidReferenceError";
  constructor(
    readonly field: string,
    readonly entryId: EntryId,
    readonly reason: string,
  ) {
    super(`${field} ${quoted(entryId)} ${reason}. Nothing was written.`);
  }
}

/** A small named value is too large. Nothing was written; keep large data in an entry or a file. */
export class ValueTooLargeError extends BoughError {
  readonly code = "VALUE_TOO_LARGE";
  override readonly name = "ValueTooLargeError";
  constructor(
    readonly key: string,
    readonly bytes: number,
    readonly limitBytes: number,
  ) {
    super(`The value '${quoted(key)}' has ${bytes} bytes; at most ${limitBytes} are kept. Put large data into an entry.`);
  }
}

/**
 * Something is too large for one row of the store, such as an entry of several hundred megabytes. Nothing was written, and
 * the store goes on as before; keep large data in a file and its path in the entry.
 */
export class TooLargeError extends BoughError {
  readonly code = "TOO_LARGE";
  override readonly name = "TooLargeError";
  constructor(
    readonly what: string,
    /** Characters of its JSON text that a store takes, in UTF-16 code units. */
    readonly limit: number,
    options?: { cause: unknown },
  ) {
    super(
      `${what} has more than ${limit} characters as JSON, the most that is kept in one piece. Nothing was written; split it, or keep it in a file.`,
      options,
    );
  }
}

/** A search that cannot be understood, such as one without a single letter or digit. */
export class InvalidQueryError extends BoughError {
  readonly code = "INVALID_QUERY";
  override readonly name = "InvalidQueryError";
  constructor(
    readonly query: string,
    readonly reason: string,
  ) {
    super(`Cannot search for '${query}': ${reason}.`);
  }
}
