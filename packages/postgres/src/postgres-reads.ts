import type { Entry, EntryId, FileOperation, SessionId, StoredFileTouch } from "@bough/session-core";
import type * as records from "@bough/session-core/engine";
import type * as port from "@bough/session-core/engine";
import type { HeldSession, SessionSourceRow, SourceFileRecord, SourceSessionRecord } from "@bough/session-core/engine";
import { readContextPath } from "./context.js";
import type { PgDatabase } from "./database.js";
import { findEntryIds, listEntries, readEntriesAt, readEntriesById, readEntry, shortEntryIds } from "./entries.js";
import { listLeafMoves, listLeaves } from "./leaves.js";
import { listInherited } from "./origins.js";
import { findTipBelow, listBranchPoints, listChildren, listTips, readOutline, readOutlineAt, readOutlinePath } from "./outline.js";
import { findCommonAncestor, readFileOperations, readFileTouches, readPathSeqs, scanPath } from "./paths.js";
import { listSessions } from "./session-list.js";
import { findSessionsByName, shortSessionIds } from "./session-names.js";
import { findSession } from "./sessions.js";
import { listHeldSessions, listSessionSources, listSourceFiles, listSourceSessions } from "./source-files.js";
import { readStatistics, readTotalsOf } from "./statistics.js";
import { findValue, findValuesOf, listLabels, listValueKeys, listValues, readTokenCounts } from "./values.js";

/** The reads of the storage on a server: those of sessions, entries, the tree and what is stored with them. Its subclass adds the writes. */
export class PostgresReads {
  protected readonly database: PgDatabase;

  constructor(database: PgDatabase) {
    this.database = database;
  }

  onChange(listener: (change: port.StoreChange) => void): () => void {
    return this.database.changes.add(listener);
  }

  async findSession(key: records.SessionKey): Promise<records.SessionRecord | undefined> {
    return findSession(this.database, key);
  }

  async sessionsNamed(name: string, limit: number): Promise<readonly records.SessionRecord[]> {
    return findSessionsByName(this.database, name, limit);
  }

  async shortSessionIds(ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>> {
    return shortSessionIds(this.database, ids);
  }

  async listSessions(filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
    return listSessions(this.database, filter);
  }

  async sourceFiles(path: string): Promise<readonly SourceFileRecord[]> {
    return listSourceFiles(this.database, path);
  }

  async sourceSessions(path: string): Promise<readonly SourceSessionRecord[]> {
    return listSourceSessions(this.database, path);
  }

  async sessionSources(): Promise<readonly SessionSourceRow[]> {
    return listSessionSources(this.database);
  }

  async heldSessions(nowMs: number): Promise<readonly HeldSession[]> {
    return listHeldSessions(this.database, nowMs);
  }

  async leaves(key: records.SessionKey): Promise<readonly records.LeafRecord[]> {
    return listLeaves(this.database, key);
  }

  async leafMoves(key: records.SessionKey, leafName: string, limit: number): Promise<readonly records.LeafMove[]> {
    return listLeafMoves(this.database, key, leafName, limit);
  }

  async entry(key: records.SessionKey, id: EntryId): Promise<Entry> {
    return readEntry(this.database, key, id);
  }

  async entriesById(key: records.SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, Entry>> {
    return readEntriesById(this.database, key, ids);
  }

  async entriesStartingWith(key: records.SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]> {
    return findEntryIds(this.database, key, prefix, limit);
  }

  async shortEntryIds(key: records.SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, string>> {
    return shortEntryIds(this.database, key, ids);
  }

  async scanPath(key: records.SessionKey, scan: records.PathScanFrom): Promise<records.Page<Entry>> {
    return scanPath(this.database, key, scan);
  }

  async pathSeqs(key: records.SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]> {
    return readPathSeqs(this.database, key, leafId, stopAt);
  }

  async entriesAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
    return readEntriesAt(this.database, key, seqs);
  }

  async children(key: records.SessionKey, id: EntryId | null): Promise<readonly records.OutlineRow[]> {
    return listChildren(this.database, key, id);
  }

  async branchPoints(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return listBranchPoints(this.database, key);
  }

  async tips(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return listTips(this.database, key);
  }

  async tipBelow(key: records.SessionKey, id: EntryId): Promise<EntryId> {
    return findTipBelow(this.database, key, id);
  }

  async outline(key: records.SessionKey, listing: records.EntryListing): Promise<readonly records.OutlineRow[]> {
    return readOutline(this.database, key, listing);
  }

  async outlinePath(key: records.SessionKey, leafId: EntryId | null, limit: number): Promise<readonly records.OutlineRow[]> {
    return readOutlinePath(this.database, key, leafId, limit);
  }

  async outlineAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly records.OutlineRow[]> {
    return readOutlineAt(this.database, key, seqs);
  }

  async listEntries(key: records.SessionKey, listing: records.EntryListing): Promise<readonly Entry[]> {
    return listEntries(this.database, key, listing);
  }

  async commonAncestor(key: records.SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
    return findCommonAncestor(this.database, key, a, b);
  }

  async contextPath(key: records.SessionKey, at: records.ContextEnd, knownSeq: number | null): Promise<records.ContextPath> {
    return readContextPath(this.database, key, at, knownSeq);
  }

  async fileOperations(key: records.SessionKey, range: port.PathRange): Promise<readonly FileOperation[]> {
    return readFileOperations(this.database, key, range);
  }

  async fileTouches(paths: readonly string[]): Promise<readonly StoredFileTouch[]> {
    return readFileTouches(this.database, paths);
  }

  async inheritedSeqs(key: records.SessionKey): Promise<readonly number[]> {
    return listInherited(this.database, key);
  }

  async labels(key: records.SessionKey, text?: string): Promise<readonly records.Label[]> {
    return listLabels(this.database, key, text);
  }

  async value(key: records.SessionKey, name: string): Promise<records.StoredValue | undefined> {
    return findValue(this.database, key, name);
  }

  async values(key: records.SessionKey, range: records.ValueRange): Promise<readonly records.StoredValue[]> {
    return listValues(this.database, key, range);
  }

  async valuesOf(key: string, sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, records.StoredValue>> {
    return findValuesOf(this.database, key, sessionIds);
  }

  async totalsOf(sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, records.SessionTotals>> {
    return readTotalsOf(this.database, sessionIds);
  }

  async valueKeys(key: records.SessionKey, range: records.ValueRange): Promise<readonly records.ValueKey[]> {
    return listValueKeys(this.database, key, range);
  }

  async tokenCounts(key: records.SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    return readTokenCounts(this.database, key, counter, ids);
  }

  async statistics(key?: records.SessionKey): Promise<records.Statistics> {
    return readStatistics(this.database, key);
  }
}
