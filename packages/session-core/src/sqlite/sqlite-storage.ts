import { setTimeout as delay } from "node:timers/promises";
import type { EntryId, EntrySeq, SessionId } from "../ids/ids.js";
import type { ConnectionOptions } from "../port/connection-options.js";
import type { ContextEnd, Fork, LeafState, NewSession, SessionKey, SessionRecord } from "../port/records.js";
import type { SearchRequest } from "../port/search.js";
import type {
  Abilities,
  ImportOptions,
  MissingSession,
  SessionImport,
  SessionStorage,
  StoreChange,
  WhenLocked,
} from "../port/session-storage.js";
import type { SourceSession } from "../port/source.js";
import { type Batch, copyNewSession, copyPatch, copyWrites, type MetadataPatch, type Write } from "../port/writes.js";
import { loadedValidation, loadValidation } from "../rules/batch-writer.js";
import { toSessionRecord } from "../rules/session-columns.js";
import { rowLimit } from "../rules/values.js";
import type { FileTools } from "../tools/known-tools.js";
import { ChangePoll } from "./change-poll.js";
import { Connection } from "./file/connection.js";
import { retryWhileBusy } from "./file/write-lock.js";
import type { LastScan } from "./search/search.js";
import { countUnindexed, indexEntries, mergeSegments } from "./search/search-index.js";
import { SerializedConnection, type SessionFunction } from "./serialized-connection.js";
import { findSessionsByName, listSessions, readStatistics, readTotalsOf } from "./sessions/session-list.js";
import * as sessions from "./sessions/session-rows.js";
import {
  listHeldSessions,
  listSessionSources,
  listSourceFiles,
  listSourceSessions,
  setSourceFiles,
  setSourcesGone,
} from "./sessions/source-files.js";
import { findValue, findValuesOf, listValueKeys, listValues } from "./sessions/values.js";
import { SqlitePacking } from "./sqlite-packing.js";
import { listLabels, readTokenCounts, saveTokenCounts } from "./tree/annotations.js";
import { commitBatch, createSession, type FirstWrites, findOpened, openOrCreate } from "./tree/commit.js";
import { readContextPath, SettingsCache } from "./tree/context-path.js";
import { findEntryIds, listEntries, readEntriesAt, readEntriesById, readPathSeqsById, scanPath, shortEntryIds } from "./tree/entry-list.js";
import { readEntry } from "./tree/entry-rows.js";
import { forkSession } from "./tree/fork.js";
import { deleteLeaf, listLeafMoves, listLeaves, openLeaf, readLeaf, redoMove, undoMove } from "./tree/leaves.js";
import { deleteSession, listInherited } from "./tree/origins.js";
import { findTipBelow, listBranchPoints, listChildren, listTips, readOutline, readOutlineAt, readOutlinePath } from "./tree/outline.js";
import { type FileLeafState, findCommonAncestorId, readFileOperations, readFileTouches } from "./tree/paths.js";
import { readCopiedEntries, readCopiedState, writeCopiedPart } from "./tree/session-copy.js";

/** The time that a deletion waits for readers before `close` has to truncate the WAL, and the pause between tries, in milliseconds. */
const TRUNCATE_TIMEOUT_MS = 250;
const TRUNCATE_RETRY_MS = 10;

/** Options for opening the SQLite storage. */
interface SqliteOptions extends ConnectionOptions {
  readonly fileTools: FileTools;
}

