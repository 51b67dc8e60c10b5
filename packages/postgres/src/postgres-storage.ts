import { type EntryId, type FileTools, type SessionId, UnsupportedOperationError, type Write } from "@bough/session-core";
import {
  type Abilities,
  type Batch,
  copyNewSession,
  copyPatch,
  copyWrites,
  type Fork,
  type ImportOptions,
  type ImportOutcome,
  type LeafState,
  loadedValidation,
  loadValidation,
  type MetadataPatch,
  type MissingSession,
  type NewSession,
  type PayloadPacking,
  type SessionImport,
  type SessionKey,
  type SessionStorage,
  type SourceSession,
} from "@bough/session-core/engine";
import { commitBatch } from "./commit.js";
import { readContextPath } from "./context.js";
import type { Database, PgDatabase } from "./database.js";
import { findEntryIds, listEntries, readEntriesAt, readEntriesById, readEntry, shortEntryIds } from "./entries.js";
import { type PgLeafState, readLeaf } from "./facts.js";
import { forkSession } from "./fork.js";
import { importSession } from "./import.js";
import { deleteLeaf, listLeafMoves, listLeaves, openLeaf, redoMove, undoMove } from "./leaves.js";
import { listInherited } from "./origins.js";
import { findTipBelow, listBranchPoints, listChildren, listTips, readOutline, readOutlineAt, readOutlinePath } from "./outline.js";
import { findCommonAncestor, readFileOperations, readFileTouches, readPathSeqs, scanPath } from "./paths.js";
import type { FirstWrites, WriteRules } from "./planned-session.js";
import { search } from "./search.js";
import { copiesOf } from "./session-copy.js";
import { findSessionsByName, listSessions, shortSessionIds } from "./session-list.js";
import { archiveSession, createSession, deleteSession, findSessionRecord, openSession, renameSession, setMetadata } from "./sessions.js";
import {
  listHeldSessions,
  listSessionSources,
  listSourceFiles,
  listSourceSessions,
  setSourceFiles,
  setSourcesGone,
} from "./source-files.js";
import { readStatistics, readTotalsOf } from "./statistics.js";
import { findValue, findValuesOf, listLabels, listValueKeys, listValues, readTokenCounts, saveTokenCounts } from "./values.js";
import { findViolations } from "./verify.js";

/** The storage port on a schema of a PostgreSQL server. Each operation is one transaction. */
export function postgresStorage(database: PgDatabase, fileTools: FileTools): SessionStorage {
  return { ...forwarded(database), ...copyingWrites(database, fileTools), ...ofServers(database) };
}

