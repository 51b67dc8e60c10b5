import type { ValidatedEntry } from "../../entry/validate.js";
import { SessionNotFoundError } from "../../errors/session-errors.js";
import type { EntryId, EntrySeq, SessionId, SessionSeq } from "../../ids/ids.js";
import { MAIN_LEAF, type NewSession, type OpenedSession, type SessionRow } from "../../port/records.js";
import type { Batch, BatchResult, Write } from "../../port/writes.js";
import { type BatchTarget, BatchWriter, type ValidatedWrite, validateWrite } from "../../rules/batch-writer.js";
import type { EntryPathState, PathState } from "../../rules/derived-columns.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";
import { findSessionRow, insertNewSession, requireSessionSeq } from "../sessions/session-rows.js";
import { deleteValues, requireValue, setValue } from "../sessions/values.js";
import { setLabel } from "./annotations.js";
import { requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import { createLeaf, findLeaf, openLeaf, readLeaf, recordMove, setLeaf } from "./leaves.js";
import { FileLeafState, isOnPath, readPathState, requirePathState } from "./paths.js";

const advanceLeaf = query<{ session: SessionSeq; name: string; expected: EntrySeq | null; entry: EntrySeq | null }>(({ db, p }) =>
  db
    .updateTable("leaf")
    .set({ entry_seq: p.entry })
    .where("session_seq", "=", p.session)
    .where("name", "=", p.name)
    .where("entry_seq", "is", p.expected),
);

/** Moves a leaf from `expected`. Returns false if it is not there; the caller must roll back. */
function compareAndSetLeaf(
  connection: Connection,
  session: SessionSeq,
  name: string,
  expected: EntrySeq | null,
  entry: EntrySeq | null,
): boolean {
  return connection.run(advanceLeaf, { session, name, expected, entry }) === 1;
}

/** A session in the file. Each answer and each change is a statement. */
export class StoredSession implements BatchTarget {
  readonly #connection: Connection;
  readonly #session: WriteTarget;
  protected readonly writer: EntryWriter;

  constructor(connection: Connection, session: WriteTarget) {
    this.#connection = connection;
    this.#session = session;
    this.writer = new EntryWriter(connection, session);
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
    return this.writer.findEqual(entry, parent);
  }

  write(parent: PathState, entry: ValidatedEntry): EntryPathState {
    return this.writer.write(parent, entry).state;
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
    this.writer.flushTotals();
  }
}

/**
 * Validates a batch and writes it in one transaction: all of it or, after any error, none.
 *
 * @throws {InvalidEntryError} an entry or another write is not valid; the store was not touched.
 * @throws {LeafMovedError} the stored leaf differs from `batch.seen`, and `onConflict` is `error` or `onlyIfSeen` is set.
 * @throws {SessionNotFoundError} the session was deleted.
 */
export function commitBatch(
  connection: Connection,
  batch: Batch<FileLeafState>,
  validateEntry: (given: unknown) => ValidatedEntry,
  fileTools: FileTools,
): BatchResult {
  const writes = batch.writes.map((write) => validateWrite(write, validateEntry));
  const target = { ...batch.seen.session, fileTools };
  try {
    return connection.write(() => runBatch(connection, target, batch, writes));
  } catch (error) {
    // If another process has deleted the session, the write fails in various ways; all are reported as SessionNotFoundError.
    // A row number is never used again, so the batch cannot have written to another session.
    if (connection.open && findSessionRow(connection, batch.sessionId)?.seq !== target.seq) throw new SessionNotFoundError(target.id);
    throw error;
  }
}

function runBatch(
  connection: Connection,
  session: WriteTarget,
  batch: Batch<FileLeafState>,
  writes: readonly ValidatedWrite[],
): BatchResult {
  // A write of an entry or a move fails by itself if the session was deleted; removing a missing row does not.
  if (!writes.some(({ kind }) => kind === "entry" || kind === "moveLeaf")) requireSessionSeq(connection, session);
  const target = new StoredSession(connection, session);
  const { entries, leaf } = new BatchWriter(target, batch, batch.seen.path).run(writes);
  target.flushTotals();
  return { entries, leaf: new FileLeafState(leaf, session) };
}

/** Writes in the transaction that creates a session, at its leaf `main`. */
export interface FirstWrites {
  readonly writes: readonly Write[];
  readonly validateEntry: (given: unknown) => ValidatedEntry;
  readonly fileTools: FileTools;
}

/** Inserts a session with its first writes. Call it inside `write`. @throws {SessionExistsError | InvalidEntryError} */
export function createSession(connection: Connection, given: NewSession, first: FirstWrites | undefined): SessionRow {
  const session = insertNewSession(connection, given);
  writeFirst(connection, session, first);
  return session;
}

/** Does the first writes of a session at its leaf `main`. Call it inside `write`. */
export function writeFirst(connection: Connection, session: SessionRow, first: FirstWrites | undefined): void {
  if (first === undefined) return;
  const { writes, validateEntry, fileTools } = first;
  const seen = readLeaf(connection, session, MAIN_LEAF);
  commitBatch(connection, { sessionId: session, leafName: MAIN_LEAF, seen, onConflict: "error", writes }, validateEntry, fileTools);
}

/**
 * Returns a session and its leaf, or undefined if one of them has to be created. Call it inside `read`.
 *
 * @throws {SessionNotFoundError} the session is unknown, and `mayCreate` is false.
 */
export function findOpened(connection: Connection, id: SessionId, leafName: string, mayCreate: boolean): OpenedSession | undefined {
  const session = findSessionRow(connection, id);
  if (session === undefined && !mayCreate) throw new SessionNotFoundError(id);
  if (session === undefined || findLeaf(connection, session.seq, leafName) === undefined) return undefined;
  const row = { id, seq: session.seq };
  return { row, leaf: readLeaf(connection, row, leafName) };
}

/**
 * Returns a session and its leaf. Creates the leaf at the position of `main` if it is missing, and the session if it is unknown and
 * `missing` is given. Call it inside `write`.
 */
export function openOrCreate(
  connection: Connection,
  id: SessionId,
  leafName: string,
  missing: { readonly session: NewSession; readonly first: FirstWrites | undefined } | undefined,
): OpenedSession {
  const found = findSessionRow(connection, id);
  if (found === undefined && missing === undefined) throw new SessionNotFoundError(id);
  const seq = found?.seq ?? createSession(connection, { ...missing?.session, id }, missing?.first).seq;
  const row = { id, seq };
  return { row, leaf: openLeaf(connection, row, leafName, readLeaf(connection, row, MAIN_LEAF)) };
}
