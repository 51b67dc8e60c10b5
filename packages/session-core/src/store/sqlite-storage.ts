import { setTimeout as delay } from "node:timers/promises";
import type { Entry } from "../entry/entry.js";
import { copyJson } from "../entry/json.js";
import { loadedValidation, loadValidation } from "../entry/load-validation.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { importSession } from "../import/import-session.js";
import type * as records from "../port/records.js";
import type * as port from "../port/session-storage.js";
import { type Batch, type BatchResult, copyWrites } from "../port/writes.js";
import { type LastScan, search } from "../search/search.js";
import { countUnindexed, indexEntries, mergeSegments } from "../search/search-index.js";
import { listLabels } from "../sessions/labels.js";
import { findSessionsByName, listSessions } from "../sessions/session-list.js";
import * as sessions from "../sessions/session-rows.js";
import { findValue, listValues } from "../sessions/values.js";
import type { SourceSession } from "../source/source-session.js";
import { Connection } from "../storage/connection.js";
import type { ConnectionOptions } from "../storage/open-database.js";
import { rowLimit } from "../storage/query.js";
import { retryWhileBusy } from "../storage/write-lock.js";
import type { FileOperation } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";
import { findCommonAncestorId } from "../tree/ancestry.js";
import { commitBatch } from "../tree/commit.js";
import { readContextPath, SettingsCache } from "../tree/context-path.js";
import { readEntry } from "../tree/entry-rows.js";
import { readFileOperations } from "../tree/file-operations.js";
import { forkSession } from "../tree/fork.js";
import { deleteLeaf, listLeafMoves, listLeaves, openLeaf, readLeaf, redoMove, undoMove } from "../tree/leaves.js";
import {
  listBranchPoints,
  listChildren,
  listTips,
  readEntriesSince,
  readOutline,
  readOutlineAt,
  readOutlinePath,
} from "../tree/outline.js";
import { findEntryIds, readEntriesAt, readPathSeqsById, scanPath } from "../tree/scan.js";
import { readStatistics } from "../tree/statistics.js";
import { readTokenCounts, saveTokenCounts } from "../tree/token-counts.js";
import { SerializedConnection } from "./serialized-connection.js";
import { SqlitePacking } from "./sqlite-packing.js";

/** How long a deletion waits for readers before it leaves the truncation of the WAL to `close`, and the pause between tries, in milliseconds. */
const TRUNCATE_TIMEOUT_MS = 250;
const TRUNCATE_RETRY_MS = 10;

/** How to open the SQLite storage. */
interface SqliteOptions extends ConnectionOptions {
  readonly fileTools: FileTools;
}

type ValidateEntry = Awaited<ReturnType<typeof loadValidation>>;

/**
 * The storage port on one SQLite file. Each operation is one synchronous transaction, so that no `await` can split it.
 * The folders `sessions`, `tree` and `search` own the queries.
 */
export class SqliteStorage implements port.SessionStorage {
  readonly #connection: Connection;
  readonly #fileTools: FileTools;
  readonly #settings = new SettingsCache();
  readonly #lastScan: LastScan = { key: "", hits: [] };
  readonly #queue: SerializedConnection;
  readonly packing: port.PayloadPacking;
  #validateEntry: ValidateEntry | undefined;

  /** Opens the file. Waits at most the busy timeout while another process locks all of it, for example to create it. */
  static async open(options: SqliteOptions): Promise<SqliteStorage> {
    const connection = await retryWhileBusy(options.busyTimeoutMs, () => Connection.open(options));
    return new SqliteStorage(connection, options);
  }

  constructor(connection: Connection, options: SqliteOptions) {
    this.#connection = connection;
    this.#queue = new SerializedConnection(connection);
    this.packing = new SqlitePacking(this.#queue);
    this.#fileTools = options.fileTools;
  }

  get files(): readonly string[] {
    const { path } = this.#connection;
    return path === ":memory:" ? [] : ["", "-wal", "-shm", "-journal"].map((side) => `${path}${side}`);
  }

  async createSession(session: records.NewSession): Promise<records.SessionRecord> {
    const copy = { ...session, metadata: session.metadata && copyJson(session.metadata, "metadata") };
    return this.#queue.write((connection) =>
      connection.write(() =>
        sessions.toSessionRecord(sessions.requireSessionRow(connection, sessions.insertNewSession(connection, copy).id)),
      ),
    );
  }

