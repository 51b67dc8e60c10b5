import type { ValidatedEntry } from "../entry/validate.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { LeafState, SessionKey } from "../port/records.js";
import type { Batch, BatchResult } from "../port/writes.js";
import { setLabel } from "../sessions/labels.js";
import { findSessionRow, requireSessionSeq, sessionIdOf } from "../sessions/session-rows.js";
import { deleteValues, requireValue, setValue } from "../sessions/values.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { isOnPath } from "./ancestry.js";
import { type BatchTarget, BatchWriter, type ValidatedWrite, validateWrite } from "./batch-writer.js";
import { requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import { CachedLeafState, compareAndSetLeaf, createLeaf, findLeaf, recordMove, setLeaf } from "./leaves.js";
import type { EntryPathState, PathState } from "./path-rules.js";
import { readPathState, requirePathState } from "./path-state.js";

/**
 * Validates a batch and writes it in one transaction: all of it or, after any error, none.
 *
 * @throws {InvalidEntryError} an entry or another write is not valid; the store was not touched.
 * @throws {LeafMovedError} the stored leaf differs from `batch.seen`, and `onConflict` is `error` or `onlyIfSeen` is set.
 * @throws {SessionNotFoundError} the session was deleted.
 */
export function commitBatch(
  connection: Connection,
  batch: Batch,
  validateEntry: (given: unknown) => ValidatedEntry,
  fileTools: FileTools,
): BatchResult {
  const writes = batch.writes.map((write) => validateWrite(write, validateEntry));
  const seen = toCachedState(connection, batch.sessionId, batch.seen);
  const target = { id: sessionIdOf(batch.sessionId), seq: seen.session, fileTools };
  try {
    return connection.write(() => runBatch(connection, target, batch, seen.path, writes));
  } catch (error) {
    // If another process has deleted the session, the write fails in various ways; all are reported as SessionNotFoundError.
    // A row number is never used again, so the batch cannot have written to another session.
    if (connection.open && findSessionRow(connection, batch.sessionId)?.seq !== target.seq) throw new SessionNotFoundError(target.id);
    throw error;
  }
}

function toCachedState(connection: Connection, key: SessionKey, state: LeafState): CachedLeafState {
  if (state instanceof CachedLeafState) return state;
  const session = { id: sessionIdOf(key), seq: requireSessionSeq(connection, key) };
  const seq = state.entryId === null ? null : requireEntrySeq(connection, session, state.entryId);
  return new CachedLeafState(readPathState(connection, seq), session.seq);
}

function runBatch(
  connection: Connection,
  session: WriteTarget,
  batch: Batch,
  seen: PathState,
  writes: readonly ValidatedWrite[],
): BatchResult {
  const target = new StoredSession(connection, session);
  const { entries, leaf } = new BatchWriter(target, batch, seen).run(writes);
  target.flushTotals();
  return { entries, leaf: new CachedLeafState(leaf, session.seq) };
}

/** A session in the file. Each answer and each change is a statement. */
class StoredSession implements BatchTarget<EntrySeq> {
  readonly #connection: Connection;
  readonly #session: WriteTarget;
  readonly #writer: EntryWriter;

  constructor(connection: Connection, session: WriteTarget) {
    this.#connection = connection;
    this.#session = session;
    this.#writer = new EntryWriter(connection, session);
  }

  get id(): SessionId {
    return this.#session.id;
  }

  findLeaf(name: string): EntrySeq | null | undefined {
    return findLeaf(this.#connection, this.#session.seq, name)?.seq;
  }

  setLeaf(name: string, seq: EntrySeq | null): void {
    setLeaf(this.#connection, this.#session.seq, name, seq);
  }

  createLeaf(name: string, seq: EntrySeq | null): void {
    createLeaf(this.#connection, this.#session.seq, name, seq);
  }

  compareAndSetLeaf(name: string, expected: EntrySeq | null, to: EntrySeq | null): boolean {
    return compareAndSetLeaf(this.#connection, this.#session.seq, name, expected, to);
  }

  recordMove(name: string, from: EntrySeq | null, to: EntrySeq | null): void {
    recordMove(this.#connection, this.#session.seq, name, from, to);
  }

  stateAt(seq: EntrySeq | null): PathState {
    return readPathState(this.#connection, seq);
  }

  requireState(id: EntryId): EntryPathState {
    return requirePathState(this.#connection, this.#session, id);
  }

  requireSeq(id: EntryId): EntrySeq {
    return requireEntrySeq(this.#connection, this.#session, id);
  }

  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean {
    return isOnPath(this.#connection, ancestor, seq);
  }

  findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    return this.#writer.findEqual(entry, parent);
  }

  write(parent: PathState, entry: ValidatedEntry): EntryPathState {
    return this.#writer.write(parent, entry).state;
  }

  setLabel(entry: EntrySeq, label: string | null, createdAtMs: number): void {
    setLabel(this.#connection, this.#session.seq, entry, label, createdAtMs);
  }

  requireValue(key: string, expected: unknown): void {
    requireValue(this.#connection, this.#session, key, expected);
  }

  setValue(key: string, value: unknown): void {
    setValue(this.#connection, this.#session.seq, key, value);
  }

  deleteValues(prefix: string): void {
    deleteValues(this.#connection, this.#session.seq, prefix);
  }

  flushTotals(): void {
    this.#writer.flushTotals();
  }
}
