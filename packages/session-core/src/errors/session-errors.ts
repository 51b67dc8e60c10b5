import { type EntryId, quoted, type SessionId } from "../ids/ids.js";
import { BoughError } from "./bough-error.js";

/** The store has no session with this id. Another process may have deleted it. */
export class SessionNotFoundError extends BoughError {
  readonly code = "SESSION_NOT_FOUND";
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`No session ${sessionId} in this store.`, { hint: "List the sessions with store.listSessions()." });
    this.sessionId = sessionId;
  }
}

/** A session with this id exists already. Nothing was written. */
export class SessionExistsError extends BoughError {
  readonly code = "SESSION_EXISTS";
  readonly sessionId: SessionId;

  constructor(sessionId: SessionId) {
    super(`Session ${sessionId} exists already. Nothing was written.`, {
      hint: "Open it with store.openSession(), or choose another id.",
    });
    this.sessionId = sessionId;
  }
}

/** The session has no entry with this id. */
export class EntryNotFoundError extends BoughError {
  readonly code = "ENTRY_NOT_FOUND";
  readonly sessionId: SessionId;
  readonly entryId: string;

  constructor(sessionId: SessionId, entryId: string) {
    super(`Session ${sessionId} has no entry ${entryId}.`, { hint: "List its entries with session.tree.outline()." });
    this.sessionId = sessionId;
    this.entryId = entryId;
  }
}

/**
 * A prefix or name matches several sessions or entries. `candidates` has the best ten matches, best first; the message
 * states how many more there are.
 */
export class AmbiguousNameError extends BoughError {
  readonly code = "AMBIGUOUS_NAME";
  /** The maximum number of matches that are counted. */
  static readonly COUNTED = 1000;
  /** The maximum number of matches that are named. */
  static readonly NAMED = 10;
  readonly typed: string;
  readonly candidates: readonly string[];
  /** The number of matches beyond the candidates. */
  readonly others: number;

  constructor(typed: string, found: readonly string[]) {
    const candidates = found.slice(0, AmbiguousNameError.NAMED);
    const others = found.length - candidates.length;
    const more = `${found.length < AmbiguousNameError.COUNTED ? "" : "at least "}${others} more`;
    super(`'${typed}' could be ${candidates.join(", ")}${others === 0 ? "" : ` and ${more}`}.`, { hint: "Use a longer prefix." });
    this.typed = typed;
    this.candidates = candidates;
    this.others = others;
  }
}

/**
 * Another writer moved the leaf since this session object last read it. Nothing was written.
 *
 * Call `refresh()` and decide again, or append with `onConflict: "follow"` or `"branch"`.
 */
export class LeafMovedError extends BoughError {
  readonly code = "LEAF_MOVED";
  readonly sessionId: SessionId;
  readonly leafName: string;
  readonly expected: EntryId | null;
  readonly actual: EntryId | null;

