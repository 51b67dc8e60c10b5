import { setImmediate as pause } from "node:timers/promises";
import { CALLBACK, checkArgument, FILE, FLAG, NUMBER, nullable, optional, SIGNAL, TEXT } from "../arguments/rules.js";
import { FILTER, FORK, ID, NEW_SESSION, OPEN, SEARCH, TITLE_SOURCE } from "../arguments/shapes.js";
import { BoughError } from "../errors/bough-error.js";
import { AmbiguousNameError, LeafNotFoundError, SessionNotFoundError } from "../errors/session-errors.js";
import { StoreBusyError, StoreFullError } from "../errors/store-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import {
  MAIN_LEAF,
  type NewSession,
  type Page,
  type SessionFilter,
  type SessionRecord,
  type SessionRow,
  type Statistics,
} from "../port/records.js";
import type { SearchPage, SearchRequest, SessionStorage, Violation } from "../port/session-storage.js";
import type { SessionHost } from "../session/leaf-writer.js";
import { Session } from "../session/session.js";
import { shorten } from "../text/cut.js";

/** How many entries may wait for the search index before they are put into it in a pause of the event loop. */
const INDEX_AFTER = 200;

/** What a fork may say of itself. */
export interface ForkOptions {
  /** The last entry that is copied; default: the leaf. */
  readonly at?: EntryId | undefined;
  /** Default: the title of the session it is forked from. */
  readonly title?: string | undefined;
  readonly id?: SessionId | undefined;
  readonly cwd?: string | undefined;
}

/** Which leaf a handle works on. */
export interface OpenSessionOptions {
  /** Default `main`. A name that the session does not have yet is a new leaf, standing where `main` stands. */
  readonly leaf?: string | undefined;
}

