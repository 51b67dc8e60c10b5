import type { Entry } from "../entry/entry.js";
import type { EntryId, EntrySeq, SessionId } from "../ids/ids.js";
import type { FileOperation, StoredFileTouch } from "../tools/file-operations.js";
import type {
  ContextEnd,
  ContextPath,
  EntryListing,
  Fork,
  Label,
  LeafMove,
  LeafRecord,
  LeafState,
  NewSession,
  OpenedSession,
  OutlineRow,
  Page,
  PathScanFrom,
  SessionFilter,
  SessionKey,
  SessionRecord,
  SessionTotals,
  Statistics,
  StoredValue,
  ValueKey,
  ValueRange,
} from "./records.js";
import type { SearchPage, SearchRequest } from "./search.js";
import type { SessionCopies } from "./session-copy.js";
import type { ImportProblem, OpenEnd, SourceAppend, SourceRecords, SourceSession, SyncedImport } from "./source.js";
import type { Batch, BatchResult, MetadataPatch, Write } from "./writes.js";

/** The session that is created if there is none, and its first writes. */
export interface MissingSession {
  readonly session: Omit<NewSession, "id">;
  readonly writes: readonly Write[];
}

/** A change by another writer. */
export interface StoreChange {
  /** The sessions that were written, created or deleted; null: any may be. */
  readonly sessionIds: readonly SessionId[] | null;
}

/** A range of a path, both ends included. */
export interface PathRange {
  /** Default: the first entry of the path. */
  readonly fromId?: EntryId | undefined;
  readonly toId: EntryId;
}

/**
 * The interface of a storage engine. `Store` and `Session` use only this interface; there are two implementations: on a file
 * of SQLite, and on a PostgreSQL server. The same tests, the contract, run on each (`contract.ts` at the root lists them).
 *
 * Every operation is atomic. An unknown session throws `SessionNotFoundError`, an unknown entry `EntryNotFoundError`.
 */
