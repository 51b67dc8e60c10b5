import { type EntryId, quoted, type SessionId } from "../ids/ids.js";
import { BoughError } from "./bough-error.js";

/** No session of this store has this id; it may have been deleted by another process. */
export class SessionNotFoundError extends BoughError {
  readonly code = "SESSION_NOT_FOUND";
  override readonly name = "SessionNotFoundError";
  constructor(readonly sessionId: string) {
    super(`No session ${sessionId} in this store. List them with 'bough sessions'.`);
  }
}

/** A session with this id exists already. Nothing was written. */
export class SessionExistsError extends BoughError {
  readonly code = "SESSION_EXISTS";
  override readonly name = "SessionExistsError";
  constructor(readonly sessionId: SessionId) {
    super(`Session ${sessionId} exists already. Open it, or choose another id.`);
  }
}

/** No entry of this session has this id. */
export class EntryNotFoundError extends BoughError {
  readonly code = "ENTRY_NOT_FOUND";
  override readonly name = "EntryNotFoundError";
  constructor(
    readonly sessionId: SessionId,
    readonly entryId: string,
  ) {
    super(`Session ${sessionId} has no entry ${entryId}. See them with 'bough tree ${sessionId}'.`);
  }
}

/** What was typed names several sessions or entries. `candidates` lists them, best first, at most ten; the message says how many more there are. */
export class AmbiguousNameError extends BoughError {
  readonly code = "AMBIGUOUS_NAME";
  override readonly name = "AmbiguousNameError";
  /** Names that are looked for before the counting stops. */
  static readonly COUNTED = 1000;
  readonly candidates: readonly string[];
  constructor(
    readonly typed: string,
    found: readonly string[],
  ) {
    const candidates = found.slice(0, 10);
    const others = found.length - candidates.length;
    const more = `${found.length < AmbiguousNameError.COUNTED ? "" : "at least "}${others} more`;
    super(`'${typed}' could be ${candidates.join(", ")}${others === 0 ? "" : ` and ${more}`}. Type more of the one you mean.`);
    this.candidates = candidates;
  }
}

/**
 * Another writer moved the leaf since this handle last saw it. Nothing was written.
 *
 * Call `refresh()` and decide again, or append with `onConflict: "follow"` or `"branch"`.
 */
export class LeafMovedError extends BoughError {
  readonly code = "LEAF_MOVED";
  override readonly name = "LeafMovedError";
  constructor(
    readonly sessionId: SessionId,
    readonly leafName: string,
    readonly expected: EntryId | null,
    readonly actual: EntryId | null,
  ) {
    super(
      `The leaf '${leafName}' of session ${sessionId} was moved to ${actual ?? "the start"} by another writer ` +
        `(expected ${expected ?? "the start"}). Nothing was written; look again, then repeat.`,
    );
  }
}

/** The session has no leaf of this name. */
export class LeafNotFoundError extends BoughError {
  readonly code = "LEAF_NOT_FOUND";
  override readonly name = "LeafNotFoundError";
  constructor(
    readonly sessionId: SessionId,
    readonly leafName: string,
  ) {
    super(`Session ${sessionId} has no leaf named '${leafName}'.`);
  }
}

/** The leaf `main` is the session's own and cannot be taken away. */
export class MainLeafError extends BoughError {
  readonly code = "MAIN_LEAF";
  override readonly name = "MainLeafError";
  constructor(readonly sessionId: SessionId) {
    super(`Session ${sessionId} always has its leaf 'main'. Take away another one, or delete the session.`);
  }
}

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

/** Nothing is at the path to import. */
export class SourceNotFoundError extends BoughError {
  readonly code = "SOURCE_NOT_FOUND";
  override readonly name = "SourceNotFoundError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`Nothing to read at ${path}. Check the path.`, options);
  }
}

/** Something is at the path, and it cannot be read: a pipe or a device, no permission, links in a circle. Nothing of it was imported. */
export class SourceUnreadableError extends BoughError {
  readonly code = "SOURCE_UNREADABLE";
  override readonly name = "SourceUnreadableError";
  constructor(
    readonly path: string,
    readonly reason: string,
    options?: { cause: unknown },
  ) {
    super(`${path} cannot be read: ${reason}.`, options);
  }
}

/** A directory without a single session file. Nothing was imported. */
export class NoSessionsFoundError extends BoughError {
  readonly code = "NO_SESSIONS_FOUND";
  override readonly name = "NoSessionsFoundError";
  constructor(
    readonly path: string,
    readonly looked: number,
  ) {
    super(
      `No session files of a known agent in ${path} (${looked} files looked at). Name a folder of pi, oh-my-pi, Claude Code or Bough sessions.`,
    );
  }
}

/** The content of the file fits no known format. Nothing was imported. */
export class UnknownFormatError extends BoughError {
  readonly code = "UNKNOWN_FORMAT";
  override readonly name = "UnknownFormatError";
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path} is not a session file of a known agent: ${reason}. Known: pi, oh-my-pi, Claude Code, Bough.`);
  }
}

/** The file is in a format version this program does not know. Nothing was imported. */
export class UnknownFormatVersionError extends BoughError {
  readonly code = "UNKNOWN_FORMAT_VERSION";
  override readonly name = "UnknownFormatVersionError";
  constructor(
    readonly path: string,
    readonly format: string,
    readonly version: number,
    readonly supported: number,
  ) {
    super(`${path} is a ${format} file of version ${version}; versions up to ${supported} are read. Update Bough.`);
  }
}
