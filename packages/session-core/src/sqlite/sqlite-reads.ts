import type { Entry } from "../entry/entry.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type * as port from "../port/session-storage.js";
import type { HeldSession, SessionSourceRow, SourceFileRecord, SourceSessionRecord } from "../port/source.js";
import { toSessionRecord } from "../rules/session-columns.js";
import type { FileOperation, StoredFileTouch } from "../tools/file-operations.js";
import { ChangePoll } from "./change-poll.js";
import type { Connection } from "./file/connection.js";
import { SerializedConnection } from "./serialized-connection.js";
import { findSessionsByName, listSessions, readStatistics, readTotalsOf } from "./sessions/session-list.js";
import * as sessions from "./sessions/session-rows.js";
import { listHeldSessions, listSessionSources, listSourceFiles, listSourceSessions } from "./sessions/source-files.js";
import { findValue, findValuesOf, listValueKeys, listValues } from "./sessions/values.js";
import { listLabels, readTokenCounts } from "./tree/annotations.js";
import { readContextPath, SettingsCache } from "./tree/context-path.js";
import { listInherited } from "./tree/copies.js";
import { findEntryIds, listEntries, readEntriesAt, readEntriesById, readPathSeqsById, scanPath } from "./tree/entry-list.js";
import { readEntry } from "./tree/entry-rows.js";
import { readFileOperations, readFileTouches } from "./tree/file-operations.js";
import { listLeafMoves, listLeaves } from "./tree/leaves.js";
import { findTipBelow, listBranchPoints, listChildren, listTips, readOutline, readOutlineAt, readOutlinePath } from "./tree/outline.js";
import { findCommonAncestorId } from "./tree/paths.js";
import { shortEntryIds, shortSessionIds } from "./tree/short-ids.js";

/** The reads of the SQLite storage: those of sessions, entries, the tree and what is stored with them. Its subclass adds the writes. */
export class SqliteReads {
  readonly #settings = new SettingsCache();
  protected readonly queue: SerializedConnection;
  protected readonly changes: ChangePoll;

  constructor(connection: Connection) {
    this.queue = new SerializedConnection(connection);
    this.changes = new ChangePoll(this.queue);
  }

  onChange(listener: (change: port.StoreChange) => void): () => void {
    return this.changes.add(listener);
  }

  async findSession(key: records.SessionKey): Promise<records.SessionRecord | undefined> {
    const row = await this.queue.read((connection) => sessions.findSessionRow(connection, key));
    return row && toSessionRecord(row);
  }

  async sessionsNamed(name: string, limit: number): Promise<readonly records.SessionRecord[]> {
    return this.queue.read((connection) => findSessionsByName(connection, name, limit));
  }

