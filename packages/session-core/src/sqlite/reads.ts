import type { Entry } from "../entry/entry.js";
import { EntryNotFoundError, InvalidReferenceError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { ContextPath, LeafMove, LeafRecord, OutlineRow, Page, PathScan, SessionKey } from "../port/records.js";
import type { PathRange } from "../port/session-storage.js";
import { idOf, sessionSeq } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import type { FileOperation } from "../tools/file-operations.js";
import { commonAncestor, isOnPath } from "../tree/ancestry.js";
import { contextPath, type SettingPayloads } from "../tree/context-path.js";
import { entryOf, entrySeq, findEntryRow, START, tipAt } from "../tree/entry-rows.js";
import { fileOperationsBetween } from "../tree/file-operations.js";
import { entryIdAt, leafMoves, leafSeq, namedLeaves } from "../tree/leaves.js";
import { branchPoints, children, entriesSince, outline, tips } from "../tree/outline.js";
import { entriesAt, entriesStartingWith, pathSeqs, scanPath } from "../tree/scan.js";

// Reads of the port: ids become rows, and what needs more than one query reads one snapshot.

interface Place {
  readonly connection: Connection;
  readonly sessionId: SessionId;
  readonly session: SessionSeq;
}

function at(connection: Connection, key: SessionKey): Place {
  return { connection, sessionId: idOf(key), session: sessionSeq(connection, key) };
}

function seqOf({ connection, session, sessionId }: Place, id: EntryId): EntrySeq {
  return entrySeq(connection, session, sessionId, id);
}

function seqOrNull(place: Place, id: EntryId | null): EntrySeq | null {
  return id === null ? null : seqOf(place, id);
}

export function leaves(connection: Connection, sessionId: SessionKey): readonly LeafRecord[] {
  return namedLeaves(connection, at(connection, sessionId).session);
}

export function moves(connection: Connection, sessionId: SessionKey, name: string, limit: number): readonly LeafMove[] {
  return leafMoves(connection, at(connection, sessionId).session, name, limit);
}

export function entry(connection: Connection, sessionId: SessionKey, id: EntryId): Entry {
  const row = findEntryRow(connection, at(connection, sessionId).session, id);
  if (row === undefined) throw new EntryNotFoundError(idOf(sessionId), id);
  return entryOf(row);
}

export function startingWith(connection: Connection, sessionId: SessionKey, prefix: string, limit: number): readonly EntryId[] {
  return entriesStartingWith(connection, at(connection, sessionId).session, prefix, limit);
}

export function scan(connection: Connection, sessionId: SessionKey, given: PathScan & { readonly leafId: EntryId | null }): Page<Entry> {
  return connection.read(() => {
    const place = at(connection, sessionId);
    const leaf = seqOrNull(place, given.leafId);
    return scanPath(connection, { ...given, leaf, stopAt: stopSeq(place, given.stopAt, leaf) });
  });
}

export function pathSeqsOf(
  connection: Connection,
  sessionId: SessionKey,
  leafId: EntryId | null,
  stopAt: EntryId | undefined,
): readonly number[] {
  return connection.read(() => {
    const place = at(connection, sessionId);
    const leaf = seqOrNull(place, leafId);
    return leaf === null ? [] : pathSeqs(connection, leaf, stopSeq(place, stopAt, leaf));
  });
}

function stopSeq(place: Place, stopAt: EntryId | undefined, leaf: EntrySeq | null): EntrySeq | null {
  if (stopAt === undefined) return null;
  const seq = seqOf(place, stopAt);
  if (leaf !== null && !isOnPath(place.connection, seq, leaf)) throw new InvalidReferenceError("stopAt", stopAt, "is not on the path");
  return seq;
}

export function entriesIn(connection: Connection, sessionId: SessionKey, seqs: readonly number[]): readonly Entry[] {
  return entriesAt(connection, at(connection, sessionId).session, seqs);
}

export function childrenOf(connection: Connection, sessionId: SessionKey, id: EntryId | null): readonly OutlineRow[] {
  const place = at(connection, sessionId);
  return children(connection, place.session, seqOrNull(place, id));
}

export function branchPointsOf(connection: Connection, sessionId: SessionKey): readonly OutlineRow[] {
  return branchPoints(connection, at(connection, sessionId).session);
}

export function tipsOf(connection: Connection, sessionId: SessionKey): readonly OutlineRow[] {
  return tips(connection, at(connection, sessionId).session);
}

export function outlineOf(connection: Connection, sessionId: SessionKey, afterSeq: number, limit: number): readonly OutlineRow[] {
  return outline(connection, at(connection, sessionId).session, afterSeq, limit);
}

export function since(connection: Connection, sessionId: SessionKey, afterSeq: number, limit: number): readonly Entry[] {
  return entriesSince(connection, at(connection, sessionId).session, afterSeq, limit);
}

export function ancestor(connection: Connection, sessionId: SessionKey, a: EntryId, b: EntryId): EntryId | null {
  return connection.read(() => {
    const place = at(connection, sessionId);
    return entryIdAt(connection, commonAncestor(connection, seqOf(place, a), seqOf(place, b)));
  });
}

export function context(
  connection: Connection,
  sessionId: SessionKey,
  where: { readonly entryId: EntryId | null } | { readonly leafName: string },
  knownSeq: number | null,
  settings: SettingPayloads,
): ContextPath {
  return connection.read(() => {
    const place = at(connection, sessionId);
    const seq =
      "leafName" in where
        ? leafSeq(connection, { id: place.sessionId, seq: place.session }, where.leafName)
        : seqOrNull(place, where.entryId);
    return contextPath(connection, seq === null ? START : tipAt(connection, seq), knownSeq, settings);
  });
}

export function fileOperations(connection: Connection, sessionId: SessionKey, { fromId, toId }: PathRange): readonly FileOperation[] {
  return connection.read(() => {
    const place = at(connection, sessionId);
    const to = seqOf(place, toId);
    const from = fromId === undefined ? (0 as EntrySeq) : seqOf(place, fromId);
    if (fromId !== undefined && !isOnPath(connection, from, to))
      throw new InvalidReferenceError("fromId", fromId, `is not on the path of ${toId}`);
    return fileOperationsBetween(connection, from, to);
  });
}