  async sessionRow(id: SessionId): Promise<records.SessionRow> {
    return this.#queue.read((connection) => sessions.resolveSession(connection, id));
  }

  async findSession(key: records.SessionKey): Promise<records.SessionRecord | undefined> {
    const row = await this.#queue.read((connection) => sessions.findSessionRow(connection, key));
    return row && sessions.toSessionRecord(row);
  }

  async sessionsNamed(name: string, limit: number): Promise<readonly records.SessionRecord[]> {
    return this.#queue.read((connection) => findSessionsByName(connection, name, limit));
  }

  async listSessions(filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
    return this.#queue.read((connection) => listSessions(connection, filter));
  }

  async renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
    await this.#queue.write((connection) => sessions.renameSession(connection, id, title, source));
  }

  async archiveSession(id: SessionId, archived: boolean): Promise<void> {
    await this.#queue.write((connection) => sessions.archiveSession(connection, id, archived));
  }

  async deleteSession(id: SessionId): Promise<void> {
    await this.#queue.write((connection) => sessions.deleteSession(connection, id));
    // The deleted text is still in the WAL. It cannot be truncated while another process reads; `close` then tries again.
    const deadlineMs = performance.now() + TRUNCATE_TIMEOUT_MS;
    while (this.#connection.open && !this.#connection.truncateJournal() && performance.now() < deadlineMs) await delay(TRUNCATE_RETRY_MS);
  }

  async forkSession(id: SessionId, at: EntryId | null, into: records.NewSession): Promise<records.SessionRecord> {
    const copy = { ...into };
    return this.#queue.write((connection) => forkSession(connection, id, at, copy, this.#fileTools));
  }

  async leaf(key: records.SessionKey, name: string, at?: records.LeafState): Promise<records.LeafState> {
    return at === undefined ? this.#queue.readSnapshot(key, readLeaf, name) : this.#queue.writeSession(key, openLeaf, name, at);
  }

  async leaves(key: records.SessionKey): Promise<readonly records.LeafRecord[]> {
    return this.#queue.readSession(key, listLeaves);
  }

  async deleteLeaf(id: SessionId, name: string): Promise<void> {
    await this.#queue.writeSession(id, deleteLeaf, name);
  }

  commit(batch: Batch): Promise<BatchResult> {
    // A batch that has to wait is copied, so that later changes by its owner are not written. Without a wait there is no `await`
    // before the transaction, so that appends run in the order in which they are called.
    this.#validateEntry ??= loadedValidation();
    if (this.#validateEntry === undefined) return this.#commitOnceLoaded({ ...batch, writes: copyWrites(batch.writes) });
    return this.#commit(batch, this.#validateEntry);
  }

  async #commitOnceLoaded(batch: Batch): Promise<BatchResult> {
    return this.#commit(batch, await loadValidation());
  }

  #commit(batch: Batch, validateEntry: ValidateEntry): Promise<BatchResult> {
    let current = batch;
    return this.#queue.lock.run(
      () => commitBatch(this.#connection, current, validateEntry, this.#fileTools),
      () => {
        current = { ...batch, writes: copyWrites(batch.writes) };
      },
    );
  }

  async undoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return this.#queue.writeSession(key, undoMove, leafName);
  }

  async redoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return this.#queue.writeSession(key, redoMove, leafName);
  }

  async leafMoves(key: records.SessionKey, leafName: string, limit: number): Promise<readonly records.LeafMove[]> {
    return this.#queue.readSession(key, listLeafMoves, leafName, limit);
  }

  async entry(key: records.SessionKey, id: EntryId): Promise<Entry> {
    return this.#queue.readSnapshot(key, readEntry, id);
  }

  async entriesStartingWith(key: records.SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]> {
    return this.#queue.readSession(key, findEntryIds, prefix, limit);
  }

  async scanPath(key: records.SessionKey, scan: records.PathScanFrom): Promise<records.Page<Entry>> {
    return this.#queue.readSnapshot(key, scanPath, scan);
  }

  async pathSeqs(key: records.SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]> {
    return this.#queue.readSnapshot(key, readPathSeqsById, leafId, stopAt);
  }

  async entriesAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
    return this.#queue.readSnapshot(key, readEntriesAt, seqs);
  }

  async children(key: records.SessionKey, id: EntryId | null): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSession(key, listChildren, id);
  }

  async branchPoints(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSession(key, listBranchPoints);
  }

  async tips(key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSession(key, listTips);
  }

  async outline(key: records.SessionKey, afterSeq: number, limit: number): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSession(key, readOutline, afterSeq, limit);
  }

  async outlinePath(key: records.SessionKey, leafId: EntryId | null, limit: number): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSnapshot(key, readOutlinePath, leafId, limit);
  }

  async outlineAt(key: records.SessionKey, seqs: readonly number[]): Promise<readonly records.OutlineRow[]> {
    return this.#queue.readSession(key, readOutlineAt, seqs);
  }

  async entriesSince(key: records.SessionKey, afterSeq: number, limit: number): Promise<readonly Entry[]> {
    return this.#queue.readSnapshot(key, readEntriesSince, afterSeq, limit);
  }

  async commonAncestor(key: records.SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
    return this.#queue.readSnapshot(key, findCommonAncestorId, a, b);
  }

  async contextPath(key: records.SessionKey, at: records.ContextEnd, knownSeq: number | null): Promise<records.ContextPath> {
    return this.#queue.readSnapshot(key, readContextPath, at, knownSeq, this.#settings);
  }

  async fileOperations(key: records.SessionKey, range: port.PathRange): Promise<readonly FileOperation[]> {
    return this.#queue.readSnapshot(key, readFileOperations, range);
  }

  async labels(key: records.SessionKey, text?: string): Promise<readonly records.Label[]> {
    return this.#queue.readSession(key, listLabels, text);
  }

  async value(key: records.SessionKey, name: string): Promise<records.StoredValue | undefined> {
    return this.#queue.readSession(key, findValue, name);
  }

  async values(key: records.SessionKey, prefix: string): Promise<readonly records.StoredValue[]> {
    return this.#queue.readSession(key, listValues, prefix);
  }

  async tokenCounts(key: records.SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    return this.#queue.readSession(key, readTokenCounts, counter, ids);
  }

  async saveTokenCounts(key: records.SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    await this.#queue.writeSession(key, saveTokenCounts, counter, new Map(counts));
  }

  async search(request: port.SearchRequest): Promise<port.SearchPage> {
    if (request.sessionId !== undefined) sessions.requireSessionSeq(this.#connection, request.sessionId);
    return search(this.#queue, request, this.#lastScan);
  }

  async catchUpSearch(limit: number, whenLocked?: port.WhenLocked): Promise<number> {
    const most = rowLimit(limit);
    if (!this.#connection.readOnly && most > 0) await this.#queue.maintain((connection) => indexEntries(connection, most), whenLocked);
    return countUnindexed(this.#connection);
  }

  async mergeSearchIndex(whenLocked?: port.WhenLocked): Promise<boolean> {
    return !this.#connection.readOnly && this.#queue.maintain(mergeSegments, whenLocked);
  }

  async statistics(key?: records.SessionKey): Promise<records.Statistics> {
    return this.#queue.read((connection) => readStatistics(connection, key));
  }

  async importSession(source: SourceSession, options: port.ImportOptions): Promise<port.ImportedSession> {
    const validateEntry = loadedValidation() ?? (await loadValidation());
    return this.#queue.write((connection) => importSession(connection, source, options, validateEntry, this.#fileTools));
  }

  async *verify(id?: SessionId): AsyncIterable<port.Violation> {
    if (id !== undefined) sessions.requireSessionSeq(this.#connection, id);
    // Imported here, because it loads the validation and zod, which reads do not need.
    const { findViolations } = await import("../verify/verify.js");
    yield* findViolations(this.#connection, id);
  }

  async backup(path: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal): Promise<void> {
    await this.#connection.backup(path, onProgress, signal);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