  async shortSessionIds(ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>> {
    return this.queue.read((connection) => connection.read(() => shortSessionIds(connection, ids)));
  }

  async listSessions(filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
    return this.queue.read((connection) => listSessions(connection, filter));
  }

  async sourceFiles(path: string): Promise<readonly SourceFileRecord[]> {
    return this.queue.read((connection) => listSourceFiles(connection, path));
  }

  async sourceSessions(path: string): Promise<readonly SourceSessionRecord[]> {
    return this.queue.read((connection) => listSourceSessions(connection, path));
  }

  async sessionSources(): Promise<readonly SessionSourceRow[]> {
    return this.queue.read(listSessionSources);
  }

  async heldSessions(nowMs: number): Promise<readonly HeldSession[]> {
    return this.queue.read((connection) => listHeldSessions(connection, nowMs));
  }

  async leaves(key: records.SessionKey): Promise<readonly records.LeafRecord[]> {
    return this.queue.readSession(key, listLeaves);
  }

  async leafMoves(key: records.SessionKey, leafName: string, limit: number): Promise<readonly records.LeafMove[]> {
    return this.queue.readSession(key, listLeafMoves, leafName, limit);
  }

  async entry(key: records.SessionKey, id: EntryId): Promise<Entry> {
    return this.queue.readSnapshot(key, readEntry, id);
  }

  async entriesById(key: records.SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, Entry>> {
    return this.queue.readSnapshot(key, readEntriesById, ids);
  }

  async entriesStartingWith(key: records.SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]> {
    return this.queue.readSession(key, findEntryIds, prefix, limit);
  }

  async shortEntryIds(key: records.SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, string>> {
    return this.queue.readSnapshot(key, shortEntryIds, ids);
  }

  async scanPath(key: records.SessionKey, scan: records.PathScanFrom): Promise<records.Page<Entry>> {
    return this.queue.readSnapshot(key, scanPath, scan);
  }

  async pathSeqs(key: records.SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]> {
    return this.queue.readSnapshot(key, readPathSeqsById, leafId, stopAt);
  }

  async entriesAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
    return this.queue.readSnapshot(key, readEntriesAt, seqs);
  }

  async children(key: records.SessionKey, id: EntryId | null): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSession(key, listChildren, id);
  }

  async branchPoints(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSession(key, listBranchPoints);
  }

  async tips(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSession(key, listTips);
  }

  async tipBelow(key: records.SessionKey, id: EntryId): Promise<EntryId> {
    return this.queue.readSnapshot(key, findTipBelow, id);
  }

  async outline(key: records.SessionKey, listing: records.EntryListing): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSession(key, readOutline, listing);
  }

  async outlinePath(key: records.SessionKey, leafId: EntryId | null, limit: number): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSnapshot(key, readOutlinePath, leafId, limit);
  }

  async outlineAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly records.OutlineRow[]> {
    return this.queue.readSession(key, readOutlineAt, seqs);
  }

  async listEntries(key: records.SessionKey, listing: records.EntryListing): Promise<readonly Entry[]> {
    return this.queue.readSnapshot(key, listEntries, listing);
  }

  async commonAncestor(key: records.SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
    return this.queue.readSnapshot(key, findCommonAncestorId, a, b);
  }

  async contextPath(key: records.SessionKey, at: records.ContextEnd, knownSeq: number | null): Promise<records.ContextPath> {
    return this.queue.readSnapshot(key, readContextPath, at, knownSeq, this.#settings);
  }

  async fileOperations(key: records.SessionKey, range: port.PathRange): Promise<readonly FileOperation[]> {
    return this.queue.readSnapshot(key, readFileOperations, range);
  }

  async fileTouches(paths: readonly string[]): Promise<readonly StoredFileTouch[]> {
    return this.queue.read((connection) => readFileTouches(connection, paths));
  }

  async inheritedSeqs(key: records.SessionKey): Promise<readonly number[]> {
    return this.queue.readSession(key, listInherited);
  }

  async labels(key: records.SessionKey, text?: string): Promise<readonly records.Label[]> {
    return this.queue.readSession(key, listLabels, text);
  }

  async value(key: records.SessionKey, name: string): Promise<records.StoredValue | undefined> {
    return this.queue.readSession(key, findValue, name);
  }

  async values(key: records.SessionKey, range: records.ValueRange): Promise<readonly records.StoredValue[]> {
    return this.queue.readSession(key, listValues, range);
  }

  async valuesOf(key: string, sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, records.StoredValue>> {
    return this.queue.read((connection) => connection.read(() => findValuesOf(connection, key, sessionIds)));
  }

  async totalsOf(sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, records.SessionTotals>> {
    return this.queue.read((connection) => readTotalsOf(connection, sessionIds));
  }

  async valueKeys(key: records.SessionKey, range: records.ValueRange): Promise<readonly records.ValueKey[]> {
    return this.queue.readSession(key, listValueKeys, range);
  }

  async tokenCounts(key: records.SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    return this.queue.readSession(key, readTokenCounts, counter, ids);
  }

  async statistics(key?: records.SessionKey): Promise<records.Statistics> {
    return this.queue.read((connection) => readStatistics(connection, key));
  }
}
