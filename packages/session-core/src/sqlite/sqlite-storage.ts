import { setTimeout as delay } from "node:timers/promises";
import { copyJson } from "../entry/json.js";
import { loadedValidation, loadValidation } from "../entry/load-validation.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { ConnectionOptions } from "../port/place.js";
import type * as records from "../port/records.js";
import type { SearchPage, SearchRequest } from "../port/search.js";
import type { SessionCopies } from "../port/session-copy.js";
import type * as port from "../port/session-storage.js";
import type { Abilities, PayloadPacking, WhenLocked } from "../port/session-storage.js";
import type { SourceFileRecord, SourceSession, SourceSessionRecord } from "../port/source.js";
import { type Batch, type BatchResult, copyPatch, copyWrites, type MetadataPatch, type Write } from "../port/writes.js";
import { toSessionRecord } from "../rules/session-columns.js";
import { rowLimit } from "../rules/values.js";
import type { FileTools } from "../tools/known-tools.js";
import { Connection } from "./file/connection.js";
import { retryWhileBusy } from "./file/write-lock.js";
import { importSession } from "./import/import-session.js";
import { type LastScan, search } from "./search/search.js";
import { countUnindexed, indexEntries, mergeSegments } from "./search/search-index.js";
import type { SerializedConnection } from "./serialized-connection.js";
import * as sessions from "./sessions/session-rows.js";
import { setMetadata } from "./sessions/session-rows.js";
import { setSourceFiles, setSourcesGone } from "./sessions/source-files.js";
import { SqlitePacking } from "./sqlite-packing.js";
import { SqliteReads } from "./sqlite-reads.js";
import { saveTokenCounts } from "./tree/annotations.js";
import { commitBatch, createSession, type FirstWrites, findOpened, openOrCreate } from "./tree/commit.js";
import { deleteSession } from "./tree/copies.js";
import { forkSession } from "./tree/fork.js";
import { deleteLeaf, openLeaf, readLeaf, redoMove, undoMove } from "./tree/leaves.js";
import { readCopiedEntries, readCopiedState, writeCopiedPart } from "./tree/session-copy.js";

/** The time that a deletion waits for readers before `close` has to truncate the WAL, and the pause between tries, in milliseconds. */
const TRUNCATE_TIMEOUT_MS = 250;
const TRUNCATE_RETRY_MS = 10;

const IN_A_FILE: Abilities = { sharedBy: "machine", backup: true, packing: true, indexesLater: true, numbers: "store" };
const IN_MEMORY: Abilities = { ...IN_A_FILE, sharedBy: "process" };

/** Options for opening the SQLite storage. */
interface SqliteOptions extends ConnectionOptions {
  readonly fileTools: FileTools;
}

type ValidateEntry = Awaited<ReturnType<typeof loadValidation>>;

/**
 * The storage port on one SQLite file. Each operation is one synchronous transaction, so that no `await` can split it.
 * The folders `sessions`, `tree` and `search` own the queries.
 */
export class SqliteStorage extends SqliteReads implements port.SessionStorage {
  readonly #connection: Connection;
  readonly #fileTools: FileTools;
  readonly #lastScan: LastScan = { key: "", hits: [] };
  readonly packing: PayloadPacking;
  readonly copies: SessionCopies;
  #validateEntry: ValidateEntry | undefined;

  /** Opens the file. Waits at most the busy timeout while another process locks all of it, for example to create it. */
  static async open(options: SqliteOptions): Promise<SqliteStorage> {
    const connection = await retryWhileBusy(options.busyTimeoutMs, () => Connection.open(options));
    return new SqliteStorage(connection, options);
  }

  constructor(connection: Connection, options: SqliteOptions) {
    super(connection);
    this.#connection = connection;
    this.packing = new SqlitePacking(this.queue);
    this.copies = copiesOf(this.queue);
    this.#fileTools = options.fileTools;
  }

  get abilities(): Abilities {
    return this.files.length === 0 ? IN_MEMORY : IN_A_FILE;
  }

  get files(): readonly string[] {
    const { path } = this.#connection;
    return path === ":memory:" ? [] : ["", "-wal", "-shm", "-journal"].map((side) => `${path}${side}`);
  }

  async createSession(session: records.NewSession, writes: readonly Write[] = []): Promise<records.SessionRecord> {
    const copy = copySession(session);
    const first = await this.#firstWrites(writes);
    return this.queue.write((connection) =>
      connection.write(() => toSessionRecord(sessions.requireSessionRow(connection, createSession(connection, copy, first).id))),
    );
  }

  async openSession(id: SessionId, leafName: string, missing?: port.MissingSession): Promise<records.OpenedSession> {
    const mayCreate = missing !== undefined;
    const found = await this.queue.read((connection) => connection.read(() => findOpened(connection, id, leafName, mayCreate)));
    if (found !== undefined) return found;
    const created = missing && { session: copySession(missing.session), first: await this.#firstWrites(missing.writes) };
    return this.queue.write((connection) => connection.write(() => openOrCreate(connection, id, leafName, created)));
  }

  async #firstWrites(writes: readonly Write[]): Promise<FirstWrites | undefined> {
    if (writes.length === 0) return undefined;
    const copies = copyWrites(writes);
    return { writes: copies, validateEntry: await loadValidation(), fileTools: this.#fileTools };
  }

  async renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
    await this.queue.write((connection) => sessions.renameSession(connection, id, title, source));
  }

