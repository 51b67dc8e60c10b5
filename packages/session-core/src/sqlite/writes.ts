import type { JudgedEntry } from "../entry/gate.js";
import { MainLeafError } from "../errors/session-errors.js";
import type { FileTools } from "../files/extract.js";
import type { SessionId } from "../ids/ids.js";
import type { LeafView, NewSession, SessionRecord } from "../port/records.js";
import type { Batch, BatchResult, Write } from "../port/session-storage.js";
import { insertNewSession, MAIN_LEAF, recordOf, rowAt, sessionSeq } from "../sessions/session-rows.js";
import { singleLine } from "../sessions/single-line.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq } from "../storage/schema.js";
import { commit, type JudgedWrite } from "../tree/commit.js";
import type { Target } from "../tree/entry-writer.js";
import { redoMove, undoMove } from "../tree/leaf-moves.js";
import { deleteLeaf, findLeaf, leafSeq, setLeaf } from "../tree/leaf-rows.js";
import { type Tip, tipAt } from "../tree/tip.js";

// Writes of the port: ids become rows, entries pass the gate, and each operation is one `write`.

function targetOf(connection: Connection, id: SessionId, fileTools: FileTools = {}): Target {
  return { id, seq: sessionSeq(connection, id), fileTools };
}

export function createSession(connection: Connection, session: NewSession): SessionRecord {
  return connection.write(() => recordOf(rowAt(connection, insertNewSession(connection, session))));
}

/** The handle's view of a leaf is the whole tip, so that an append needs not read what its parent passes on. */
function tipOf(connection: Connection, view: LeafView): Tip {
  return "depth" in view ? (view as Tip) : tipAt(connection, view.seq as EntrySeq | null);
}

export function leaf(connection: Connection, sessionId: SessionId, name: string, start: LeafView | undefined): Tip {
  const target = targetOf(connection, sessionId);
  if (start === undefined) return connection.read(() => tipAt(connection, leafSeq(connection, target, name)));
  return connection.write(() => {
    const found = findLeaf(connection, target.seq, name);
    if (found !== undefined) return tipAt(connection, found.seq);
    setLeaf(connection, target.seq, singleLine(name), start.seq as EntrySeq | null);
    return tipAt(connection, start.seq as EntrySeq | null);
  });
}

export function removeLeaf(connection: Connection, sessionId: SessionId, name: string): void {
  connection.write(() => {
    const target = targetOf(connection, sessionId);
    if (name === MAIN_LEAF) throw new MainLeafError(sessionId);
    deleteLeaf(connection, target, name);
  });
}

export function commitBatch(
  connection: Connection,
  batch: Batch,
  judge: (given: unknown) => JudgedEntry,
  fileTools: FileTools,
): BatchResult {
  const writes = batch.writes.map((write) => judged(write, judge));
  const { appended, leaf } = commit(connection, {
    target: targetOf(connection, batch.sessionId, fileTools),
    leafName: batch.leafName,
    seen: tipOf(connection, batch.seen),
    onConflict: batch.onConflict,
    writes,
  });
  return { entries: appended.map(({ tip }) => ({ id: tip.entryId ?? "", seq: tip.seq })), leaf };
}

function judged(write: Write, judge: (given: unknown) => JudgedEntry): JudgedWrite {
  return write.kind === "entry" ? { kind: "entry", entry: judge(write.entry) } : write;
}

export function undo(connection: Connection, sessionId: SessionId, name: string): Tip | undefined {
  return connection.write(() => undoMove(connection, targetOf(connection, sessionId), name));
}

export function redo(connection: Connection, sessionId: SessionId, name: string): Tip | undefined {
  return connection.write(() => redoMove(connection, targetOf(connection, sessionId), name));
}