  constructor(sessionId: SessionId, leafName: string, expected: EntryId | null, actual: EntryId | null) {
    super(
      `Another writer moved the leaf '${leafName}' of session ${sessionId} to ${actual ?? "the start"} ` +
        `(expected ${expected ?? "the start"}). Nothing was written.`,
      { hint: 'Call session.refresh() and repeat, or append with onConflict: "follow" or "branch".' },
    );
    this.sessionId = sessionId;
    this.leafName = leafName;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The session has no leaf with this name. */
export class LeafNotFoundError extends BoughError {
  readonly code = "LEAF_NOT_FOUND";
  readonly sessionId: SessionId;
  readonly leafName: string;

  constructor(sessionId: SessionId, leafName: string) {
    super(`Session ${sessionId} has no leaf named '${leafName}'.`, { hint: "List its leaves with session.leaves()." });
    this.sessionId = sessionId;
    this.leafName = leafName;
  }
}

/** The leaf `main` was to be deleted. Every session has it. */
export class MainLeafError extends BoughError {
  readonly code = "MAIN_LEAF";
  readonly sessionId: SessionId;

  constructor(sessionId: SessionId) {
    super(`The leaf 'main' of session ${sessionId} cannot be deleted.`, { hint: "Delete the session with store.deleteSession()." });
    this.sessionId = sessionId;
  }
}

/** An entry, session field or value does not fit its schema. `path` names the field (`message.content[2].text`). Nothing was written. */
export class InvalidEntryError extends BoughError {
  readonly code = "INVALID_ENTRY";
  readonly path: string;
  readonly reason: string;

  /** `what`: what `path` is; undefined: a member of an entry. */
  constructor(path: string, reason: string, what?: string) {
    super(
      what === undefined
        ? `Not a valid entry: ${path === "" ? "" : `${quoted(path, 200)}: `}${reason}.`
        : `Not a valid ${what}: ${reason}.`,
    );
    this.path = path;
    this.reason = reason;
  }
}

/** JSON cannot represent a value (a BigInt, a function, NaN, a cycle, a Map…). `path` names it. Nothing was written. */
export class UnserializableValueError extends BoughError {
  readonly code = "UNSERIALIZABLE_VALUE";
  readonly path: string;
  readonly found: string;

  constructor(path: string, found: string) {
    super(`${quoted(path, 200)} is ${found}, which JSON cannot represent. Nothing was written.`, {
      hint: "Convert it to text, a number or a plain object.",
    });
    this.path = path;
    this.found = found;
  }
}

/** The session has an entry with this id and other content, or not below the given parent. Entries never change. Nothing was written. */
export class EntryConflictError extends BoughError {
  readonly code = "ENTRY_CONFLICT";
  readonly sessionId: SessionId;
  readonly entryId: EntryId;

  /** `difference` completes the sentence "The session has an entry …". */
  constructor(sessionId: SessionId, entryId: EntryId, difference = "with other content") {
    super(`Session ${sessionId} has an entry ${entryId} ${difference}. Nothing was written.`, {
      hint: "Entries never change: use a new id.",
    });
    this.sessionId = sessionId;
    this.entryId = entryId;
  }
}

/** An entry refers to an entry that is not on its path, or not of its session. Nothing was written. */
export class InvalidReferenceError extends BoughError {
  readonly code = "INVALID_REFERENCE";
  readonly field: string;
  readonly entryId: EntryId;
  readonly reason: string;

  constructor(field: string, entryId: EntryId, reason: string) {
    super(`${field} ${quoted(entryId)} ${reason}. Nothing was written.`);
    this.field = field;
    this.entryId = entryId;
    this.reason = reason;
  }
}

/** A session value is larger than the limit. Nothing was written. */
export class ValueTooLargeError extends BoughError {
  readonly code = "VALUE_TOO_LARGE";
  readonly key: string;
  readonly bytes: number;
  readonly limitBytes: number;

  constructor(key: string, bytes: number, limitBytes: number) {
    super(`The value '${quoted(key)}' has ${bytes} bytes; the limit is ${limitBytes}. Nothing was written.`, {
      hint: "Store large data in a file, and its path in the value.",
    });
    this.key = key;
    this.bytes = bytes;
    this.limitBytes = limitBytes;
  }
}

/** The value of a key is not the one that a conditional write expected: another writer has changed it. Nothing of the batch was written. */
export class ValueChangedError extends BoughError {
  readonly code = "VALUE_CHANGED";
  readonly sessionId: SessionId;
  readonly key: string;
  /** The present value as JSON, cut to 200 characters; undefined: the key has no value. */
  readonly actual: string | undefined;

  constructor(sessionId: SessionId, key: string, actual: string | undefined) {
    const shown = actual === undefined ? undefined : quoted(actual, 200);
    super(
      `The value '${quoted(key)}' of session ${sessionId} is not the expected one: ` +
        `${shown === undefined ? "it does not exist" : `it is ${quoted(shown, 80)}`}. Nothing was written.`,
      { hint: "Read it again with session.values.get() and repeat, or use session.values.update()." },
    );
    this.sessionId = sessionId;
    this.key = key;
    this.actual = shown;
  }
}

/** An entry or batch is too large for one row of the store, several hundred megabytes. Nothing was written; the store stays usable. */
export class TooLargeError extends BoughError {
  readonly code = "TOO_LARGE";
  readonly what: string;
  /** The longest JSON text of a row, in UTF-16 code units. */
  readonly limit: number;

  constructor(what: string, limit: number, options: { cause?: unknown } = {}) {
    super(`${what} has more than ${limit} characters as JSON, the limit of one row. Nothing was written.`, {
      ...options,
      hint: "Split it, or store the data in a file and its path in the entry.",
    });
    this.what = what;
    this.limit = limit;
  }
}

/** A search query cannot be used, for example because it is empty. */
export class InvalidQueryError extends BoughError {
  readonly code: "INVALID_QUERY" | "INVALID_EXPRESSION" | "SLOW_EXPRESSION" = "INVALID_QUERY";
  override readonly name: string = "InvalidQueryError";
  readonly query: string;
  readonly reason: string;

  constructor(query: string, reason: string) {
    super(`Cannot search for '${query}': ${reason}.`);
    this.query = query;
    this.reason = reason;
  }
}

/** A regular expression of a search query is none of JavaScript. */
export class InvalidExpressionError extends InvalidQueryError {
  override readonly code = "INVALID_EXPRESSION";
  /** Where in the expression, between its slashes, the first character that makes it invalid is; from 1. */
  readonly position: number;

  constructor(expression: string, reason: string, position: number) {
    super(expression, `${reason} at character ${position} of the expression`);
    this.position = position;
  }
}

/** A regular expression of a search query takes too long for the texts of the store. Nothing was found. */
export class SlowExpressionError extends InvalidQueryError {
  override readonly code = "SLOW_EXPRESSION";

  constructor(query: string, limitMs: number) {
    super(query, `the expression takes more than ${Math.round(limitMs)} ms for a few texts; avoid repetitions inside repetitions`);
  }
}
