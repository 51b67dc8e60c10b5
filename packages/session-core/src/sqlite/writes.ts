import type { ValidatedEntry } from "../entry/validate.js";
import { InvalidEntryError, MainLeafError, SessionNotFoundError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import { type LeafView, MAIN_LEAF, type NewSession, type SessionKey, type SessionRecord } from "../port/records.js";
import type { Batch, BatchResult, Write } from "../port/session-storage.js";
import { findRow, idOf, insertNewSession, leafName, recordOf, rowAt, sessionSeq } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { commit, type JudgedWrite } from "../tree/commit.js";
import { type Tip, tipAt } from "../tree/entry-rows.js";
import type { Target } from "../tree/entry-writer.js";
import { deleteLeaf, dropMoves, findLeaf, leafSeq, redoMove, setLeaf, undoMove } from "../tree/leaves.js";
import { saveTokenCounts } from "../tree/token-counts.js";

// Writes of the port: ids become rows, entries pass the gate, and each operation is one `write`.

function targetOf(connection: Connection, key: SessionKey, fileTools: FileTools = {}): Target {
  return { id: idOf(key), seq: sessionSeq(connection, key), fileTools };
}

export function createSession(connection: Connection, session: NewSession): SessionRecord {
  return connection.write(() => recordOf(rowAt(connection, insertNewSession(connection, session))));
}

/**
 * What a handle is given as its view of a leaf: the whole tip and the row of its session, so that an append need read
 * neither what its parent passes on nor the session.
 */
class View implements LeafView {
  constructor(
    readonly tip: Tip,
    readonly session: SessionSeq,
  ) {}

  get entryId(): EntryId | null {
    return this.tip.entryId;
  }

  get seq(): EntrySeq | null {
    return this.tip.seq;
  }
}

function viewOf(connection: Connection, id: SessionKey, view: LeafView): View {
  return view instanceof View ? view : new View(tipAt(connection, view.seq as EntrySeq | null), sessionSeq(connection, id));
}

export function leaf(connection: Connection, sessionId: SessionKey, name: string, start: LeafView | undefined): LeafView {
  const target = targetOf(connection, sessionId);
  const view = (seq: EntrySeq | null) => new View(tipAt(connection, seq), target.seq);
  if (start === undefined) return connection.read(() => view(leafSeq(connection, target, name)));
  return connection.write(() => {
    const found = findLeaf(connection, target.seq, name);
    if (found !== undefined) return view(found.seq);
    // The name is what the handle asks for from now on, so it is refused rather than made to fit.
    if (name === "" || name !== leafName(name)) {
      throw new InvalidEntryError(
        "leaf",
        "its name must be one line of 1 to 500 characters, none of them invisible or changing the writing direction",
      );
    }
    setLeaf(connection, target.seq, name, start.seq as EntrySeq | null);
    return view(start.seq as EntrySeq | null);
  });
}

export function removeLeaf(connection: Connection, sessionId: SessionKey, name: string): void {
  connection.write(() => {
    const target = targetOf(connection, sessionId);
    if (name === MAIN_LEAF) throw new MainLeafError(idOf(sessionId));
    deleteLeaf(connection, target, name);
    dropMoves(connection, target.seq, name);
  });
}

export function commitBatch(
  connection: Connection,
  batch: Batch,
  judge: (given: unknown) => ValidatedEntry,
  fileTools: FileTools,
): BatchResult {
  const writes = batch.writes.map((write) => judged(write, judge));
  const { session, tip: seen } = viewOf(connection, batch.sessionId, batch.seen);
  const target = { id: idOf(batch.sessionId), seq: session, fileTools };
  try {
    const { leafName, onConflict, onlyIfSeen = false } = batch;
    const { appended, leaf } = commit(connection, { target, leafName, seen, onConflict, onlyIfSeen, writes });
    return { entries: appended.map(({ tip }) => ({ id: tip.entryId ?? "", seq: tip.seq })), leaf: new View(leaf, session) };
  } catch (error) {
    // A session that was deleted while a handle held it fails in many ways; they all mean this. A row is never given
    // twice, so nothing can have been written to another session.
    if (connection.open && findRow(connection, batch.sessionId)?.seq !== session) throw new SessionNotFoundError(target.id);
    throw error;
  }
}

function judged(write: Write, judge: (given: unknown) => ValidatedEntry): JudgedWrite {
  switch (write.kind) {
    case "entry":
      return { kind: "entry", entry: judge(write.entry) };
    case "label":
      if (write.createdAtMs !== undefined && !Number.isSafeInteger(write.createdAtMs)) {
        throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
      }
      return write;
    case "value":
    case "moveLeaf":
      return write;
  }
  // A caller without types can hand in anything; what is not understood must not be acknowledged.
  throw new InvalidEntryError("kind", "must be entry, label, value or moveLeaf");
}

export function undo(connection: Connection, sessionId: SessionKey, name: string): Tip | undefined {
  return connection.write(() => undoMove(connection, targetOf(connection, sessionId), name));
}

export function redo(connection: Connection, sessionId: SessionKey, name: string): Tip | undefined {
  return connection.write(() => redoMove(connection, targetOf(connection, sessionId), name));
}

export function saveCounts(connection: Connection, sessionId: SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): void {
  connection.write(() => saveTokenCounts(connection, sessionSeq(connection, sessionId), counter, counts));
}