  async archiveSession(id: SessionId, archived: boolean): Promise<void> {
    await this.queue.write((connection) => sessions.archiveSession(connection, id, archived));
  }

  async deleteSession(id: SessionId): Promise<void> {
    await this.queue.write((connection) => deleteSession(connection, id));
    // The deleted text is still in the WAL. It cannot be truncated while another process reads; `close` then tries again.
    const deadlineMs = performance.now() + TRUNCATE_TIMEOUT_MS;
    while (this.#connection.open && !this.#connection.truncateJournal() && performance.now() < deadlineMs) await delay(TRUNCATE_RETRY_MS);
  }

  async forkSession(id: SessionId, fork: records.Fork, writes: readonly Write[] = []): Promise<records.SessionRecord> {
    const copy = { ...fork, into: copySession(fork.into) };
    const first = await this.#firstWrites(writes);
    return this.queue.write((connection) => forkSession(connection, id, copy, this.#fileTools, first));
  }

  async setMetadata(key: records.SessionKey, patch: MetadataPatch): Promise<void> {
    await this.queue.writeSession(key, setMetadata, copyPatch(patch));
  }

  async leaf(key: records.SessionKey, name: string, at?: records.LeafState): Promise<records.LeafState> {
    return at === undefined ? this.queue.readSnapshot(key, readLeaf, name) : this.queue.writeSession(key, openLeaf, name, at);
  }

  async deleteLeaf(id: SessionId, name: string): Promise<void> {
    await this.queue.writeSession(id, deleteLeaf, name);
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
    return this.queue.lock.run(
      () => commitBatch(this.#connection, current, validateEntry, this.#fileTools),
      () => {
        current = { ...batch, writes: copyWrites(batch.writes) };
      },
    );
  }

  async undoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return this.queue.writeSession(key, undoMove, leafName);
  }

  async redoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return this.queue.writeSession(key, redoMove, leafName);
  }

  async saveTokenCounts(key: records.SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    await this.queue.writeSession(key, saveTokenCounts, counter, new Map(counts));
  }

  async search(request: SearchRequest): Promise<SearchPage> {
    if (request.sessionId !== undefined) sessions.requireSessionSeq(this.#connection, request.sessionId);
    return search(this.queue, request, this.#lastScan);
  }

  async catchUpSearch(limit: number, whenLocked?: WhenLocked): Promise<number> {
    const most = rowLimit(limit);
    if (!this.#connection.readOnly && most > 0) await this.queue.maintain((connection) => indexEntries(connection, most), whenLocked);
    return countUnindexed(this.#connection);
  }

  async mergeSearchIndex(whenLocked?: WhenLocked): Promise<boolean> {
    return !this.#connection.readOnly && this.queue.maintain(mergeSegments, whenLocked);
  }

  async importSession(source: SourceSession, options: port.ImportOptions): Promise<port.ImportedSession> {
    const validateEntry = loadedValidation() ?? (await loadValidation());
    return this.queue.write((connection) => importSession(connection, source, options, validateEntry, this.#fileTools));
  }

  async setSourceFiles(files: readonly SourceFileRecord[]): Promise<void> {
    await this.queue.write((connection) => setSourceFiles(connection, files));
  }

  async setSourcesGone(of: readonly Pick<SourceSessionRecord, "path" | "sourceId">[], goneAtMs: number | null): Promise<void> {
    await this.queue.write((connection) => setSourcesGone(connection, of, goneAtMs));
  }

  async *verify(id?: SessionId): AsyncIterable<port.Violation> {
    if (id !== undefined) sessions.requireSessionSeq(this.#connection, id);
    // Imported here, because it loads the validation and zod, which reads do not need.
    const { findViolations } = await import("./verify/verify.js");
    yield* findViolations(this.#connection, id);
  }

  async backup(path: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal): Promise<void> {
    await this.#connection.backup(path, onProgress, signal);
  }

  async close(): Promise<void> {
    this.changes.end();
    this.#connection.close();
  }
}

function copiesOf(queue: SerializedConnection): SessionCopies {
  return {
    state: (key) => queue.read((connection) => connection.read(() => readCopiedState(connection, key))),
    entries: (key, after, upTo) => queue.read((connection) => connection.read(() => readCopiedEntries(connection, key, after, upTo))),
    write: (part) => queue.write((connection) => writeCopiedPart(connection, part)),
  };
}

/** A copy of a new session, so that later changes by its owner are not written. */
function copySession<S extends Pick<records.NewSession, "metadata">>(session: S): S {
  return { ...session, metadata: session.metadata && copyJson(session.metadata, "metadata") };
}
