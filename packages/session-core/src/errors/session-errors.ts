import type { EntryId, SessionId } from "../ids/ids.js";
import { BoughError } from "./base.js";

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