/**
 * Opens the storage port on one SQLite file. Waits at most the busy timeout while another process locks all of it, for example to create
 * it. Each operation is one synchronous transaction, so that no `await` can split it. The folders `sessions`, `tree` and `search` own the
 * queries.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<SessionStorage> {
  const connection = await retryWhileBusy(options.busyTimeoutMs, () => Connection.open(options));
  const queue = new SerializedConnection(connection);
  return { ...forwarded(queue), ...copyingWrites(connection, queue, options.fileTools), ...ofFiles(connection, queue) };
}

/** The operations of the port that are functions of a connection and the arguments of the port. */
function forwarded(queue: SerializedConnection) {
  type Operation<A extends readonly unknown[], R> = (connection: Connection, ...args: A) => R;
  const read =
    <A extends readonly unknown[], R>(operation: Operation<A, R>) =>
    (...args: A): Promise<R> =>
      queue.read((connection) => operation(connection, ...args));
  // Reads of several queries: all of them use one snapshot.
  const snapshot = <A extends readonly unknown[], R>(operation: Operation<A, R>) =>
    read((connection, ...args: A) => connection.read(() => operation(connection, ...args)));
  const write =
    <A extends readonly unknown[], R>(operation: Operation<A, R>) =>
    (...args: A): Promise<R> =>
      queue.write((connection) => operation(connection, ...args));
  const ofSession =
    <A extends readonly unknown[], R>(operation: SessionFunction<A, R>) =>
    (key: SessionKey, ...args: A): Promise<R> =>
      queue.readSession(key, operation, ...args);
  const snapshotOf =
    <A extends readonly unknown[], R>(operation: SessionFunction<A, R>) =>
    (key: SessionKey, ...args: A): Promise<R> =>
      queue.readSnapshot(key, operation, ...args);
  const writeOf =
    <A extends readonly unknown[], R>(operation: SessionFunction<A, R>) =>
    (key: SessionKey, ...args: A): Promise<R> =>
      queue.writeSession(key, operation, ...args);
  const settings = new SettingsCache();
  return {
    findSession: read(findSession),
    sessionsNamed: read(findSessionsByName),
    shortSessionIds: snapshot(sessions.shortSessionIds),
    listSessions: read(listSessions),
    totalsOf: read(readTotalsOf),
    statistics: read(readStatistics),
    renameSession: write(sessions.renameSession),
    archiveSession: write(sessions.archiveSession),
    sourceFiles: read(listSourceFiles),
    sourceSessions: read(listSourceSessions),
    sessionSources: read(listSessionSources),
    heldSessions: read(listHeldSessions),
    setSourceFiles: write(setSourceFiles),
    setSourcesGone: write(setSourcesGone),
    leaves: ofSession(listLeaves),
    leafMoves: ofSession(listLeafMoves),
    deleteLeaf: writeOf(deleteLeaf),
    undoMove: writeOf(undoMove),
    redoMove: writeOf(redoMove),
    entry: snapshotOf(readEntry),
    entriesById: snapshotOf(readEntriesById),
    entriesStartingWith: ofSession(findEntryIds),
    shortEntryIds: snapshotOf(shortEntryIds),
    scanPath: snapshotOf(scanPath),
    pathSeqs: snapshotOf(readPathSeqsById),
    entriesAt: snapshotOf(readEntriesAt),
    children: ofSession(listChildren),
    branchPoints: ofSession(listBranchPoints),
    tips: ofSession(listTips),
    tipBelow: snapshotOf(findTipBelow),
    outline: ofSession(readOutline),
    outlinePath: snapshotOf(readOutlinePath),
    outlineAt: ofSession(readOutlineAt),
    listEntries: snapshotOf(listEntries),
    commonAncestor: snapshotOf(findCommonAncestorId),
    contextPath: (key: SessionKey, at: ContextEnd, knownSeq: EntrySeq | null) =>
      queue.readSnapshot(key, readContextPath, at, knownSeq, settings),
    fileOperations: snapshotOf(readFileOperations),
    fileTouches: read(readFileTouches),
    inheritedSeqs: ofSession(listInherited),
    labels: ofSession(listLabels),
    value: ofSession(findValue),
    values: ofSession(listValues),
    valueKeys: ofSession(listValueKeys),
    valuesOf: snapshot(findValuesOf),
    tokenCounts: ofSession(readTokenCounts),
    copies: { state: snapshot(readCopiedState), entries: snapshot(readCopiedEntries), write: write(writeCopiedPart) },
  };
}

function findSession(connection: Connection, key: SessionKey): SessionRecord | undefined {
  const row = sessions.findSessionRow(connection, key);
  return row && toSessionRecord(row);
}