/** The operations of the port that are functions of a database and the arguments of the port. */
function forwarded(database: PgDatabase) {
  const on =
    <A extends readonly unknown[], R>(operation: (database: PgDatabase, ...args: A) => R) =>
    (...args: A): R =>
      operation(database, ...args);
  const inTransaction =
    <A extends readonly unknown[], R>(operation: (transaction: Database, ...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      database.write((transaction) => operation(transaction, ...args));
  return {
    findSession: on(findSessionRecord),
    sessionsNamed: on(findSessionsByName),
    shortSessionIds: on(shortSessionIds),
    listSessions: on(listSessions),
    renameSession: on(renameSession),
    archiveSession: on(archiveSession),
    deleteSession: on(deleteSession),
    sourceFiles: on(listSourceFiles),
    sourceSessions: on(listSourceSessions),
    sessionSources: on(listSessionSources),
    heldSessions: on(listHeldSessions),
    setSourceFiles: inTransaction(setSourceFiles),
    setSourcesGone: inTransaction(setSourcesGone),
    leaves: on(listLeaves),
    leafMoves: on(listLeafMoves),
    deleteLeaf: on(deleteLeaf),
    undoMove: on(undoMove),
    redoMove: on(redoMove),
    entry: on(readEntry),
    entriesById: on(readEntriesById),
    entriesStartingWith: on(findEntryIds),
    shortEntryIds: on(shortEntryIds),
    scanPath: on(scanPath),
    pathSeqs: on(readPathSeqs),
    entriesAt: on(readEntriesAt),
    children: on(listChildren),
    branchPoints: on(listBranchPoints),
    tips: on(listTips),
    tipBelow: on(findTipBelow),
    outline: on(readOutline),
    outlinePath: on(readOutlinePath),
    outlineAt: on(readOutlineAt),
    listEntries: on(listEntries),
    commonAncestor: on(findCommonAncestor),
    contextPath: on(readContextPath),
    fileOperations: on(readFileOperations),
    fileTouches: on(readFileTouches),
    inheritedSeqs: on(listInherited),
    labels: on(listLabels),
    value: on(findValue),
    values: on(listValues),
    valuesOf: on(findValuesOf),
    valueKeys: on(listValueKeys),
    totalsOf: on(readTotalsOf),
    tokenCounts: on(readTokenCounts),
    statistics: on(readStatistics),
    search: on(search),
    verify: on(findViolations),
  };
}

/** The operations that copy what they are given before the first `await`, so that later changes by its owner are not written. */
function copyingWrites(database: PgDatabase, fileTools: FileTools) {
  const rules = async (): Promise<WriteRules> => ({ validateEntry: loadedValidation() ?? (await loadValidation()), fileTools });
  const firstWrites = async (writes: readonly Write[]): Promise<FirstWrites> =>
    writes.length === 0 ? undefined : { writes: copyWrites(writes), rules: await rules() };
  return {
    async createSession(session: NewSession, writes: readonly Write[] = []) {
      return createSession(database, copyNewSession(session), await firstWrites(writes));
    },
    async openSession(id: SessionId, leafName: string, missing?: MissingSession) {
      const created = missing && { session: copyNewSession(missing.session), first: await firstWrites(missing.writes) };
      return openSession(database, id, leafName, created);
    },
    async forkSession(id: SessionId, fork: Fork, writes: readonly Write[] = []) {
      return forkSession(database, id, { ...fork, into: copyNewSession(fork.into) }, await firstWrites(writes));
    },
    async setMetadata(key: SessionKey, patch: MetadataPatch) {
      await setMetadata(database, key, copyPatch(patch));
    },
    async commit(batch: Batch<PgLeafState>) {
      const validateEntry = loadedValidation();
      if (validateEntry !== undefined) return commitBatch(database, batch, { validateEntry, fileTools });
      return commitBatch(database, { ...batch, writes: copyWrites(batch.writes) }, await rules());
    },
    async saveTokenCounts(key: SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>) {
      await saveTokenCounts(database, key, counter, new Map(counts));
    },
    async importSession(source: SourceSession, options: ImportOptions) {
      return importSession(database, source, options, await rules());
    },
    // A session is planned before its transaction, which then is a few statements whatever its length.
    async importSessions(imports: readonly SessionImport[]) {
      const outcomes: ImportOutcome[] = [];
      for (const { source, options } of imports)
        outcomes.push(...(await Promise.allSettled([importSession(database, source, options, await rules())])));
      return outcomes;
    },
  };
}

/** The operations that a server does by itself, and those that differ from a file. */
function ofServers(database: PgDatabase) {
  const abilities: Abilities = { sharedBy: "network", backup: false, packing: false, indexesLater: false, numbers: "session" };
  return {
    abilities,
    files: [],
    packing: NOTHING_TO_PACK,
    copies: copiesOf(database),
    onChange: (listener: Parameters<SessionStorage["onChange"]>[0]) => database.changes.add(listener),
    leaf: (key: SessionKey, name: string, at?: LeafState) =>
      at === undefined ? readLeaf(database, key, name) : openLeaf(database, key, name, at),
    // Entries are indexed in the transaction that writes them, and the server merges the parts of its index.
    catchUpSearch: async () => 0,
    mergeSearchIndex: async () => false,
    async backup() {
      throw new UnsupportedOperationError("A backup of a store on a server is made by the server.", "Use pg_dump: see docs/postgres.md.");
    },
    close: () => database.close(),
  };
}

/** A server stores payloads in one form, and looks after its files itself. */
const NOTHING_TO_PACK: PayloadPacking = {
  next: async () => undefined,
  nextInBulk: async () => undefined,
  unpacked: async () => ({ entries: 0, bytes: 0 }),
  fileSize: async () => ({ bytes: 0, freeBytes: 0 }),
  shrinkFile: async () => false,
};
