import {
  AMOUNT,
  CALLBACK,
  checkArgument,
  FILE,
  FLAG,
  list,
  NUMBER,
  nullable,
  OBJECT,
  optional,
  options as optionsOf,
  type RulesOf,
  SIGNAL,
  TEXT,
} from "../arguments/rules.js";
import { ID, PATHS } from "../arguments/shapes.js";
import { AmbiguousNameError, SessionNotFoundError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { FILTER, IMPORT, NEW_SESSION, SEARCH, SESSION_IMPORT, SESSIONS, SOURCE, TITLE_SOURCE, WRITES } from "../port/options.js";
import {
  MAIN_LEAF,
  type NewSession,
  type OpenedSession,
  type Page,
  type SessionFilter,
  type SessionRecord,
  type SessionTotals,
  type Statistics,
  type StoredValue,
} from "../port/records.js";
import type { SearchPage, SearchRequest } from "../port/search.js";
import type {
  ImportedSession,
  ImportOptions,
  ImportOutcome,
  SessionImport,
  SessionStorage,
  StoreChange,
  Violation,
} from "../port/session-storage.js";
import type { SourceRecords, SourceSession } from "../port/source.js";
import type { Write } from "../port/writes.js";
import { withoutNamedForks } from "../rules/forks.js";
import { rowLimit } from "../rules/values.js";
import { Session, type SessionHost } from "../session/session.js";
import { shorten } from "../text/one-line.js";
import type { StoredFileTouch } from "../tools/file-operations.js";
import { Maintenance, PACK, type PackedStore, type PackOptions, packStore } from "./maintenance.js";

/** The leaf of a handle. */
export interface OpenSessionOptions {
  /** Default `main`. If the session has no leaf of this name, it is created at the position of `main`. */
  readonly leaf?: string | undefined;
}

/** Options for creating a session: the writes of the transaction that creates it. */
export interface CreateSessionOptions {
  /** Entries, labels and values of the new session, written at its leaf `main`. A session that exists already does not get them. */
  readonly writes?: readonly Write[] | undefined;
}

/** Options for forking a session: the part that is copied, and the record of the fork. */
export interface ForkOptions extends CreateSessionOptions {
  /** The last entry of the path that is copied; with `tree`, the position of the leaf `main` of the fork. Default: the leaf `main`. */
  readonly at?: EntryId | undefined;
  /** Copies all branches with all leaves, not only one path. Default false. */
  readonly tree?: boolean | undefined;
  /** Copies the values of the session. Default: with `tree`. */
  readonly values?: boolean | undefined;
  /** Default: with `tree` that of the source session, otherwise none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Default: that of the session that was forked first, and a number, as in "Tabs in the lexer, fork 2". null: none. */
  readonly title?: string | null | undefined;
  readonly id?: SessionId | undefined;
  readonly cwd?: string | undefined;
}

const OPEN = optionsOf({ leaf: optional(TEXT) } satisfies RulesOf<OpenSessionOptions>);
const CREATE = optionsOf({ writes: optional(WRITES) } satisfies RulesOf<CreateSessionOptions>);
const OPEN_OR_CREATE = optionsOf({ leaf: optional(TEXT), writes: optional(WRITES) } satisfies RulesOf<
  OpenSessionOptions & CreateSessionOptions
>);
const FORK = optionsOf({
  at: optional(ID),
  title: optional(nullable(TEXT)),
  id: optional(ID),
  cwd: optional(TEXT),
  tree: optional(FLAG),
  values: optional(FLAG),
  metadata: optional(OBJECT),
  writes: optional(WRITES),
} satisfies RulesOf<ForkOptions>);

/**
 * Resolves what a person typed to a session; see `Store.resolveSession`. `mask` takes secrets out of the titles in the error.
 *
 * @throws {AmbiguousNameError | SessionNotFoundError}
 */
async function resolveSession(
  storage: SessionStorage,
  name: string,
  mask: (title: string, id: SessionId) => Promise<string> = async (title) => title,
): Promise<SessionRecord> {
  const found = withoutNamedForks(await storage.sessionsNamed(name, AmbiguousNameError.COUNTED));
  const [first, second] = found;
  if (first === undefined) throw new SessionNotFoundError(name);
  // The id of a subagent's session starts with that of its conversation, so a prefix of both means the conversation.
  if (first.kind === "conversation" && second?.kind === "subagent") return first;
  if (found.length === 1) return first;
  const described: string[] = [];
  for (const [at, { id, title, firstText }] of found.entries()) {
    const text = title ?? firstText;
    // The error names the first ones; of the others only the number.
    described.push(at >= AmbiguousNameError.NAMED || text === null ? id : describeCandidate(id, await mask(text, id)));
  }
  throw new AmbiguousNameError(name, described);
}

/** Describes a candidate for `AmbiguousNameError`, short enough for ten on one line. */
function describeCandidate(id: SessionId, title: string): string {
  return `${id} (${shorten(title, 40)})`;
}

/**
 * A store of sessions. Several processes can use one store at the same time.
 *
 * Open it with `openStore` and `close` it at the end. Writes are on disk when their promises resolve, not only after `close`.
 *
 * @example
 * const store = await openStore({ path: "sessions.db" });
 * const session = await store.createSession({ cwd: "/home/me/project" });
 * await session.append(userMessage("Hello"));
 * await store.close();
 */
export class Store {
  readonly #storage: SessionStorage;
  readonly #accepted = new Set<Promise<unknown>>();
  readonly #host: SessionHost;
  readonly #maintenance: Maintenance;

  /** @internal Use `openStore`. The constructor takes any storage engine. */
  constructor(storage: SessionStorage) {
    this.#storage = storage;
    this.#maintenance = new Maintenance(storage);
    this.#host = {
      storage,
      accepted: this.#accepted,
      maintenance: this.#maintenance,
      search: (request) => this.search(request),
    };
  }

  /** Creates a session, empty or with the entries and values of `writes`, in one transaction. @throws {SessionExistsError} the id exists. */
  async createSession(session: NewSession = {}, options: CreateSessionOptions = {}): Promise<Session> {
    checkArgument("session", session, NEW_SESSION);
    checkArgument("options", options, CREATE);
    return this.whileOpen(async () => {
      const { id, entryCount } = await this.#storage.createSession(session, options.writes);
      if (entryCount > 0) this.#maintenance.countAppended(entryCount);
      return this.openSession(id);
    });
  }

  /**
   * Returns a handle on a session, and creates the session if there is none. Of several callers at once, in one process or in several,
   * one creates it and all get the same session. One that exists is opened as it is: `session` and `writes` are ignored, whatever its
   * title, metadata or kind; read them with `record()`.
   * @throws {InvalidEntryError} the session has to be created, and the id or a property is not valid.
   * @example
   * const session = await store.openOrCreateSession("thread-1", { metadata: { owner: "u7" } });
   */
  async openOrCreateSession(
    id: SessionId,
    session: Omit<NewSession, "id"> = {},
    options: OpenSessionOptions & CreateSessionOptions = {},
  ): Promise<Session> {
    checkArgument("id", id, ID);
    checkArgument("session", session, NEW_SESSION);
    checkArgument("options", options, OPEN_OR_CREATE);
    const { leaf = MAIN_LEAF, writes = [] } = options;
    return this.whileOpen(async () => this.#handle(leaf, await this.#storage.openSession(id, leaf, { session, writes })));
  }

  /** Returns a handle on a session. Writes only if the leaf has to be created. @throws {SessionNotFoundError} */
  async openSession(id: SessionId, options: OpenSessionOptions = {}): Promise<Session> {
    checkArgument("id", id, ID);
    checkArgument("options", options, OPEN);
    const { leaf = MAIN_LEAF } = options;
    return this.whileOpen(async () => this.#handle(leaf, await this.#storage.openSession(id, leaf)));
  }

  #handle(leafName: string, { row, leaf }: OpenedSession): Session {
    return new Session(this.#host, row, leafName, leaf);
  }

  /** Deletes a leaf; its entries stay in the tree. @throws {LeafNotFoundError | MainLeafError} */
  async deleteLeaf(id: SessionId, name: string): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("name", name, TEXT);
    await this.whileOpen(() => this.#storage.deleteLeaf(id, name));
  }

  /** Returns the record of a session, or undefined. */
  async findSession(id: SessionId): Promise<SessionRecord | undefined> {
    checkArgument("id", id, ID);
    return this.#storage.findSession(id);
  }

  /** For each id of a session its shortest prefix of at least four characters that names it alone. Cost: two searches of an index. */
  async shortIds(ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>> {
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.#storage.shortSessionIds([...ids]);
  }

  /**
   * Finds a session by what a person typed: an id, a unique id prefix, or a title (equal, prefix, part, or the beginnings of its words,
   * in this order). A fork never hides the session that it was forked from: where both match by the title of the first, that one is meant.
   * `mask` takes secrets out of the titles that the error names; default: they are named as they are.
   *
   * @throws {AmbiguousNameError} with the candidates.
   * @throws {SessionNotFoundError}
   */
  async resolveSession(name: string, mask?: (title: string, id: SessionId) => Promise<string>): Promise<SessionRecord> {
    checkArgument("name", name, TEXT);
    checkArgument("mask", mask, optional(CALLBACK));
    return resolveSession(this.#storage, name, mask);
  }

  /**
   * Finds at most `limit` sessions by what a person typed, as `resolveSession` does: those of the first kind of match that there is
   * (id, id prefix, title, title prefix, part of a title), conversations first.
   */
  async findSessions(name: string, limit: number): Promise<readonly SessionRecord[]> {
    checkArgument("name", name, TEXT);
    checkArgument("limit", limit, AMOUNT);
    return this.#storage.sessionsNamed(name, rowLimit(limit));
  }

  /** Returns a page of sessions, newest activity first. Reads no entries. */
  async listSessions(filter: SessionFilter = {}): Promise<Page<SessionRecord>> {
    checkArgument("filter", filter, FILTER);
    return this.#storage.listSessions(filter);
  }

  /**
   * Returns the value of one key of many sessions, by id: of the given ids, in their order, or of the sessions that a filter lists.
   * Sessions without a value are missing.
   *
   * @example
   * const mine = await store.listSessions({ metadata: { owner: "u7" }, limit: 20 });
   * const summaries = await store.valuesOf("summary", mine.items.map(({ id }) => id));
   */
  async valuesOf(key: string, of: readonly SessionId[] | SessionFilter = {}): Promise<ReadonlyMap<SessionId, StoredValue>> {
    checkArgument("key", key, TEXT);
    checkArgument("of", of, SESSIONS);
    const ids = Symbol.iterator in of ? of : (await this.#storage.listSessions(of)).items.map(({ id }) => id);
    return this.#storage.valuesOf(key, [...ids]);
  }

  /** Returns branches and usage of sessions, by id; unknown ids have none. Cost: three look-ups for each. */
  async totalsOf(ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, SessionTotals>> {
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.#storage.totalsOf([...ids]);
  }

  /**
   * Sets the title of a session; null removes it. A title with source `auto` replaces none with
   * source `user`, and an import replaces it by the title that the program of the session has made.
   */
  async renameSession(id: SessionId, title: string | null, source: "user" | "auto" = "user"): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("title", title, nullable(TEXT));
    checkArgument("source", source, TITLE_SOURCE);
    await this.whileOpen(() => this.#storage.renameSession(id, title, source));
  }

  /** Archives or unarchives a session. Archived sessions are hidden from listings by default. */
  async archiveSession(id: SessionId, archived = true): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("archived", archived, FLAG);
    await this.whileOpen(() => this.#storage.archiveSession(id, archived));
  }

  /** Deletes a session permanently. Freed pages are overwritten (`secure_delete`) and the WAL is truncated. Forks are kept. */
  async deleteSession(id: SessionId): Promise<void> {
    checkArgument("id", id, ID);
    await this.whileOpen(() => this.#storage.deleteSession(id));
  }

  /**
   * Copies a path, or with `tree` all branches, into a new session, whose `parent` is the source session and entry. Entries keep their
   * ids, times and labels; what a person can undo is not copied. `writes` follow at the leaf `main` of the fork, in the same transaction.
   * The usage of copied replies counts as inherited. Cost: of a path its entries one by one; of a tree about 30 ms for 1,000 entries.
   * @throws {SessionNotFoundError | EntryNotFoundError | SessionExistsError}
   * @example
   * const attempt = await store.forkSession(session.id, { tree: true, title: "Second attempt" });
   */
  async forkSession(id: SessionId, options: ForkOptions = {}): Promise<Session> {
    checkArgument("id", id, ID);
    checkArgument("options", options, FORK);
    const { at, tree = false, values = tree, writes, ...into } = options;
    return this.whileOpen(async () => {
      const forked = await this.#storage.forkSession(id, { at, tree, values, into }, writes);
      this.#maintenance.countAppended(forked.entryCount);
      return this.openSession(forked.id);
    });
  }

  /**
   * Changes the metadata of a session: sets the members of `patch`, removes those that are undefined, and keeps the others. Two changes
   * at once both count. Lists find sessions by top-level members that are texts, numbers, booleans or null.
   * @throws {SessionNotFoundError | UnserializableValueError}
   * @example
   * await store.setMetadata(session.id, { owner: "u7", draft: undefined });
   */
  async setMetadata(id: SessionId, patch: Readonly<Record<string, unknown>>): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("patch", patch, OBJECT);
    await this.whileOpen(() => this.#storage.setMetadata(id, patch));
  }

  /**
   * Searches entries and titles. Entries that are not indexed yet are scanned, about 200 MB a second, so the result is complete
   * at once; the search index catches up in the background. @throws {InvalidQueryError}
   */
  async search(request: SearchRequest): Promise<SearchPage> {
    checkArgument("request", request, SEARCH);
    return this.whileOpen(() => this.#maintenance.search(request));
  }

  /**
   * Returns the calls of all sessions that name one of these paths, each as a call wrote it: `/home/me/p/src/a.ts` does not find
   * `src/a.ts`, which resolves against `cwd`. Oldest first, reads and failed calls included. Cost: a pass over the paths of all calls.
   * @example
   * const touches = await store.fileTouches(["/home/me/p/src/a.ts", "src/a.ts"]);
   */
  async fileTouches(paths: readonly string[]): Promise<readonly StoredFileTouch[]> {
    checkArgument("paths", paths, PATHS);
    return this.whileOpen(() => this.#storage.fileTouches(paths));
  }

  /** Adds at most `limit` entries to the search index, in batches of about 20 ms. Returns an upper bound of the number left; 0: none. */
  async catchUpSearch(limit = Number.POSITIVE_INFINITY): Promise<number> {
    checkArgument("limit", limit, NUMBER);
    return this.whileOpen(() => this.#maintenance.catchUp(limit));
  }

  /** Returns entries by type, size and usage by model, over all sessions. */
  async statistics(): Promise<Statistics> {
    return this.#storage.statistics();
  }

  /** Iterates over the integrity violations in the store, or in one session. Reads all of it. */
  async *verify(id?: SessionId): AsyncIterable<Violation> {
    checkArgument("id", id, optional(ID));
    yield* this.#storage.verify(id);
  }

  /**
   * Packs every payload into compressed blocks, one short transaction for each, and returns the free pages of the file to the file
   * system. Other processes can use the store meanwhile; at the end, if many pages are free, the file is rewritten, some 200 MB a
   * second, which blocks the thread and lets other writes wait. Old entries are packed in the background anyway.
   * @throws {StoreReadOnlyError | StoreBusyError | StoreFullError} what was packed before stays packed.
   */
  async pack(options: PackOptions = {}): Promise<PackedStore> {
    checkArgument("options", options, PACK);
    return this.whileOpen(() => packStore(this.#storage.packing, options));
  }

  /**
   * Copies the store into a new file, also while it is in use. The file has mode 0600 and gets its name when the copy is
   * complete. `onProgress` gets numbers of pages; an abort removes the copy and throws `signal.reason`. A server makes its own backups.
   * better-sqlite3 waits with the global `setImmediate`: a test with fake timers has to leave that one real.
   * @throws {TargetExistsError | StoreUnavailableError | StoreDeniedError | StoreFullError} `path` exists, or the copy could not be written.
   * @throws {UnsupportedOperationError} the store is on a server.
   */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void, signal?: AbortSignal): Promise<void> {
    checkArgument("path", path, FILE);
    checkArgument("onProgress", onProgress, optional(CALLBACK));
    checkArgument("signal", signal, optional(SIGNAL));
    await this.#storage.backup(path, onProgress, signal);
  }

  /**
   * Calls `listener` after another process, or another open store of this one, has written; not after writes of this store. Several
   * writes may be one call. `sessionIds` is null for a file store, which is polled every 500 ms and cannot say what changed; a server
   * notifies within about 50 ms. The listener must not throw. Returns a function that ends the calls; `close` ends them too.
   * @example
   * const end = store.onChange(({ sessionIds }) => console.log(sessionIds ?? "anything"));
   */
  onChange(listener: (change: StoreChange) => void): () => void {
    checkArgument("listener", listener, CALLBACK);
    return this.#storage.onChange(listener);
  }

  /**
   * Imports a session of another program, in one transaction: all its records or none. Entries that the store has already are left as
   * they are, so importing again adds only what is new. A reader of a format needs nothing else of a store.
   *
   * If the session with the id of the source has other entries, the source becomes another session, whose id is derived from the first
   * difference. Cost: linear in the records; a few hundred are held in memory, on a server all of them.
   *
   * @throws {InvalidEntryError | TooLargeError} the header is not valid, or the store cannot hold the session. An invalid record is no
   * error: it becomes a `foreign` entry, and a problem of the result.
   * @example
   * const records = [{ kind: "entry", line: 1, id: "e1", parentId: null, createdAtMs: 0, payload: userMessage("Hello") }];
   * const source = { header: { sessionId: "s1", kind: "conversation" }, records: () => records };
   * const { entriesAdded } = await store.importSession(source, { format: "my-agent", path: "/logs/s1.jsonl" });
   */
  async importSession(source: SourceSession, options: ImportOptions): Promise<ImportedSession> {
    checkArgument("source", source, SOURCE);
    checkArgument("options", options, IMPORT);
    return this.whileOpen(async () => {
      const imported = await this.#storage.importSession(source, options);
      this.#maintenance.countImported(imported.entriesAdded);
      return imported;
    });
  }

  /**
   * Imports sessions as `importSession` does, in order and in one transaction where the store is a file: small sessions take half the time.
   * Each is all or nothing by itself: of one that fails nothing is written, its outcome is its error, and the others are imported. On a
   * server each is a transaction. Cost: as of each; a file is locked meanwhile, so give at most some megabytes at once.
   *
   * @throws {StoreFullError | StoreUnavailableError} the transaction failed: nothing of a file store was written.
   * @example
   * const records = [{ kind: "entry", line: 1, id: "e1", parentId: null, createdAtMs: 0, payload: userMessage("Hello") }];
   * const source = { header: { sessionId: "s1", kind: "conversation" }, records: () => records };
   * const outcomes = await store.importSessions([{ source, options: { format: "my-agent", path: "/logs/all.jsonl" } }]);
   * for (const outcome of outcomes) if (outcome.status === "rejected") console.error(outcome.reason);
   */
  async importSessions(imports: readonly SessionImport[]): Promise<readonly ImportOutcome[]> {
    checkArgument("imports", imports, list(SESSION_IMPORT, "an array of objects with source and options"));
    return this.whileOpen(async () => {
      const outcomes = await this.#storage.importSessions(imports);
      for (const outcome of outcomes) if (outcome.status === "fulfilled") this.#maintenance.countImported(outcome.value.entriesAdded);
      return outcomes;
    });
  }

  /** The store's records of the files of other programs, for a sync: which were read, how far, and which are gone. */
  get sources(): SourceRecords {
    return this.#storage;
  }

  /** @internal For copies, whose entries are indexed and packed in the background as those of appends. */
  get maintenance(): Maintenance {
    return this.#maintenance;
  }

  /** @internal The storage engine, for code on the port. */
  get storage(): SessionStorage {
    return this.#storage;
  }

  /** Runs `work`; `close` waits until it has finished. `work` must not close the store. */
  async whileOpen<T>(work: () => Promise<T>): Promise<T> {
    checkArgument("work", work, CALLBACK);
    const running = Promise.resolve(work()).finally(() => this.#accepted.delete(running));
    this.#accepted.add(running);
    return running;
  }

  /**
   * Waits for all running writes, searches and imports, then closes the store. A handle that has appended, or found many entries
   * without an index, first indexes and packs for at most 150 ms. Handles throw afterwards. Does not throw errors of those writes.
   */
  async close(): Promise<void> {
    await this.#maintenance.stop();
    await Promise.allSettled(this.#accepted);
    try {
      await this.#maintenance.finish();
    } finally {
      await this.#storage.close();
    }
  }

  /** `close` at the end of a block: `await using store = await openStore({ path })`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The storage engine below a store: for the tests of an engine, which are the same for each. */
export function storageOf(store: Store): SessionStorage {
  return store.storage;
}