/** The operations that copy what they are given before they wait, so that later changes by its owner are not written. */
function copyingWrites(connection: Connection, queue: SerializedConnection, fileTools: FileTools) {
  const firstWrites = async (writes: readonly Write[]): Promise<FirstWrites | undefined> =>
    writes.length === 0 ? undefined : { writes: copyWrites(writes), validateEntry: await loadValidation(), fileTools };
  type ValidateEntry = FirstWrites["validateEntry"];
  const commit = (batch: Batch<FileLeafState>, validateEntry: ValidateEntry) => {
    let current = batch;
    return queue.lock.run(
      () => commitBatch(connection, current, validateEntry, fileTools),
      () => {
        current = { ...batch, writes: copyWrites(batch.writes) };
      },
    );
  };
  return {
    async createSession(session: NewSession, writes: readonly Write[] = []) {
      const copy = copyNewSession(session);
      const first = await firstWrites(writes);
      return queue.write(() =>
        connection.write(() => toSessionRecord(sessions.requireSessionRow(connection, createSession(connection, copy, first).id))),
      );
    },
    async openSession(id: SessionId, leafName: string, missing?: MissingSession) {
      const found = await queue.read(() => connection.read(() => findOpened(connection, id, leafName, missing !== undefined)));
      if (found !== undefined) return found;
      const created = missing && { session: copyNewSession(missing.session), first: await firstWrites(missing.writes) };
      return queue.write(() => connection.write(() => openOrCreate(connection, id, leafName, created)));
    },
    async forkSession(id: SessionId, fork: Fork, writes: readonly Write[] = []) {
      const copy = { ...fork, into: copyNewSession(fork.into) };
      const first = await firstWrites(writes);
      return queue.write(() => forkSession(connection, id, copy, fileTools, first));
    },
    async setMetadata(key: SessionKey, patch: MetadataPatch) {
      await queue.writeSession(key, sessions.setMetadata, copyPatch(patch));
    },
    // Without a wait there is no `await` before the transaction, so that appends run in the order in which they are called.
    commit(batch: Batch<FileLeafState>) {
      const validateEntry = loadedValidation();
      if (validateEntry !== undefined) return commit(batch, validateEntry);
      const copy = { ...batch, writes: copyWrites(batch.writes) };
      return loadValidation().then((loaded) => commit(copy, loaded));
    },
    async saveTokenCounts(key: SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>) {
      await queue.writeSession(key, saveTokenCounts, counter, new Map(counts));
    },
    async importSession(source: SourceSession, options: ImportOptions) {
      const [{ importSession }, validateEntry] = await Promise.all([import("./import-session.js"), loadValidation()]);
      return queue.write(() => importSession(connection, { source, options }, validateEntry, fileTools));
    },
    async importSessions(imports: readonly SessionImport[]) {
      const [{ importSessions }, validateEntry] = await Promise.all([import("./import-session.js"), loadValidation()]);
      return queue.write(() => importSessions(connection, imports, validateEntry, fileTools));
    },
  };
}

/** The operations that depend on the file, its index, or its lock. */
function ofFiles(connection: Connection, queue: SerializedConnection) {
  const { path } = connection;
  const isInMemory = path === ":memory:";
  const abilities: Abilities = {
    sharedBy: isInMemory ? "process" : "machine",
    backup: true,
    packing: true,
    indexesLater: true,
    numbers: "store",
  };
  const changes = new ChangePoll(queue);
  const lastScan: LastScan = { key: "", hits: [] };
  return {
    abilities,
    files: isInMemory ? [] : ["", "-wal", "-shm", "-journal"].map((side) => `${path}${side}`),
    packing: new SqlitePacking(queue),
    onChange: (listener: (change: StoreChange) => void) => changes.add(listener),
    leaf: (key: SessionKey, name: string, at?: LeafState) =>
      at === undefined ? queue.readSnapshot(key, readLeaf, name) : queue.writeSession(key, openLeaf, name, at),
    async deleteSession(id: SessionId) {
      await queue.write(() => deleteSession(connection, id));
      // The deleted text is still in the WAL. It cannot be truncated while another process reads; `close` then tries again.
      const deadlineMs = performance.now() + TRUNCATE_TIMEOUT_MS;
      while (connection.open && !connection.truncateJournal() && performance.now() < deadlineMs) await delay(TRUNCATE_RETRY_MS);
    },
    async search(request: SearchRequest) {
      if (request.sessionId !== undefined) sessions.requireSessionSeq(connection, request.sessionId);
      const { search } = await import("./search/search.js");
      return search(queue, request, lastScan);
    },
    async catchUpSearch(limit: number, whenLocked?: WhenLocked) {
      const most = rowLimit(limit);
      if (!connection.readOnly && most > 0) await queue.maintain(() => indexEntries(connection, most), whenLocked);
      return countUnindexed(connection);
    },
    async mergeSearchIndex(whenLocked?: WhenLocked) {
      return !connection.readOnly && queue.maintain(mergeSegments, whenLocked);
    },
    async *verify(id?: SessionId) {
      if (id !== undefined) sessions.requireSessionSeq(connection, id);
      // Imported here, because it loads the validation and zod, which reads do not need.
      const { findViolations } = await import("./verify/verify.js");
      yield* findViolations(connection, id);
    },
    async backup(to: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal) {
      await connection.backup(to, onProgress, signal);
    },
    async close() {
      changes.end();
      connection.close();
    },
  };
}