/**
 * Sessions in one place. Any number of processes may use one store at once.
 *
 * Open one with `openStore`, and `close` it at the end; what was acknowledged is on disk in any case.
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
  #unindexed = 0;
  #indexing = false;
  /** What stopped the indexing between two appends, until a search reports it. */
  #indexFailure: { readonly error: unknown } | undefined;
  #closed = false;

  /** Stores come from `openStore`; another storage engine is put under one here. */
  constructor(storage: SessionStorage) {
    this.#storage = storage;
    this.#host = {
      storage,
      accepted: this.#accepted,
      onAppended: (count) => this.#countUnindexed(count),
      search: (request) => this.search(request),
    };
  }

  /** A new session with a leaf `main` before its first entry. @throws {SessionExistsError} the id that was given is taken. */
  async createSession(session: NewSession = {}): Promise<Session> {
    checkArgument("session", session, NEW_SESSION);
    return this.whileOpen(async () => {
      const { id } = await this.#storage.createSession(session);
      return this.openSession(id);
    });
  }

  /** A handle on a session. Opening writes nothing, unless it names a new leaf. @throws {SessionNotFoundError} */
  async openSession(id: SessionId, options: OpenSessionOptions = {}): Promise<Session> {
    checkArgument("id", id, ID);
    checkArgument("options", options, OPEN);
    const { leaf = MAIN_LEAF } = options;
    return this.whileOpen(async () => {
      const row = await this.#storage.sessionRow(id);
      const main = await this.#storage.leaf(row, MAIN_LEAF);
      const view = leaf === MAIN_LEAF ? main : await this.#leafOrNew(row, leaf, main);
      return new Session(this.#host, row, leaf, view);
    });
  }

  async #leafOrNew(row: SessionRow, name: string, main: Awaited<ReturnType<SessionStorage["leaf"]>>) {
    try {
      return await this.#storage.leaf(row, name);
    } catch (error) {
      if (!(error instanceof LeafNotFoundError)) throw error;
      return this.#storage.leaf(row, name, main);
    }
  }

  /** Takes a named leaf away; its entries stay in the tree. @throws {LeafNotFoundError | MainLeafError} */
  async deleteLeaf(id: SessionId, name: string): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("name", name, TEXT);
    await this.whileOpen(() => this.#storage.deleteLeaf(id, name));
  }

  /** What is known of a session, or undefined. */
  async findSession(id: SessionId): Promise<SessionRecord | undefined> {
    checkArgument("id", id, ID);
    return this.#storage.findSession(id);
  }

  /**
   * The session a person means by an id, a unique id prefix or a title (whole, beginning or part, in this order).
   * A conversation comes before subagents' sessions.
   *
   * @throws {AmbiguousNameError} with the candidates.
   * @throws {SessionNotFoundError}
   */
  async resolveSession(name: string): Promise<SessionRecord> {
    checkArgument("name", name, TEXT);
    const found = await this.#storage.sessionsNamed(name, AmbiguousNameError.COUNTED);
    const [first, second] = found;
    if (first === undefined) throw new SessionNotFoundError(name);
    // A subagent's id begins with that of its conversation, which is the one that is meant (regression R169).
    if (first.kind === "conversation" && second?.kind === "subagent") return first;
    if (found.length > 1)
      throw new AmbiguousNameError(
        name,
        found.map(({ id, title, firstText }) => describeCandidate(id, title ?? firstText)),
      );
    return first;
  }

  /** Sessions, newest activity first, a page at a time. Reads no entry. */
  async listSessions(filter: SessionFilter = {}): Promise<Page<SessionRecord>> {
    checkArgument("filter", filter, FILTER);
    return this.#storage.listSessions(filter);
  }

  /** Gives a session a title; null takes it away. `auto`: a title that a program made up never replaces a person's. */
  async renameSession(id: SessionId, title: string | null, source: "user" | "auto" = "user"): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("title", title, nullable(TEXT));
    checkArgument("source", source, TITLE_SOURCE);
    await this.whileOpen(() => this.#storage.renameSession(id, title, source));
  }

  /** Puts a session away from lists, or back. */
  async archiveSession(id: SessionId, archived = true): Promise<void> {
    checkArgument("id", id, ID);
    checkArgument("archived", archived, FLAG);
    await this.whileOpen(() => this.#storage.archiveSession(id, archived));
  }

  /** Takes a session and everything about it away for good, also from free pages and the journal. Forks of it stay. */
  async deleteSession(id: SessionId): Promise<void> {
    checkArgument("id", id, ID);
    await this.whileOpen(() => this.#storage.deleteSession(id));
  }

  /** Copies a path into a new session that points back to where it came from. */
  async forkSession(id: SessionId, options: ForkOptions = {}): Promise<Session> {
    checkArgument("options", options, FORK);
    const { at: asked, ...into } = options;
    return this.whileOpen(async () => {
      const source = await this.openSession(id);
      const at = asked === undefined ? source.leafId : asked;
      if (at === null) return this.#forkedAtStart(source, into);
      const forked = await this.#storage.forkSession(id, at, into);
      return this.openSession(forked.id);
    });
  }

  async #forkedAtStart(source: Session, into: Omit<ForkOptions, "at">): Promise<Session> {
    const { title, titleSource, cwd } = await source.record();
    return this.createSession({
      id: into.id,
      title: into.title ?? title ?? undefined,
      titleSource: into.title === undefined ? (titleSource ?? undefined) : "user",
      cwd: into.cwd ?? cwd ?? undefined,
      parent: { sessionId: source.id, entryId: null, toolCallId: null },
    });
  }

  /**
   * Entries and titles that fit. The search index catches up first; where another process holds the lock or the disk is full,
   * the entries that it lacks are looked through one by one: complete, and without waiting. @throws {InvalidQueryError}
   */
  async search(request: SearchRequest): Promise<SearchPage> {
    checkArgument("request", request, SEARCH);
    return this.whileOpen(async () => {
      const failure = this.#indexFailure;
      this.#indexFailure = undefined;
      if (failure !== undefined) throw failure.error;
      try {
        await this.#index(Number.POSITIVE_INFINITY, "throw");
      } catch (error) {
        if (!(error instanceof StoreBusyError || error instanceof StoreFullError)) throw error;
      }
      return this.#storage.search(request);
    });
  }

  /**
   * Brings the search index up to date by at most `limit` entries, with a pause of the event loop after about every 20 ms;
   * returns at most how many are still missing, 0 only when none is.
   */
  async catchUpSearch(limit = Number.POSITIVE_INFINITY): Promise<number> {
    checkArgument("limit", limit, NUMBER);
    return this.whileOpen(() => this.#index(limit, "wait"));
  }

  async #index(limit: number, whenLocked: "wait" | "throw"): Promise<number> {
    const before = await this.#storage.catchUpSearch(0, whenLocked);
    let left = before;
    while (left > 0 && before - left < limit) {
      const now = await this.#storage.catchUpSearch(limit - (before - left), whenLocked);
      // A store that can only be read makes no progress.
      if (now >= left) return now;
      left = now;
      if (left > 0) await pause();
    }
    return left;
  }

  /** Entries by type, size and usage by model, over all sessions. */
  async statistics(): Promise<Statistics> {
    return this.#storage.statistics();
  }

  /** Everything that does not hold in the store, or in one session. Reads all of it. */
  async *verify(id?: SessionId): AsyncIterable<Violation> {
    checkArgument("id", id, optional(ID));
    yield* this.#storage.verify(id);
  }

  /**
   * Copies the store into a new file while it is in use. The file is the user's alone, and has its name only when it is
   * whole. `onProgress` is told pages of 4 KiB; after `signal` the copy is removed and the reason of the signal thrown.
   *
   * @throws {TargetExistsError} something is at `path`, also where it appeared while the copy was made.
   * @throws {StoreUnavailableError | StoreFullError} the copy could not be written.
   */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void, signal?: AbortSignal): Promise<void> {
    checkArgument("path", path, FILE);
    checkArgument("onProgress", onProgress, optional(CALLBACK));
    checkArgument("signal", signal, optional(SIGNAL));
    await this.#storage.backup(path, onProgress, signal);
  }

  /** The engine underneath, for imports and for whoever builds on the port. */
  get storage(): SessionStorage {
    return this.#storage;
  }

  /** Runs work of several steps on this store; `close` waits for its end. The work itself must not close the store. */
  async whileOpen<T>(work: () => Promise<T>): Promise<T> {
    checkArgument("work", work, CALLBACK);
    // Also work that answers at once is waited for.
    const running = Promise.resolve(work());
    const settle = (): void => void this.#accepted.delete(running);
    this.#accepted.add(running);
    running.then(settle, settle);
    return running;
  }

  /** Waits for every write, search and import that was asked for, then closes. Handles throw afterwards. Never throws for a failed write. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#accepted);
    await this.#storage.close();
  }

  #countUnindexed(count: number): void {
    this.#unindexed += count;
    if (this.#unindexed < INDEX_AFTER || this.#indexing) return;
    this.#indexing = true;
    // In a pause of the event loop: an append never pays for FTS5's merges.
    setImmediate(() => void this.#indexSome());
  }

  async #indexSome(): Promise<void> {
    try {
      if (!this.#closed) await this.#index(INDEX_AFTER, "throw");
      this.#unindexed = Math.max(0, this.#unindexed - INDEX_AFTER);
    } catch (error) {
      // Another process may hold the lock, or the store may be closed by now; the next search catches up. Nobody waits
      // here for any other error, so the next search reports it.
      if (!(error instanceof BoughError)) this.#indexFailure = { error };
    } finally {
      this.#indexing = false;
    }
  }
}

/** A candidate as an error lists it: ten of them stay readable on one line. */
function describeCandidate(id: SessionId, title: string | null): string {
  if (title === null) return id;
  return `${id} (${shorten(title, 40)})`;
}