export interface SessionStorage extends SourceRecords {
  readonly abilities: Abilities;
  /**
   * Calls `listener` after another process, or another open store of this one, has written; not after writes of this storage. Several
   * writes may be one call. The listener must not throw. Returns a function that ends the calls; closing the storage also ends them.
   * Keeps no process alive.
   */
  onChange(listener: (change: StoreChange) => void): () => void;
  /** `writes` are done at the leaf `main` in the same transaction. */
  createSession(session: NewSession, writes?: readonly Write[]): Promise<SessionRecord>;
  /**
   * Returns a session and one of its leaves, which is created at the position of `main` if it is missing. An unknown session is created
   * if `missing` is given; two callers at once create one session. Writes nothing if both exist.
   */
  openSession(id: SessionId, leafName: string, missing?: MissingSession): Promise<OpenedSession>;
  findSession(id: SessionKey): Promise<SessionRecord | undefined>;
  /** Finds sessions by id, id prefix, title, title prefix or part of a title: the results of the first of these that matches, conversations first. */
  sessionsNamed(name: string, limit: number): Promise<readonly SessionRecord[]>;
  /** For each id of a session its shortest prefix of at least four characters that names it alone. */
  shortSessionIds(ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>>;
  listSessions(filter: SessionFilter): Promise<Page<SessionRecord>>;
  /** Returns branches and usage of sessions, by id. */
  totalsOf(sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, SessionTotals>>;
  renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void>;
  archiveSession(id: SessionId, archived: boolean): Promise<void>;
  deleteSession(id: SessionId): Promise<void>;
  /** Copies a path or the whole tree into a new session. `writes` are done at its leaf `main` in the same transaction. */
  forkSession(id: SessionId, fork: Fork, writes?: readonly Write[]): Promise<SessionRecord>;
  /** Sets members of the metadata; a member that is undefined is removed, others stay. */
  setMetadata(sessionId: SessionKey, patch: MetadataPatch): Promise<void>;

  /** Returns the leaf of this name. If it is missing and `at` is given, creates it there. */
  leaf(sessionId: SessionKey, name: string, at?: LeafState): Promise<LeafState>;
  leaves(sessionId: SessionKey): Promise<readonly LeafRecord[]>;
  deleteLeaf(sessionId: SessionId, name: string): Promise<void>;
  commit(batch: Batch): Promise<BatchResult>;
  /** Moves the leaf back to where it was before its last move. Returns undefined if there is none. */
  undoMove(sessionId: SessionKey, leafName: string): Promise<LeafState | undefined>;
  redoMove(sessionId: SessionKey, leafName: string): Promise<LeafState | undefined>;
  /** Newest first. */
  leafMoves(sessionId: SessionKey, leafName: string, limit: number): Promise<readonly LeafMove[]>;

  entry(sessionId: SessionKey, id: EntryId): Promise<Entry>;
  /** Entries by id, in the order of the ids. Unknown ids are missing. */
  entriesById(sessionId: SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, Entry>>;
  /** Ids that start with `prefix`, sorted, so that an equal one comes first. */
  entriesStartingWith(sessionId: SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]>;
  /** For each id its shortest prefix of at least four characters that no other entry of the session has. */
  shortEntryIds(sessionId: SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, string>>;
  scanPath(sessionId: SessionKey, scan: PathScanFrom): Promise<Page<Entry>>;
  /** The order of arrival of each entry of a path, oldest first; with `stopAt`, of those below that entry. */
  pathSeqs(sessionId: SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly EntrySeq[]>;
  /** Entries by their order of arrival, oldest first. Ignores numbers of other sessions. */
  entriesAt(sessionId: SessionKey, seqs: readonly EntrySeq[]): Promise<readonly Entry[]>;
  /** Oldest first. null: the first entries of the session. */
  children(sessionId: SessionKey, id: EntryId | null): Promise<readonly OutlineRow[]>;
  /** Entries with more than one child. */
  branchPoints(sessionId: SessionKey): Promise<readonly OutlineRow[]>;
  /** Entries without children. */
  tips(sessionId: SessionKey): Promise<readonly OutlineRow[]>;
  /** The newest entry without children that is below an entry; the entry itself if it has none. */
  tipBelow(sessionId: SessionKey, id: EntryId): Promise<EntryId>;
  outline(sessionId: SessionKey, listing: EntryListing): Promise<readonly OutlineRow[]>;
  /** The rows of a path from its last entry upwards, at most `limit`. */
  outlinePath(sessionId: SessionKey, leafId: EntryId | null, limit: number): Promise<readonly OutlineRow[]>;
  /** Rows by their order of arrival, oldest first. Ignores numbers of other sessions. */
  outlineAt(sessionId: SessionKey, seqs: readonly EntrySeq[]): Promise<readonly OutlineRow[]>;
  listEntries(sessionId: SessionKey, listing: EntryListing): Promise<readonly Entry[]>;
  /** The deepest entry on both paths; null if they share none. */
  commonAncestor(sessionId: SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null>;
  /** `knownSeq`: the last entry of a context that the caller holds; if possible, only the entries after it are read. */
  contextPath(sessionId: SessionKey, at: ContextEnd, knownSeq: EntrySeq | null): Promise<ContextPath>;
  fileOperations(sessionId: SessionKey, range: PathRange): Promise<readonly FileOperation[]>;
  /** The calls of all sessions that name one of these paths, each as it is written there. Oldest first, calls of an entry in their order. */
  fileTouches(paths: readonly string[]): Promise<readonly StoredFileTouch[]>;
  /** The entries that are copies of those of other sessions, by their order of arrival, oldest first. */
  inheritedSeqs(sessionId: SessionKey): Promise<readonly EntrySeq[]>;

  /** Oldest entry first. `text`: only labels that contain it, ignoring case. */
  labels(sessionId: SessionKey, text?: string): Promise<readonly Label[]>;
  value(sessionId: SessionKey, key: string): Promise<StoredValue | undefined>;
  values(sessionId: SessionKey, range: ValueRange): Promise<readonly StoredValue[]>;
  /** The same without the values, which are not read. */
  valueKeys(sessionId: SessionKey, range: ValueRange): Promise<readonly ValueKey[]>;
  /** One value of each of these sessions, in the order of the ids. Sessions without it are missing. */
  valuesOf(key: string, sessionIds: readonly SessionId[]): Promise<ReadonlyMap<SessionId, StoredValue>>;

  /**
   * Token counts that `saveTokenCounts` stored. Entries without a count are missing. This is a cache: a storage may keep none.
   */
  tokenCounts(sessionId: SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>>;
  /** Stores token counts, replacing existing ones. Ignores ids of unknown entries. Changes neither leaf nor times. */
  saveTokenCounts(sessionId: SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void>;

  /** Searches the index and scans the entries that are not indexed yet. */
  search(request: SearchRequest): Promise<SearchPage>;
  /** Indexes at most `limit` entries, for about 20 ms. Returns an upper bound of the number of entries left; 0 if none is. */
  catchUpSearch(limit: number, whenLocked?: WhenLocked): Promise<number>;
  /** Merges parts of the search index, for about 20 ms. Returns whether there was something to merge. */
  mergeSearchIndex(whenLocked?: WhenLocked): Promise<boolean>;
  statistics(sessionId?: SessionKey): Promise<Statistics>;
  importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession>;
  /**
   * Imports sessions in order, in one transaction where a commit costs more than a small session. A session that fails rolls back alone;
   * its error is its outcome. If the transaction fails, its error is thrown and none of its sessions is written.
   */
  importSessions(imports: readonly SessionImport[]): Promise<readonly ImportOutcome[]>;

  /** Copies of whole sessions between stores. */
  readonly copies: SessionCopies;

  /** Packs payloads into compressed blocks. */
  readonly packing: PayloadPacking;

  /**
   * Iterates over integrity violations. Validates every payload; reads the whole store. Memory: seven numbers for each entry of the session
   * that is being checked.
   */
  verify(sessionId?: SessionId): AsyncIterable<Violation>;
  backup(path: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal): Promise<void>;
  /** Closes the storage without waiting. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Options for importing a session: its source, and the handling of its open end.
 *
 * `format` and `path` name the source in the record of the session (`SessionRecord.source`).
 */
export interface ImportOptions {
  readonly format: string;
  readonly path: string;
  /** When the file was written last, in milliseconds since 1970: the time of a session whose source has none. */
  readonly writtenAtMs?: number | undefined;
  /** Called after every few hundred records with the number of records read so far. */
  readonly onRecords?: ((records: number) => void) | undefined;
  /** The source is a part of a transcript that is still written. */
  readonly append?: SourceAppend | undefined;
  /** The import is one of a sync. */
  readonly sync?: SyncedImport | undefined;
  /**
   * Until when the open end of the source is left out, in milliseconds since 1970; null: it is imported as it is. Called after the records
   * before it were read. Default: everything is imported.
   */
  readonly heldUntil?: ((end: OpenEnd) => number | null) | undefined;
}

/** One session of an import of several. */
export interface SessionImport {
  readonly source: SourceSession;
  readonly options: ImportOptions;
}

/** The result of one session of several, or its error: nothing of that session was written. */
export type ImportOutcome = PromiseSettledResult<ImportedSession>;

/** The leaf `main` of an existing session that did not follow an import to the new end of its source. */
export interface LeafKept {
  /** null: before the first entry. */
  readonly leafId: EntryId | null;
  /** The new end: where the leaf is in the source. */
  readonly endId: EntryId | null;
  /** `placed`: a user moved the leaf there. `other-branch`: the new entries are not below it. */
  readonly reason: "placed" | "other-branch";
}

/** The result of importing one session of a source. */
export interface ImportedSession {
  /** The session in the store. */
  readonly sessionId: SessionId;
  /** The id in the source. Differs from `sessionId` if a session of this id holds other entries. */
  readonly claimedId: SessionId;
  /** `created`: a new session. `extended`: entries were added. `unchanged`: all entries existed. */
  readonly outcome: "created" | "extended" | "unchanged";
  readonly entriesAdded: number;
  /** Entries that existed and are equal. */
  readonly entriesKnown: number;
  /** The number of added entries that store a whole record as `foreign`. */
  readonly foreignAdded: number;
  /** The number of records that became no entry of their own, because their content is part of another entry or of the session. */
  readonly recordsMerged: number;
  /** In the order of the file, at most 1,000 of each code. The counts below include all. */
  readonly problems: readonly ImportProblem[];
  readonly problemCount: number;
  /** The number of problems by code. A code without problems is missing. */
  readonly problemCounts: Readonly<Partial<Record<ImportProblem["code"], number>>>;
  /**
   * The end of the source, usually the last reply, is still being written and was left out. From this time on, in milliseconds since 1970,
   * a sync imports it as it is, if the file does not change before. null: nothing was left out.
   */
  readonly heldUntilMs: number | null;
  /** Where the leaf stayed although entries were added; null: it is at the end of the source, or nothing was added. */
  readonly leafKept: LeafKept | null;
}

/** A broken integrity rule. The names of rules are stable. */
export interface Violation {
  readonly rule:
    | "file-damaged" // `PRAGMA integrity_check` failed
    | "wrong-schema" // a table, a column or an index is missing in the file
    | "dangling-reference" // `PRAGMA foreign_key_check` failed
    | "parent-not-older"
    | "wrong-depth"
    | "wrong-inheritance" // the compaction, model, thinking level or system message in force differs from the parent's
    | "first-kept-off-path"
    | "invalid-payload"
    | "wrong-waypoint" // the waypoint of an entry is missing or leads to the wrong entry
    | "wrong-run" // on a server: the runs of a session are not those of its entries
    | "wrong-tip" // an entry is missing among the tips or branch points, or wrongly among them
    | "wrong-custom-type" // custom_type differs from the payload
    | "wrong-private" // private_entry differs from the payload
    | "wrong-metadata" // the members by which a session is found differ from its metadata
    | "wrong-origin" // a copy counts in totals beside its original, counts nowhere, or refers to another copy
    | "leaf-off-session"
    | "wrong-count" // the count of entries, of messages or of payload rows differs from those of the session
    | "wrong-size" // payload_bytes differs from the payload
    | "damaged-value" // a value larger than 64 KiB is missing, or is no JSON of its size
    | "damaged-block" // a block of payloads cannot be read, or does not hold exactly the entries of its range
    | "missing-payload" // the payload of an entry is neither a row nor in a block
    | "payload-twice" // it is both
    | "search-index"; // an entry is missing in the search index
  readonly sessionId: SessionId | null;
  readonly entryId: EntryId | null;
  /** A description on one line. */
  readonly message: string;
}

/**
 * The features in which storage engines differ. All else of the port is the same on every engine: the tests of the contract run on each
 * of them, and skip only the features that it lacks.
 */
export interface Abilities {
  /** Who can use a store at once: this process, processes of this machine, or processes of many machines. */
  readonly sharedBy: "process" | "machine" | "network";
  /** `backup` writes a copy of the store into a file. Without it, it throws `UnsupportedOperationError`: the server makes backups. */
  readonly backup: boolean;
  /** Payloads can be packed later, by `packing`. Without it they are stored in one form: there is nothing to pack or to shrink. */
  readonly packing: boolean;
  /** Entries are indexed for the search after they are written, by `catchUpSearch`. Without it the write indexes them. */
  readonly indexesLater: boolean;
  /** Entries are numbered in order of arrival in the whole store, or in their session. */
  readonly numbers: "store" | "session";
}

/** The behavior of a maintenance write while another has or wants the lock: `wait` (default), or `throw` a `StoreBusyError` at once. */
export type WhenLocked = "wait" | "throw";

/** Which payloads are packed: `old` are those of sessions idle for an hour, and of active sessions those before the newest 128. */
export type PackScope = "old" | "all";

/** Packs payloads into compressed blocks. Entries read the same, packed or not. */
export interface PayloadPacking {
  /**
   * Packs payloads that are rows into one compressed block. undefined: nothing is left to pack in this scope. `entries: 0`: another
   * process packed the same rows. A storage that stores payloads in one form only returns undefined.
   */
  next(scope: PackScope, whenLocked?: WhenLocked): Promise<PackedBlocks | undefined>;
  /** The same for some blocks at once, each of which is a transaction of its own: faster, for a caller that waits for all of them. */
  nextInBulk(scope: PackScope): Promise<PackedBlocks | undefined>;
  /** The payloads that are not packed. */
  unpacked(): Promise<RowSize>;
  fileSize(): Promise<FileSize>;
  /**
   * Merges the search index into one segment, and gives free space in the file back to the file system. Returns false if there is
   * no room for a copy of the file, or another process holds the lock. Blocks for as long as it takes to write the file.
   */
  shrinkFile(): Promise<boolean>;
}

/** The number of payloads that one step packed, and the size in bytes of the compressed blocks that hold them now. */
export interface PackedBlocks {
  readonly entries: number;
  readonly blockBytes: number;
}

/** The payloads that are rows: their number, and the bytes of their JSON texts. */
export interface RowSize {
  readonly entries: number;
  readonly bytes: number;
}

/** The size of the file of a store, and how much of it is free. */
export interface FileSize {
  readonly bytes: number;
  readonly freeBytes: number;
}
