import { setTimeout as delay } from "node:timers/promises";
import type { Entry } from "../entry/entry.js";
import { copyJson } from "../entry/json.js";
import { loadedValidation, loadValidation } from "../entry/load-validation.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { importSession } from "../import/import-session.js";
import type * as records from "../port/records.js";
import type { Statistics } from "../port/records.js";
import type {
  Batch,
  BatchResult,
  Finding,
  ImportedSession,
  ImportOptions,
  PathRange,
  SearchPage,
  SearchRequest,
  SessionStorage,
} from "../port/session-storage.js";
import { search } from "../search/search.js";
import { indexEntries, missingInIndex } from "../search/search-index.js";
import { labelsOf } from "../sessions/labels.js";
import { listSessions, sessionsNamed } from "../sessions/session-list.js";
import { archiveSession, deleteSession, findRow, recordOf, renameSession, sessionRow, sessionSeq } from "../sessions/session-rows.js";
import { findValue, valuesOf } from "../sessions/values.js";
import type { SourceSession } from "../source/source-session.js";
import * as reads from "../sqlite/reads.js";
import * as writes from "../sqlite/writes.js";
import { Connection } from "../storage/connection.js";
import type { ConnectionOptions } from "../storage/open-database.js";
import { rowLimit } from "../storage/query.js";
import { untilUnlocked, WriteLock } from "../storage/write-lock.js";
import type { FileOperation } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";
import { SettingPayloads } from "../tree/context-path.js";
import { forkSession } from "../tree/fork.js";
import { statistics } from "../tree/statistics.js";
import { tokenCounts } from "../tree/token-counts.js";

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

  /** Runs a read, at once unless another process recovers the journal; waits for that at most the busy timeout. */
  #read<T>(read: (connection: Connection) => T): Promise<T> {
    return untilUnlocked(this.#connection.busyTimeoutMs, () => read(this.#connection));
  }

  get readOnly(): boolean {
    return this.#connection.readOnly;
  }

  get files(): readonly string[] {
    const { path } = this.#connection;
    return path === ":memory:" ? [] : ["", "-wal", "-shm", "-journal"].map((side) => `${path}${side}`);
  }

  async createSession(session: records.NewSession): Promise<records.SessionRecord> {
    const asked = { ...session, metadata: session.metadata && copyJson(session.metadata, "metadata") };
    return this.#write((connection) => writes.createSession(connection, asked));
  }

  async sessionRow(id: SessionId): Promise<records.SessionRow> {
    return this.#read((connection) => ({ id, seq: sessionSeq(connection, id) }));
  }

  async findSession(id: records.SessionKey): Promise<records.SessionRecord | undefined> {
    const row = await this.#read((connection) => findRow(connection, id));
    return row && recordOf(row);
  }

  async sessionsNamed(name: string, limit: number): Promise<readonly records.SessionRecord[]> {
    return this.#read((connection) => sessionsNamed(connection, name, limit));
  }

  async listSessions(filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
    return this.#read((connection) => listSessions(connection, filter));
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

  async leaf(sessionId: records.SessionKey, name: string, at?: records.LeafView): Promise<records.LeafView> {
    // Only a leaf that is to be made has to wait for other writers.
    if (at === undefined) return this.#read((connection) => writes.leaf(connection, sessionId, name, at));
    return this.#write((connection) => writes.leaf(connection, sessionId, name, at));
  }

  async leaves(sessionId: records.SessionKey): Promise<readonly records.LeafRecord[]> {
    return this.#read((connection) => reads.leaves(connection, sessionId));
  }

  async deleteLeaf(sessionId: SessionId, name: string): Promise<void> {
    await this.#write((connection) => writes.removeLeaf(connection, sessionId, name));
  }

  async commit(batch: Batch): Promise<BatchResult> {
    const judge = loadedValidation();
    // What has to wait is written as it was when it was handed in, whatever its owner does to it meanwhile.
    if (judge === undefined) return this.#commit(detached(batch), await loadValidation());
    return this.#commit(batch, judge);
  }

  // Awaited only until the gate has been loaded: after that two appends run in the order in which they were called.
  #commit(batch: Batch, judge: Awaited<ReturnType<typeof loadValidation>>): Promise<BatchResult> {
    let asked = batch;
    return this.#lock.run(
      () => writes.commitBatch(this.#connection, asked, judge, this.#fileTools),
      () => {
        asked = detached(batch);
      },
    );
  }

  async undoMove(sessionId: records.SessionKey, leafName: string): Promise<records.LeafView | undefined> {
    return this.#write((connection) => writes.undo(connection, sessionId, leafName));
  }

  async redoMove(sessionId: records.SessionKey, leafName: string): Promise<records.LeafView | undefined> {
    return this.#write((connection) => writes.redo(connection, sessionId, leafName));
  }

  async leafMoves(sessionId: records.SessionKey, leafName: string, limit: number): Promise<readonly records.LeafMove[]> {
    return this.#read((connection) => reads.moves(connection, sessionId, leafName, limit));
  }

  async entry(sessionId: records.SessionKey, id: EntryId): Promise<Entry> {
    return this.#read((connection) => reads.entry(connection, sessionId, id));
  }

  async entriesStartingWith(sessionId: records.SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]> {
    return this.#read((connection) => reads.startingWith(connection, sessionId, prefix, limit));
  }

  async scanPath(
    sessionId: records.SessionKey,
    scan: records.PathScan & { readonly leafId: EntryId | null },
  ): Promise<records.Page<Entry>> {
    return this.#read((connection) => reads.scan(connection, sessionId, scan));
  }

  async pathSeqs(sessionId: records.SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]> {
    return this.#read((connection) => reads.pathSeqsOf(connection, sessionId, leafId, stopAt));
  }

  async entriesAt(sessionId: records.SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
    return this.#read((connection) => reads.entriesIn(connection, sessionId, seqs));
  }

  async children(sessionId: records.SessionKey, id: EntryId | null): Promise<readonly records.OutlineRow[]> {
    return this.#read((connection) => reads.childrenOf(connection, sessionId, id));
  }

  async branchPoints(sessionId: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.#read((connection) => reads.branchPointsOf(connection, sessionId));
  }

  async tips(sessionId: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.#read((connection) => reads.tipsOf(connection, sessionId));
  }

  async outline(sessionId: records.SessionKey, afterSeq: number, limit: number): Promise<readonly records.OutlineRow[]> {
    return this.#read((connection) => reads.outlineOf(connection, sessionId, afterSeq, limit));
  }

  async entriesSince(sessionId: records.SessionKey, afterSeq: number, limit: number): Promise<readonly Entry[]> {
    return this.#read((connection) => reads.since(connection, sessionId, afterSeq, limit));
  }

  async commonAncestor(sessionId: records.SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
    return this.#read((connection) => reads.ancestor(connection, sessionId, a, b));
  }

  async contextPath(
    sessionId: records.SessionKey,
    at: { readonly entryId: EntryId | null } | { readonly leafName: string },
    knownSeq: number | null,
  ): Promise<records.ContextPath> {
    return this.#read((connection) => reads.context(connection, sessionId, at, knownSeq, this.#settings));
  }

  async fileOperations(sessionId: records.SessionKey, range: PathRange): Promise<readonly FileOperation[]> {
    return this.#read((connection) => reads.fileOperations(connection, sessionId, range));
  }

  async labels(sessionId: records.SessionKey, text?: string): Promise<readonly records.Label[]> {
    return this.#read((connection) => labelsOf(connection, sessionSeq(connection, sessionId), text));
  }

  async value(sessionId: records.SessionKey, key: string): Promise<records.StoredValue | undefined> {
    return this.#read((connection) => findValue(connection, sessionSeq(connection, sessionId), key));
  }

  async values(sessionId: records.SessionKey, prefix: string): Promise<readonly records.StoredValue[]> {
    return this.#read((connection) => valuesOf(connection, sessionSeq(connection, sessionId), prefix));
  }

  async tokenCounts(sessionId: records.SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    return this.#read((connection) => tokenCounts(connection, sessionSeq(connection, sessionId), counter, ids));
  }

  async saveTokenCounts(sessionId: records.SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    const asked = new Map(counts);
    await this.#write((connection) => writes.saveCounts(connection, sessionId, counter, asked));
  }

  async search(request: SearchRequest): Promise<SearchPage> {
    if (request.sessionId !== undefined) sessionSeq(this.#connection, request.sessionId);
    return this.#read((connection) => search(connection, request));
  }

  async catchUpSearch(limit: number, whenLocked: "wait" | "throw" = "wait"): Promise<number> {
    const most = rowLimit(limit);
    if (!this.readOnly) {
      if (whenLocked === "wait") await this.#write((connection) => indexEntries(connection, most));
      else indexEntries(this.#connection, most);
    }
    return missingInIndex(this.#connection);
  }

  async statistics(sessionId?: records.SessionKey): Promise<Statistics> {
    return this.#read((connection) => statistics(connection, sessionId));
  }

  async importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession> {
    const judge = loadedValidation() ?? (await loadValidation());
    return this.#write((connection) => importSession(connection, source, options, judge, this.#fileTools));
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
  return { ...batch, writes: copyJson(batch.writes, "writes") };
}
