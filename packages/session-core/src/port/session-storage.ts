import type { Entry, EntryInput, EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { ImportProblem, SourceSession } from "../source/source-session.js";
import type { FileOperation } from "../tools/file-operations.js";
import type {
  ContextEnd,
  ContextPath,
  Label,
  LeafMove,
  LeafRecord,
  LeafState,
  NewSession,
  OutlineRow,
  Page,
  PathScanFrom,
  SessionFilter,
  SessionKey,
  SessionRecord,
  SessionRow,
  Statistics,
  StoredValue,
} from "./records.js";

/** One thing to write. Several of them in a batch are one transaction: all or none. */
export type Write =
  /** `entry` is judged by the gate; it goes under the entry written before it in the batch, or under the leaf. */
  | { readonly kind: "entry"; readonly entry: EntryInput }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  /** `value: undefined` takes the value away. */
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  | { readonly kind: "moveLeaf"; readonly to: EntryId | null };

/**
 * What to do when another writer moved the leaf since the handle last saw it: `error` throws `LeafMovedError`,
 * `follow` appends under the new leaf, `branch` under the old one, beside what the other writer wrote.
 */
export type OnConflict = "error" | "follow" | "branch";

/** A batch for one leaf of one session. */
export interface Batch {
  readonly sessionId: SessionKey;
  readonly leafName: string;
  /** The leaf as the handle last saw it. */
  readonly seen: LeafState;
  readonly onConflict: OnConflict;
  /** Write nothing, and throw `LeafMovedError`, unless the leaf still stands where it was seen; whatever is written. Default false. */
  readonly onlyIfSeen?: boolean | undefined;
  readonly writes: readonly Write[];
}

/** What a batch wrote: its entries in order (one that was there already is given as it is), and the leaf after it. */
export interface BatchResult {
  readonly entries: readonly Pick<Entry, "id" | "seq">[];
  readonly leaf: LeafState;
}

/** Two entries of one session by their places: what a range of a path is given by. Both ends are part of it. */
export interface PathRange {
  /** Default: the first entry of the path. */
  readonly fromId?: EntryId | undefined;
  readonly toId: EntryId;
}

/**
 * What a storage engine must do. `Store` and `Session` are written on this port alone, and the contract suite in
 * `test/` states what each operation means; the SQLite storage is the one implementation.
 *
 * Every operation is atomic, and throws the errors of `errors/`: an unknown session is `SessionNotFoundError`, an
 * unknown entry `EntryNotFoundError`, wherever an id is given.
 */
export interface SessionStorage {
  /** Paths of the files that it stands in. Nobody else may open them: closing one releases the locks of this process on it. */
  readonly files: readonly string[];
  createSession(session: NewSession): Promise<SessionRecord>;
  /** The session that has this id now, for a handle: what is given its row works on no later session with the same id. */
  sessionRow(id: SessionId): Promise<SessionRow>;
  findSession(id: SessionKey): Promise<SessionRecord | undefined>;
  /** Sessions by exact id, id prefix, title, title prefix or part of a title: the first of these that finds any; conversations first. */
  sessionsNamed(name: string, limit: number): Promise<readonly SessionRecord[]>;
  listSessions(filter: SessionFilter): Promise<Page<SessionRecord>>;
  renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void>;
  archiveSession(id: SessionId, archived: boolean): Promise<void>;
  deleteSession(id: SessionId): Promise<void>;
  /** Copies the path that ends at `at`; null copies no entry. */
  forkSession(id: SessionId, at: EntryId | null, into: NewSession): Promise<SessionRecord>;

  /** The leaf of this name; makes it, standing at `at`, where it is missing and `at` is given. */
  leaf(sessionId: SessionKey, name: string, at?: LeafState): Promise<LeafState>;
  leaves(sessionId: SessionKey): Promise<readonly LeafRecord[]>;
  deleteLeaf(sessionId: SessionId, name: string): Promise<void>;
  commit(batch: Batch): Promise<BatchResult>;
  /** Puts the leaf back to where it stood before its last move; undefined: there is none to undo. */
  undoMove(sessionId: SessionKey, leafName: string): Promise<LeafState | undefined>;
  redoMove(sessionId: SessionKey, leafName: string): Promise<LeafState | undefined>;
  /** Newest first. */
  leafMoves(sessionId: SessionKey, leafName: string, limit: number): Promise<readonly LeafMove[]>;

  entry(sessionId: SessionKey, id: EntryId): Promise<Entry>;
  /** Ids that start with `prefix`, in the order of their characters, so that an exact one comes first. */
  entriesStartingWith(sessionId: SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]>;
  scanPath(sessionId: SessionKey, scan: PathScanFrom): Promise<Page<Entry>>;
  /** The order of arrival of each entry of a path, oldest first; `stopAt`: only those below this entry. */
  pathSeqs(sessionId: SessionKey, leafId: EntryId | null, stopAt?: EntryId): Promise<readonly number[]>;
  /** Entries by their order of arrival, oldest first; numbers of no entry of this session are left out. */
  entriesAt(sessionId: SessionKey, seqs: readonly number[]): Promise<readonly Entry[]>;
  /** null: the first entries of the session. Oldest first. */
  children(sessionId: SessionKey, id: EntryId | null): Promise<readonly OutlineRow[]>;
  /** Entries with more than one child. */
  branchPoints(sessionId: SessionKey): Promise<readonly OutlineRow[]>;
  /** Entries without a child: the end of each branch. */
  tips(sessionId: SessionKey): Promise<readonly OutlineRow[]>;
  outline(sessionId: SessionKey, afterSeq: number, limit: number): Promise<readonly OutlineRow[]>;
  entriesSince(sessionId: SessionKey, afterSeq: number, limit: number): Promise<readonly Entry[]>;
  /** The deepest entry on both paths; null: none (two first entries). */
  commonAncestor(sessionId: SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null>;
  /** `at`: an entry, or a leaf by name. `knownSeq`: the end of a window the caller holds already. */
  contextPath(sessionId: SessionKey, at: ContextEnd, knownSeq: number | null): Promise<ContextPath>;
  fileOperations(sessionId: SessionKey, range: PathRange): Promise<readonly FileOperation[]>;

  /** Oldest entry first. `text`: only labels that contain it, whatever the case. */
  labels(sessionId: SessionKey, text?: string): Promise<readonly Label[]>;
  value(sessionId: SessionKey, key: string): Promise<StoredValue | undefined>;
  /** In order of key; `prefix`: only keys that start with it. */
  values(sessionId: SessionKey, prefix: string): Promise<readonly StoredValue[]>;

  /**
   * What `saveTokenCounts` kept of these entries; what it did not keep is missing. A cache: also a storage that keeps
   * nothing answers right.
   */
  tokenCounts(sessionId: SessionKey, counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>>;
  /** Keeps counts of entries, in place of those it has; ids of no entry are left out. Touches neither leaf nor times nor order. */
  saveTokenCounts(sessionId: SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void>;

  /** Complete whatever the index lacks, which is looked through entry by entry; `catchUpSearch` first makes that little. */
  search(request: SearchRequest): Promise<SearchPage>;
  /**
   * Puts some entries into the search index, at most `limit` and no more than take about 20 ms; returns at most how many
   * are still missing, 0 only when none is. `throw`: `StoreBusyError` at once where another process holds the lock.
   */
  catchUpSearch(limit: number, whenLocked?: "wait" | "throw"): Promise<number>;
  statistics(sessionId?: SessionKey): Promise<Statistics>;
  importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession>;

  /** Every violation of what must hold, judging each payload again. Reads the whole store. */
  verify(sessionId?: SessionId): AsyncIterable<Violation>;
  backup(path: string, onProgress?: (done: number, total: number) => void, signal?: AbortSignal): Promise<void>;
  /** Waits for nothing: every accepted write is on disk already. A second call does nothing. */
  close(): Promise<void>;
}

/** What to look for, and where. Every part narrows. */
export interface SearchRequest {
  /**
   * Words, all of which must occur; `"several words"` in a row; `word*` as a beginning. Case and accents do not count;
   * punctuation inside a word makes it words in a row, so `src/a.ts` finds that file name.
   */
  readonly query: string;
  /** In this session only; default: all. */
  readonly sessionId?: SessionId | undefined;
  readonly roles?: readonly MessageRole[] | undefined;
  readonly types?: readonly EntryType[] | undefined;
  /** Entries made at or after this time, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Entries made before this time. */
  readonly untilMs?: number | undefined;
  /** Entries whose tool calls touch this file: the whole path, or its last parts (`src/a.ts`, `a.ts`). */
  readonly path?: string | undefined;
  /** Sessions recorded in this directory. */
  readonly cwd?: string | undefined;
  /** At most this many hits; default 20. */
  readonly limit?: number | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
}

/** One entry, or one session title, that fits. */
export interface SearchHit {
  readonly sessionId: SessionId;
  readonly sessionTitle: string | null;
  /** null: the title of the session fits. */
  readonly entryId: EntryId | null;
  readonly seq: number | null;
  readonly type: EntryType | "title";
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  /** The surroundings of the first match, about 30 words on one line, without control characters. */
  readonly snippet: string;
  /** The matches in `snippet`: pairs of start and end, in UTF-16 code units. */
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** Hits, best first: titles, then entries by BM25 rank, newest first where the rank is equal. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** How many entries and titles fit in all. */
  readonly total: number;
  readonly next: string | null;
}

/** Where the source was read, for the session's record. */
export interface ImportOptions {
  readonly format: string;
  readonly path: string;
  /** Called after every few hundred records with how many this session has had so far. */
  readonly onRecords?: ((records: number) => void) | undefined;
}

/** What became of one session of a source. */
export interface ImportedSession {
  /** The session it is in now. */
  readonly sessionId: SessionId;
  /** The id that the source claims; another one than `sessionId` when that session holds different entries. */
  readonly claimedId: SessionId;
  /** `created`: it is new. `extended`: entries were added. `unchanged`: everything was there already. */
  readonly outcome: "created" | "extended" | "unchanged";
  readonly entriesAdded: number;
  /** Entries that were there already, equal. */
  readonly entriesKnown: number;
  /** Records kept whole as `foreign` entries, among those added. */
  readonly foreignAdded: number;
  /** In the order of the file, at most 1,000 of each code; the counts are of all. */
  readonly problems: readonly ImportProblem[];
  readonly problemCount: number;
  /** How many problems there are of each code, those of `problems` included. A code that is missing has none. */
  readonly problemCounts: Readonly<Partial<Record<ImportProblem["code"], number>>>;
}

/** Something that `verify` found not to hold. `rule` is stable. */
export interface Violation {
  readonly rule:
    | "file-damaged" // SQLite's own check
    | "dangling-reference" // a foreign key that points nowhere
    | "parent-not-older"
    | "wrong-depth"
    | "wrong-inheritance" // compaction, model, thinking or system pointer differs from the parent's path
    | "first-kept-off-path"
    | "invalid-payload"
    | "wrong-waypoint" // the short cut from an entry to one far above it is missing or leads elsewhere
    | "leaf-off-session"
    | "wrong-count" // entry_count and its like differ from the entries
    | "search-index"; // an entry is missing in the search index
  readonly sessionId: SessionId | null;
  readonly entryId: EntryId | null;
  /** One line for a person. */
  readonly message: string;
}
