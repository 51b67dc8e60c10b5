import { setTimeout as delay } from "node:timers/promises";
import type { Entry } from "../entry/entry.js";
import { jsonCopy } from "../entry/json.js";
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
import { untilUnlocked, WriteLock } from "../storage/write-lock.js";
import { SettingPayloads } from "../tree/context-path.js";
import { forkSession } from "../tree/fork.js";
import { tokenCounts } from "../tree/token-counts.js";
import * as reads from "./reads.js";
import * as writes from "./writes.js";

/** How long a deletion waits for readers, so that the journal can be emptied, and how often it looks, in milliseconds. */
const JOURNAL_PATIENCE_MS = 250;
const JOURNAL_RETRY_MS = 10;

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

  readonly #lock: WriteLock;

  /** Opens the file; waits for a process that has it to itself, such as one that makes it, at most the busy timeout. */
  static async open(options: SqliteOptions): Promise<SqliteStorage> {
    const connection = await untilUnlocked(options.busyTimeoutMs, () => Connection.open(options));
    return new SqliteStorage(connection, options);
  }

  constructor(connection: Connection, options: SqliteOptions) {
    this.#connection = connection;
    this.#lock = new WriteLock(options.busyTimeoutMs);
    this.#fileTools = options.fileTools;
  }

  /** Runs a write in its turn; only the first attempt happens before this returns. */
  #write<T>(write: (connection: Connection) => T): Promise<T> {
    return this.#lock.run(() => write(this.#connection));
  }

  get readOnly(): boolean {
    return this.#connection.readOnly;
  }

  async createSession(session: records.NewSession): Promise<records.SessionRecord> {
    const asked = { ...session, metadata: session.metadata && jsonCopy(session.metadata, "metadata") };
    return this.#write((connection) => writes.createSession(connection, asked));
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
    await this.#write((connection) => renameSession(connection, id, title, source));
  }

  async archiveSession(id: SessionId, archived: boolean): Promise<void> {
    await this.#write((connection) => archiveSession(connection, id, archived));
  }

  async deleteSession(id: SessionId): Promise<void> {
    await this.#write((connection) => deleteSession(connection, id));
    await this.#emptyJournal();
  }

  // What was deleted still stands in the journal. Where a process is reading, it is tried again when the store is closed.
  async #emptyJournal(): Promise<void> {
    const deadlineMs = performance.now() + JOURNAL_PATIENCE_MS;
    while (this.#connection.open && !this.#connection.truncateJournal() && performance.now() < deadlineMs) await delay(JOURNAL_RETRY_MS);
  }

  async forkSession(id: SessionId, at: EntryId, into: records.NewSession): Promise<records.SessionRecord> {
    const asked = { ...into };
    const forked = await this.#write((connection) => forkSession(connection, id, at, asked, this.#fileTools));
    return recordOf(sessionRow(this.#connection, forked));
  }

  async leaf(sessionId: SessionId, name: string, at?: records.LeafView): Promise<records.LeafView> {
    // Only a leaf that is to be made has to wait for other writers.
    if (at === undefined) return writes.leaf(this.#connection, sessionId, name, at);
    return this.#write((connection) => writes.leaf(connection, sessionId, name, at));
  }

  async leaves(sessionId: SessionId): Promise<readonly records.LeafRecord[]> {
    return reads.leaves(this.#connection, sessionId);
  }

  async deleteLeaf(sessionId: SessionId, name: string): Promise<void> {
    await this.#write((connection) => writes.removeLeaf(connection, sessionId, name));
  }

  async commit(batch: Batch): Promise<BatchResult> {
    const judge = loadedGate();
    // What has to wait is written as it was when it was handed in, whatever its owner does to it meanwhile.
    if (judge === undefined) return this.#commit(detached(batch), await loadGate());
    return this.#commit(batch, judge);
  }

  // Awaited only until the gate has been loaded: after that two appends run in the order in which they were called.
  #commit(batch: Batch, judge: Awaited<ReturnType<typeof loadGate>>): Promise<BatchResult> {
    let asked = batch;
    return this.#lock.run(
      () => writes.commitBatch(this.#connection, asked, judge, this.#fileTools),
      () => {
        asked = detached(batch);
      },
    );
  }

  async undoMove(sessionId: SessionId, leafName: string): Promise<records.LeafView | undefined> {
    return this.#write((connection) => writes.undo(connection, sessionId, leafName));
  }

  async redoMove(sessionId: SessionId, leafName: string): Promise<records.LeafView | undefined> {
    return this.#write((connection) => writes.redo(connection, sessionId, leafName));
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
    const asked = new Map(counts);
    await this.#write((connection) => writes.saveCounts(connection, sessionId, counter, asked));
  }

  async search(request: SearchRequest): Promise<SearchPage> {
    if (request.sessionId !== undefined) sessionSeq(this.#connection, request.sessionId);
    return search(this.#connection, request);
  }

  async catchUpSearch(limit: number, whenLocked: "wait" | "throw" = "wait"): Promise<number> {
    const most = rowLimit(limit);
    if (!this.readOnly) {
      if (whenLocked === "wait") await this.#write((connection) => indexEntries(connection, most));
      else indexEntries(this.#connection, most);
    }
    return missingInIndex(this.#connection);
  }

  async statistics(sessionId?: SessionId): Promise<Statistics> {
    return statistics(this.#connection, sessionId);
  }

  async importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession> {
    const judge = loadedGate() ?? (await loadGate());
    return this.#write((connection) => importSource(connection, source, options, judge, this.#fileTools));
  }

  async *verify(sessionId?: SessionId): AsyncIterable<Finding> {
    if (sessionId !== undefined) sessionSeq(this.#connection, sessionId);
    // Loaded here: it brings the gate and the schemas, which whoever only reads never pays for.
    const { findings } = await import("../verify/verify.js");
    yield* findings(this.#connection, sessionId);
  }

  async backup(path: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal): Promise<void> {
    await this.#connection.backup(path, onProgress, signal);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

/** The batch with a copy of what is written. */
function detached(batch: Batch): Batch {
  return { ...batch, writes: jsonCopy(batch.writes, "writes") };
}
