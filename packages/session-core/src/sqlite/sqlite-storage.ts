import type { Entry } from "../entry/entry.js";
import { loadedGate, loadGate } from "../entry/load-gate.js";
import type { FileTools } from "../files/extract.js";
import type { FileOperation } from "../files/file-operation.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { importSource } from "../import/import-source.js";
import { labelsOf } from "../labels/labels.js";
import { findValue, valuesOf } from "../labels/values.js";
import type { Finding } from "../port/finding.js";
import type { ImportedSession, ImportOptions } from "../port/import-records.js";
import type * as records from "../port/records.js";
import type { SearchPage, SearchRequest } from "../port/search-records.js";
import type { Batch, BatchResult, PathRange, SessionStorage } from "../port/session-storage.js";
import type { Statistics } from "../port/statistics.js";
import { indexEntries, missingInIndex } from "../search/index-batch.js";
import { search } from "../search/search.js";
import { archiveSession, deleteSession, renameSession } from "../sessions/session-changes.js";
import { listSessions } from "../sessions/session-list.js";
import { sessionsNamed } from "../sessions/session-names.js";
import { findRow, recordOf, sessionRow, sessionSeq } from "../sessions/session-rows.js";
import type { SourceSession } from "../source/source-session.js";
import { statistics } from "../statistics/statistics.js";
import { Connection } from "../storage/connection.js";
import type { ConnectionOptions } from "../storage/connection-options.js";
import { rowLimit } from "../storage/row-limit.js";
import { SettingPayloads } from "../tree/context-path.js";
import { forkSession } from "../tree/fork.js";
import { tokenCounts } from "../tree/token-counts.js";
import * as reads from "./reads.js";
import * as writes from "./writes.js";

/** How to open the SQLite storage. */
export interface SqliteOptions extends ConnectionOptions {
  readonly fileTools: FileTools;
}

/**
 * The storage port on one SQLite file. Every operation is one synchronous transaction inside an async shell, so that
 * no `await` can split it; the rooms beside this folder own the queries.
 */
export class SqliteStorage implements SessionStorage {
  readonly #connection: Connection;
  readonly #fileTools: FileTools;
  readonly #settings = new SettingPayloads();

  constructor(options: SqliteOptions) {
    this.#connection = Connection.open(options);
    this.#fileTools = options.fileTools;
  }

  get readOnly(): boolean {
    return this.#connection.readOnly;
  }

