import { normalizeUsageOf } from "../entry/usage.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { InvalidEntryError, SessionNotFoundError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { LeafState, SessionKey } from "../port/records.js";
import type { Batch, BatchResult, Write } from "../port/writes.js";
import { setLabel } from "../sessions/labels.js";
import { findSessionRow, requireSessionSeq, sessionIdOf } from "../sessions/session-rows.js";
import { deleteValues, requireValue, setValue } from "../sessions/values.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { isOnPath } from "./ancestry.js";
import { requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import {
  CachedLeafState,
  compareAndSetLeaf,
  moveLeaf,
  moveOrCreateLeaf,
  recordMove,
  requireLeafAt,
  requireLeafSeq,
  setLeaf,
} from "./leaves.js";
import { EMPTY_PATH, type EntryPathState, type PathState, readPathState, requirePathState } from "./path-state.js";

/** A write whose entry has been validated. */
type ValidatedWrite =
  | Exclude<Write, { readonly kind: "entry" }>
  | { readonly kind: "entry"; readonly entry: ValidatedEntry; readonly parentId?: EntryId | null | undefined };

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
    return connection.write(() => new BatchWriter(connection, target, batch, seen.path).run(writes));
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

function validateWrite(write: Write, validateEntry: (given: unknown) => ValidatedEntry): ValidatedWrite {
  switch (write.kind) {
    case "entry":
      return { kind: "entry", entry: validateEntry(normalizeUsageOf(write.entry)), parentId: write.parentId };
    case "label":
      if (write.createdAtMs !== undefined && !Number.isSafeInteger(write.createdAtMs)) {
        throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
      }
      return write;
    case "value":
    case "deleteValues":
    case "moveLeaf":
      return write;
  }
  // JavaScript callers can pass any kind; an unknown kind must be rejected, not silently ignored.
  throw new InvalidEntryError("kind", "must be entry, label, value, deleteValues or moveLeaf");
}

/** Writes one batch inside a transaction. */
class BatchWriter {
  readonly #connection: Connection;
  readonly #target: WriteTarget;
  readonly #batch: Batch;
  readonly #writer: EntryWriter;
  readonly #entries: { readonly id: EntryId; readonly seq: EntrySeq }[] = [];
  /** The last known position of the leaf row. The row is written once per run of entries. */
  #stored: PathState;
  /** The parent of the next entry. */
  #parent: PathState;
  /** Whether entries were written since the leaf row was written. */
  #leafIsBehind = false;

  constructor(connection: Connection, target: WriteTarget, batch: Batch, seen: PathState) {
    this.#connection = connection;
    this.#target = target;
    this.#batch = batch;
    this.#writer = new EntryWriter(connection, target);
    this.#stored = seen;
    this.#parent = seen;
  }

  run(writes: readonly ValidatedWrite[]): BatchResult {
    if (this.#batch.onlyIfSeen) requireLeafAt(this.#connection, this.#target, this.#batch.leafName, this.#stored);
    for (const write of writes) this.#write(write);
    this.#advanceLeaf();
    this.#writer.flushTotals();
    return { entries: this.#entries, leaf: new CachedLeafState(this.#parent, this.#target.seq) };
  }

  #write(write: ValidatedWrite): void {
    const session = this.#target;
    switch (write.kind) {
      case "entry":
        if (write.parentId === undefined) this.#append(write.entry);
        else this.#appendBelow(write.parentId, write.entry);
        return;
      case "label":
        setLabel(this.#connection, session.seq, this.#requireSeq(write.entryId), write.label, write.createdAtMs ?? Date.now());
        return;
      case "value":
        if ("ifEquals" in write) requireValue(this.#connection, session, write.key, write.ifEquals);
        setValue(this.#connection, session.seq, write.key, write.value);
        return;
      case "deleteValues":
        deleteValues(this.#connection, session.seq, write.prefix);
        return;
      case "moveLeaf":
        this.#moveLeaf(write.leaf ?? this.#batch.leafName, write.to === null ? null : this.#requireSeq(write.to));
        return;
    }
  }

  #moveLeaf(name: string, to: EntrySeq | null): void {
    if (name !== this.#batch.leafName) {
      moveOrCreateLeaf(this.#connection, this.#target, name, to);
      return;
    }
    this.#advanceLeaf();
    this.#parent = moveLeaf(this.#connection, this.#target, name, to);
    this.#stored = this.#parent;
  }

  #append(entry: ValidatedEntry): void {
    const known = this.#writer.findEqual(entry);
    if (known !== undefined) {
      this.#entries.push({ id: known.entryId, seq: known.seq });
      if (!this.#leafIsBehind) this.#continueAfterRetry(known);
      return;
    }
    if (!this.#leafIsBehind) this.#resolveConflict();
    const { state } = this.#writer.write(this.#parent, entry);
    this.#entries.push({ id: state.entryId, seq: state.seq });
    this.#parent = state;
    this.#leafIsBehind = true;
  }

  /** Appends below a given entry. Neither reads nor writes a leaf. */
  #appendBelow(parentId: EntryId | null, entry: ValidatedEntry): void {
    const parent = parentId === null ? EMPTY_PATH : requirePathState(this.#connection, this.#target, parentId);
    const known = this.#writer.findEqual(entry, parent);
    const state = known ?? this.#writer.write(parent, entry).state;
    this.#entries.push({ id: state.entryId, seq: state.seq });
  }

  /**
   * Handles a repeated append whose first attempt was stored: if the stored leaf is at or below that entry, the next entry is
   * appended below the leaf. If another writer moved the leaf elsewhere, nothing changes, and the next append detects the conflict.
   */
  #continueAfterRetry(known: EntryPathState): void {
    const leaf = requireLeafSeq(this.#connection, this.#target, this.#batch.leafName);
    if (!isOnPath(this.#connection, known.seq, leaf)) return;
    this.#stored = readPathState(this.#connection, leaf);
    this.#parent = this.#stored;
  }

  /**
   * If another writer moved the stored leaf: `follow` appends below it; `branch` keeps the parent and records a leaf move.
   * `error` is checked by `#advanceLeaf`, in the statement that writes the leaf row.
   */
  #resolveConflict(): void {
    const { leafName, onConflict } = this.#batch;
    if (onConflict === "error") return;
    const actual = requireLeafSeq(this.#connection, this.#target, leafName);
    if (actual === this.#stored.seq) return;
    this.#stored = readPathState(this.#connection, actual);
    if (onConflict === "follow") {
      this.#parent = this.#stored;
    } else {
      // `branch`: recorded as a move away from the other writer's branch, so that an undo leads back to it.
      recordMove(this.#connection, this.#target.seq, leafName, this.#stored.seq, this.#parent.seq);
    }
  }

  /** Moves the stored leaf to the last entry that was appended. */
  #advanceLeaf(): void {
    if (!this.#leafIsBehind) return;
    const { leafName, onConflict } = this.#batch;
    if (onConflict === "error") compareAndSetLeaf(this.#connection, this.#target, leafName, this.#stored, this.#parent);
    else setLeaf(this.#connection, this.#target.seq, leafName, this.#parent.seq);
    this.#stored = this.#parent;
    this.#leafIsBehind = false;
  }

  #requireSeq(id: EntryId): EntrySeq {
    return requireEntrySeq(this.#connection, this.#target, id);
  }
}
