import type { ValidatedEntry } from "../../entry/validate.js";
import { SessionNotFoundError } from "../../errors/session-errors.js";
import type { LeafState, SessionKey } from "../../port/records.js";
import type { Batch, BatchResult } from "../../port/writes.js";
import { BatchWriter, type ValidatedWrite, validateWrite } from "../../rules/batch-writer.js";
import type { PathState } from "../../rules/path-rules.js";
import { sessionIdOf } from "../../rules/session-columns.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { findSessionRow, requireSessionSeq } from "../sessions/session-rows.js";
import { requireEntrySeq } from "./entry-rows.js";
import type { WriteTarget } from "./entry-writer.js";
import { CachedLeafState } from "./leaves.js";
import { readPathState } from "./path-state.js";
import { StoredSession } from "./stored-session.js";

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
  // A write of an entry or a move fails by itself if the session was deleted; removing a missing row does not.
  if (!writes.some(({ kind }) => kind === "entry" || kind === "moveLeaf")) requireSessionSeq(connection, session);
  const target = new StoredSession(connection, session);
  const { entries, leaf } = new BatchWriter(target, batch, seen).run(writes);
  target.flushTotals();
  return { entries, leaf: new CachedLeafState(leaf, session.seq) };
}