  async createSession(session: records.NewSession): Promise<records.SessionRecord> {
    return writes.createSession(this.#connection, session);
  }

  async findSession(id: SessionId): Promise<records.SessionRecord | undefined> {
    const row = findRow(this.#connection, id);
    return row && recordOf(row);
  }

  async sessionsNamed(name: string, limit: number): Promise<readonly records.SessionRecord[]> {
    return sessionsNamed(this.#connection, name, limit);
  }

  async listSessions(filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
    return listSessions(this.#connection, filter);
  }

  async renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
    renameSession(this.#connection, id, title, source);
  }

  async archiveSession(id: SessionId, archived: boolean): Promise<void> {
    archiveSession(this.#connection, id, archived);
  }

  async deleteSession(id: SessionId): Promise<void> {
    deleteSession(this.#connection, id);
  }

  async forkSession(id: SessionId, at: EntryId, into: records.NewSession): Promise<records.SessionRecord> {
    const forked = forkSession(this.#connection, id, at, into, this.#fileTools);
    return recordOf(sessionRow(this.#connection, forked));
  }

  async leaf(sessionId: SessionId, name: string, at?: records.LeafView): Promise<records.LeafView> {
    return writes.leaf(this.#connection, sessionId, name, at);
  }

  async leaves(sessionId: SessionId): Promise<readonly records.LeafRecord[]> {
    return reads.leaves(this.#connection, sessionId);
  }

  async deleteLeaf(sessionId: SessionId, name: string): Promise<void> {
    writes.removeLeaf(this.#connection, sessionId, name);
  }

  async commit(batch: Batch): Promise<BatchResult> {
    // Awaited only until the gate has been loaded: after that two appends run in the order in which they were called.
    const judge = loadedGate() ?? (await loadGate());
    return writes.commitBatch(this.#connection, batch, judge, this.#fileTools);
  }

  async undoMove(sessionId: SessionId, leafName: string): Promise<records.LeafView | undefined> {
    return writes.undo(this.#connection, sessionId, leafName);
  }

  async redoMove(sessionId: SessionId, leafName: string): Promise<records.LeafView | undefined> {
    return writes.redo(this.#connection, sessionId, leafName);
  }

  async leafMoves(sessionId: SessionId, leafName: string, limit: number): Promise<readonly records.LeafMove[]> {
    return reads.moves(this.#connection, sessionId, leafName, limit);
  }

  async entry(sessionId: SessionId, id: EntryId): Promise<Entry> {
    return reads.entry(this.#connection, sessionId, id);
  }

  async entriesStartingWith(sessionId: SessionId, prefix: string, limit: number): Promise<readonly EntryId[]> {
    return reads.startingWith(this.#connection, sessionId, prefix, limit);
  }

  async scanPath(sessionId: SessionId, scan: records.PathScan & { readonly leafId: EntryId | null }): Promise<records.Page<Entry>> {
    return reads.scan(this.#connection, sessionId, scan);
  }

  async pathSeqs(sessionId: SessionId, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]> {
    return reads.pathSeqsOf(this.#connection, sessionId, leafId, stopAt);
  }

  async entriesAt(sessionId: SessionId, seqs: readonly number[]): Promise<readonly Entry[]> {
    return reads.entriesIn(this.#connection, sessionId, seqs);
  }

  async children(sessionId: SessionId, id: EntryId | null): Promise<readonly records.OutlineRow[]> {
    return reads.childrenOf(this.#connection, sessionId, id);
  }

  async branchPoints(sessionId: SessionId): Promise<readonly records.OutlineRow[]> {
    return reads.branchPointsOf(this.#connection, sessionId);
  }

  async tips(sessionId: SessionId): Promise<readonly records.OutlineRow[]> {
    return reads.tipsOf(this.#connection, sessionId);
  }

  async outline(sessionId: SessionId, afterSeq: number, limit: number): Promise<readonly records.OutlineRow[]> {
    return reads.outlineOf(this.#connection, sessionId, afterSeq, limit);
  }

  async entriesSince(sessionId: SessionId, afterSeq: number, limit: number): Promise<readonly Entry[]> {
    return reads.since(this.#connection, sessionId, afterSeq, limit);
  }

  async commonAncestor(sessionId: SessionId, a: EntryId, b: EntryId): Promise<EntryId | null> {
    return reads.ancestor(this.#connection, sessionId, a, b);
  }

  async contextPath(
    sessionId: SessionId,
    at: { readonly entryId: EntryId | null } | { readonly leafName: string },
    knownSeq: number | null,
  ): Promise<records.ContextPath> {
    return reads.context(this.#connection, sessionId, at, knownSeq, this.#settings);
  }

  async fileOperations(sessionId: SessionId, range: PathRange): Promise<readonly FileOperation[]> {
    return reads.fileOperations(this.#connection, sessionId, range);
  }

  async labels(sessionId: SessionId, text?: string): Promise<readonly records.Label[]> {
    return labelsOf(this.#connection, sessionSeq(this.#connection, sessionId), text);
  }

  async value(sessionId: SessionId, key: string): Promise<records.StoredValue | undefined> {
    return findValue(this.#connection, sessionSeq(this.#connection, sessionId), key);
  }

  async values(sessionId: SessionId, prefix: string): Promise<readonly records.StoredValue[]> {
    return valuesOf(this.#connection, sessionSeq(this.#connection, sessionId), prefix);
  }

  async tokenCounts(sessionId: SessionId, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    return tokenCounts(this.#connection, sessionSeq(this.#connection, sessionId), counter, ids);
  }

  async saveTokenCounts(sessionId: SessionId, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    writes.saveCounts(this.#connection, sessionId, counter, counts);
  }

  async search(request: SearchRequest): Promise<SearchPage> {
    if (request.sessionId !== undefined) sessionSeq(this.#connection, request.sessionId);
    return search(this.#connection, request);
  }

  async catchUpSearch(limit: number): Promise<number> {
    if (!this.readOnly) indexEntries(this.#connection, rowLimit(limit));
    return missingInIndex(this.#connection);
  }

  async statistics(sessionId?: SessionId): Promise<Statistics> {
    return statistics(this.#connection, sessionId);
  }

  async importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession> {
    return importSource(this.#connection, source, options, loadedGate() ?? (await loadGate()), this.#fileTools);
  }

  async *verify(sessionId?: SessionId): AsyncIterable<Finding> {
    if (sessionId !== undefined) sessionSeq(this.#connection, sessionId);
    // Loaded here: it brings the gate and the schemas, which whoever only reads never pays for.
    const { findings } = await import("../verify/verify.js");
    yield* findings(this.#connection, sessionId);
  }

  async backup(path: string, onProgress?: (done: number, total: number) => void): Promise<void> {
    await this.#connection.backup(path, onProgress);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
