import {
  CALLBACK,
  checkArgument,
  list,
  NUMBER,
  nullable,
  OBJECT,
  oneOf,
  optional,
  options as optionsOf,
  type RulesOf,
  TEXT,
  withMethods,
} from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import { SerialQueue } from "../async/promises.js";
import type { SessionContext } from "../context/context.js";
import type { Entry, EntryInput } from "../entry/entry.js";
import { isList } from "../entry/json.js";
import { InvalidArgumentError } from "../errors/bough-error.js";
import { LeafMovedError, SessionNotFoundError } from "../errors/session-errors.js";
import { type EntryId, newEntryId, type SessionId } from "../ids/ids.js";
import { LISTING, RANGE, SCAN, SEARCH, WALK, WRITES } from "../port/options.js";
import type {
  EntryListing,
  LeafMove,
  LeafRecord,
  LeafState,
  Page,
  PathScan,
  SessionRecord,
  SessionRow,
  Statistics,
} from "../port/records.js";
import type { SearchPage, SearchRequest } from "../port/search.js";
import type { PathRange, SessionStorage } from "../port/session-storage.js";
import { type BatchResult, copyPatch, copyWrites, type OnConflict, type Write } from "../port/writes.js";
import type { FileOperation } from "../tools/file-operations.js";
import { CONTEXT, type ContextOptions, ContextReader, type ContextSettings } from "./context-reader.js";
import { resolveEntry } from "./entry-names.js";
import { SessionLabels, SessionTokenCounts, SessionTree, SessionValues } from "./session-groups.js";

/** The default size of a page, in entries. */
const PAGE = 1000;

/**
 * A handle on one session, bound to one of its leaves. Several handles, in one process or in several, can use one session: each
 * keeps the leaf position that it last read, and an append detects that another writer has moved the leaf.
 *
 * Writes of a handle run in the order in which they are called, even if they are not awaited. Reads never write and never wait
 * for a writer.
 *
 * @example
 * const session = await store.createSession({ title: "Fix the parser" });
 * await session.append(userMessage("Why does the parser fail on tabs?"));
 * const { messages } = await session.context();
 */
export class Session {
  /** The leaf of this handle; `main` by default. */
  readonly leafName: string;
  /** Labels of entries. */
  readonly labels: SessionLabels;
  /** Values of the host, by key. */
  readonly values: SessionValues;
  /** Cached token counts of entries. */
  readonly tokenCounts: SessionTokenCounts;
  /** The structure of all branches. */
  readonly tree: SessionTree;
  readonly #host: SessionHost;
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: LeafWriter;
  readonly #context: ContextReader;

  /** @internal Use `Store.createSession` or `Store.openSession`. */
  constructor(host: SessionHost, row: SessionRow, leafName: string, leaf: LeafState) {
    this.#host = host;
    this.#storage = host.storage;
    this.#row = row;
    this.#writer = new LeafWriter(host, row, leafName, leaf);
    this.#context = new ContextReader(host.storage, row, leafName);
    this.leafName = leafName;
    this.labels = new SessionLabels(host.storage, row, this.#writer);
    this.values = new SessionValues(host.storage, row, this.#writer);
    this.tokenCounts = new SessionTokenCounts(host.storage, row, this.#writer);
    this.tree = new SessionTree(host.storage, row);
  }

  get id(): SessionId {
    return this.#row.id;
  }

  /** The leaf position that this handle last read; null: before the first entry. */
  get leafId(): EntryId | null {
    return this.#writer.leafId;
  }

  /** Reads the current position of the leaf in the store, and returns it. */
  async refresh(): Promise<EntryId | null> {
    await this.#writer.updateLeaf((storage, row, leafName) => storage.leaf(row, leafName));
    return this.leafId;
  }

  /** Returns title, counts and times of the session. @throws {SessionNotFoundError} it was deleted. */
  async record(): Promise<SessionRecord> {
    const record = await this.#storage.findSession(this.#row);
    if (record === undefined) throw new SessionNotFoundError(this.id);
    return record;
  }

  /** Changes the metadata of the session; see `Store.setMetadata`. */
  async setMetadata(patch: Readonly<Record<string, unknown>>): Promise<void> {
    checkArgument("patch", patch, OBJECT);
    const copy = copyPatch(patch);
    await this.#writer.run(() => this.#storage.setMetadata(this.#row, copy));
  }

  /** Returns entries by type, size, and the usage of the session's models. */
  async statistics(): Promise<Statistics> {
    return this.#storage.statistics(this.#row);
  }

  /**
   * Appends an entry below the leaf and moves the leaf to it; with `parentId`, below that entry, without moving the leaf. Of a list each is
   * appended below the one before it, all in one transaction; the last one is returned. When the promise resolves the entry is on disk; with
   * durability `full`, the default, it survives a power loss.
   *
   * An append with the `id` and content of an existing entry (and its parent, if `parentId` is given) writes nothing, so that it can
   * be repeated.
   *
   * @throws {InvalidEntryError | UnserializableValueError} naming the field.
   * @throws {InvalidArgumentError} the list is empty.
   * @throws {LeafMovedError} another writer moved the leaf, and `onConflict` is `error`.
   * @throws {EntryConflictError} the id belongs to other content, or to an entry below another parent.
   * @throws {EntryNotFoundError} `parentId` is no entry of this session.
   * @throws {InvalidReferenceError} the entry refers to an entry that is not on its path or not in its session.
   * @throws {StoreBusyError | StoreFullError | StoreReadOnlyError | SessionNotFoundError} nothing was written.
   */
  async append(entry: EntryInput | readonly EntryInput[], options: AppendOptions = {}): Promise<AppendedEntry> {
    checkArgument("options", options, APPEND);
    const { entries } = await this.#writer.commit(toWrites(isList(entry) ? entry : [entry], options.parentId), options);
    // A batch of entries returns them, or the storage has thrown.
    return entries.at(-1) as AppendedEntry;
  }

  /**
   * Writes entries, labels, values and leaf moves in one transaction: all of them or, after any error, none. Each entry is
   * appended below the one before it; after a `moveLeaf`, below the new leaf; with a `parentId`, below that entry, without a leaf.
   *
   * @example
   * await session.write([
   *   { kind: "entry", entry: { ...userMessage("Try it with a lexer"), id: "try-lexer" } },
   *   { kind: "label", entryId: "try-lexer", label: "lexer" },
   * ]);
   */
  async write(writes: readonly Write[], options: WriteOptions = {}): Promise<readonly AppendedEntry[]> {
    checkArgument("writes", writes, WRITES);
    checkArgument("options", options, WRITE);
    return (await this.#writer.commit(writes, options)).entries;
  }

  /** Moves the leaf to an entry, so that the next append starts a branch there; null: before the first entry. Can be undone. */
  async moveLeaf(to: EntryId | null): Promise<void> {
    checkArgument("to", to, nullable(ID));
    await this.#writer.commit([{ kind: "moveLeaf", to }]);
  }

  /** Undoes the last move of the leaf; entries appended since stay on their branch. Returns false if there is none. */
  async undoMove(): Promise<boolean> {
    return this.#writer.updateLeaf((storage, row, leafName) => storage.undoMove(row, leafName));
  }

  /** Redoes the last undone move. Returns false if there is none, or the leaf was moved since. */
  async redoMove(): Promise<boolean> {
    return this.#writer.updateLeaf((storage, row, leafName) => storage.redoMove(row, leafName));
  }

  /** Lists the moves of this leaf, newest first, at most `limit` (default 100). */
  async leafMoves(limit = 100): Promise<readonly LeafMove[]> {
    checkArgument("limit", limit, NUMBER);
    return this.#storage.leafMoves(this.#row, this.leafName, limit);
  }

  /** Lists the leaves of the session, `main` among them. */
  async leaves(): Promise<readonly LeafRecord[]> {
    return this.#storage.leaves(this.#row);
  }

  /** Returns an entry. @throws {EntryNotFoundError} */
  async entry(id: EntryId): Promise<Entry> {
    checkArgument("id", id, ID);
    return this.#storage.entry(this.#row, id);
  }

  /** Returns entries by id, in the order of the ids; unknown ids are missing. Cost: one query for 500 ids. */
  async entriesById(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, Entry>> {
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.#storage.entriesById(this.#row, [...ids]);
  }

  /**
   * For each id its shortest prefix of at least four characters that no other entry of the session has, as screens show it; `resolve`
   * finds the entry by it. An entry that is appended later may share it. Cost: two searches of an index for each id.
   *
   * @example
   * (await session.shortIds([entry.id])).get(entry.id); // "k3f9"
   */
  async shortIds(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, string>> {
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.#storage.shortEntryIds(this.#row, [...ids]);
  }

  /**
   * Resolves what a person typed to an entry: an id, a unique id prefix, a label, `@leaf`, `@root`, or `@NAME` for a leaf;
   * `~N` after any of them goes up by N entries, as `bough tree` shows them: tool results and changes of settings are not counted
   * unless they have a label or a leaf, and replies in a row that only call tools count once. Such a row is named by its last reply.
   * Cost of `~N`: the labels, leaves and branch points of the session, and the path in between.
   *
   * @throws {AmbiguousNameError | EntryNotFoundError}
   * @example
   * await session.resolve("@leaf"); // the whole id; "~1" is the row before it
   */
  async resolve(name: string): Promise<EntryId> {
    checkArgument("name", name, TEXT);
    return resolveEntry({ storage: this.#storage, session: this.#row, leafId: this.leafId }, name);
  }

  /** Returns all entries from the first one down to `leafId` (default: the leaf of this handle). See `walk` for long paths. */
  async path(leafId: EntryId | null = this.leafId): Promise<readonly Entry[]> {
    checkArgument("leafId", leafId, nullable(ID));
    return (await this.#storage.scanPath(this.#row, { leafId, order: "down" })).items;
  }

  /** Returns a page of a path, in either order, with filters. A page down costs a walk of the whole path; see `walk`. */
  async scan(scan: PathScan = {}): Promise<Page<Entry>> {
    checkArgument("scan", scan, SCAN);
    return this.#storage.scanPath(this.#row, { ...scan, leafId: scan.leafId === undefined ? this.leafId : scan.leafId });
  }

  /**
   * Iterates over the entries from the first one down to `leafId` (default: the leaf of this handle); with `stopAt`, over those
   * below it. Memory: one page of entries, and a number for each entry.
   */
  async *walk(scan: Pick<PathScan, "leafId" | "stopAt"> = {}): AsyncGenerator<Entry, void, void> {
    checkArgument("scan", scan, WALK);
    const leafId = scan.leafId === undefined ? this.leafId : scan.leafId;
    const seqs = await this.#storage.pathSeqs(this.#row, leafId, scan.stopAt);
    for (let at = 0; at < seqs.length; at += PAGE) yield* await this.#storage.entriesAt(this.#row, seqs.slice(at, at + PAGE));
  }

  /** Iterates over the entries of all branches in order of arrival. */
  async *entries(): AsyncGenerator<Entry, void, void> {
    for (let page = await this.entriesSince(0); page.length > 0; page = await this.entriesSince(page.at(-1)?.seq ?? 0)) yield* page;
  }

  /** Calls `listener` after another process, or another open store, has written to this session; see `Store.onChange`. */
  onChange(listener: () => void): () => void {
    checkArgument("listener", listener, CALLBACK);
    return this.#storage.onChange(({ sessionIds }) => {
      if (sessionIds === null || sessionIds.includes(this.id)) listener();
    });
  }

  /** Returns the entries of all branches that arrived after `seq`, oldest first, at most `limit` (default 1,000). */
  async entriesSince(seq: number, limit = PAGE): Promise<readonly Entry[]> {
    checkArgument("seq", seq, NUMBER);
    checkArgument("limit", limit, NUMBER);
    return this.#storage.listEntries(this.#row, { afterSeq: seq, limit });
  }

  /**
   * Returns entries of all branches in order of arrival, oldest or newest first: at most `limit` (default 1,000). The next page starts
   * after (before) the `seq` of the last one. Cost: the page; `customType` is read by an index, with `types` the rows between one match
   * and the next are read too. `session.tree.outline` takes the same options and reads no payloads.
   *
   * @example
   * const latest = await session.list({ order: "newest", limit: 50 });
   * const notes = await session.list({ customType: "note" });
   */
  async list(listing: EntryListing = {}): Promise<readonly Entry[]> {
    checkArgument("listing", listing, LISTING);
    return this.#storage.listEntries(this.#row, listing);
  }

  /** Returns the file operations between two entries of one path, both included, oldest first; see `fileLists`. */
  async fileOperations(range: Partial<PathRange> = {}): Promise<readonly FileOperation[]> {
    checkArgument("range", range, RANGE);
    const toId = range.toId ?? this.leafId;
    return toId === null ? [] : this.#storage.fileOperations(this.#row, { fromId: range.fromId, toId });
  }

  /**
   * Returns the `seq` of the entries that are copies of entries of another session, oldest first: entries that a fork, an agent or
   * `bough resume` copied. Their usage counts in that session.
   */
  async inheritedSeqs(): Promise<readonly number[]> {
    return this.#storage.inheritedSeqs(this.#row);
  }

  /** Searches the entries of this session on all branches; see `Store.search`. @throws {InvalidQueryError} */
  async search(request: Omit<SearchRequest, "sessionId">): Promise<SearchPage> {
    checkArgument("request", request, SEARCH);
    await this.record();
    return this.#host.search({ ...request, sessionId: this.id });
  }

  /**
   * Builds the context of the leaf: the summary of the compaction in force, the entries that it kept, and those after it, with
   * every tool result after its call. `buildSessionContext(session, options)` does the same.
   *
   * Cost: the entries since the first kept one; after an append of this handle, only the new ones.
   */
  async context(options: ContextOptions = {}): Promise<SessionContext> {
    checkArgument("options", options, CONTEXT);
    const { leafId, danglingCalls = "close" } = options;
    return leafId === undefined ? this.#context.ofLeaf(danglingCalls) : this.#context.at(leafId, danglingCalls);
  }

  /** Returns the model, thinking level and system text in force at an entry (default: the leaf), without reading its path. */
  async settings(leafId: EntryId | null = this.leafId): Promise<ContextSettings> {
    checkArgument("leafId", leafId, nullable(ID));
    return this.#context.settingsAt(leafId);
  }
}

/** The writes of entries below each other, the first below `parentId`; undefined: below the leaf. */
function toWrites(entries: readonly EntryInput[], parentId: EntryId | null | undefined): readonly Write[] {
  if (entries.length === 0) throw new InvalidArgumentError("entry", "an entry or a list of at least one", "an empty list");
  // From a list with gaps, which `map` would keep.
  if (parentId === undefined || entries.length === 1) return Array.from(entries, (entry) => ({ kind: "entry", entry, parentId }));
  const named = entries.map((entry) => ({ ...entry, id: entry.id ?? newEntryId() }));
  return named.map((entry, at) => ({ kind: "entry", entry, parentId: named[at - 1]?.id ?? parentId }));
}

/** Options for a batch whose leaf another writer may have moved. */
export interface WriteOptions {
  /** Default `error`: throws `LeafMovedError` and writes nothing. */
  readonly onConflict?: OnConflict | undefined;
  /**
   * Writes only if the leaf is exactly at this entry when the queued write runs, in this handle and in the store; otherwise throws
   * `LeafMovedError`, regardless of `onConflict`. Use it for entries that belong to one leaf, such as a summary. null: before
   * the first entry.
   */
  readonly expectedLeafId?: EntryId | null | undefined;
}

/** Where an append puts its entry. */
export interface AppendOptions extends WriteOptions {
  /**
   * The entry is appended below this one instead of the leaf; null: as a first entry. The leaf does not move, and another writer's
   * move of the leaf is no conflict.
   */
  readonly parentId?: EntryId | null | undefined;
}

const WRITE_OPTIONS = {
  onConflict: optional(oneOf("error", "follow", "branch")),
  expectedLeafId: optional(nullable(ID)),
} satisfies RulesOf<WriteOptions>;
const WRITE = optionsOf(WRITE_OPTIONS);
const APPEND = optionsOf({ ...WRITE_OPTIONS, parentId: optional(nullable(ID)) } satisfies RulesOf<AppendOptions>);

/** An entry that an append wrote. */
export interface AppendedEntry {
  readonly id: EntryId;
  /** Its order of arrival in the store. */
  readonly seq: number;
}

/** The parts of a store that its session handles use. */
export interface SessionHost {
  readonly storage: SessionStorage;
  /** Writes that have been called and have not finished. */
  readonly accepted: Set<Promise<unknown>>;
  /** Called after entries were written. */
  readonly maintenance: { countAppended(count: number): void };
  /** Searches, and has the search index updated behind it. */
  readonly search: (request: SearchRequest) => Promise<SearchPage>;
}

/** Writes for one handle: keeps the leaf position that the handle last read, and runs its writes in order. */
export class LeafWriter {
  readonly #host: SessionHost;
  readonly #row: SessionRow;
  readonly #leafName: string;
  /** Writes use the leaf position that the previous one returned. */
  readonly #queue = new SerialQueue();
  #leaf: LeafState;

  constructor(host: SessionHost, row: SessionRow, leafName: string, leaf: LeafState) {
    this.#host = host;
    this.#row = row;
    this.#leafName = leafName;
    this.#leaf = leaf;
  }

  get leafId(): EntryId | null {
    return this.#leaf.entryId;
  }

  commit(writes: readonly Write[], options: WriteOptions = {}): Promise<BatchResult> {
    const { onConflict = "error", expectedLeafId } = options;
    // Writes that have to wait are copied, so that later changes by their owner are not written.
    const batch = this.#queue.isBusy ? copyWrites(writes) : writes;
    return this.#run(async () => {
      const { entryId } = this.#leaf;
      if (expectedLeafId !== undefined && expectedLeafId !== entryId)
        throw new LeafMovedError(this.#row.id, this.#leafName, expectedLeafId, entryId);
      const result = await this.#host.storage.commit({
        sessionId: this.#row,
        leafName: this.#leafName,
        seen: this.#leaf,
        onConflict,
        onlyIfSeen: expectedLeafId !== undefined,
        writes: batch,
      });
      this.#leaf = result.leaf;
      this.#host.maintenance.countAppended(result.entries.length);
      return result;
    });
  }

  /** Runs `work` in the order of the writes and stores the leaf state that `work` returns. Returns false if it returns undefined. */
  updateLeaf(work: (storage: SessionStorage, row: SessionRow, leafName: string) => Promise<LeafState | undefined>): Promise<boolean> {
    return this.#run(async () => {
      const leaf = await work(this.#host.storage, this.#row, this.#leafName);
      if (leaf !== undefined) this.#leaf = leaf;
      return leaf !== undefined;
    });
  }

  /** Runs a write that does not concern the leaf, in the order of the writes. */
  run(write: () => Promise<void>): Promise<void> {
    return this.#run(write);
  }

  /** Runs a write after those before. `Store.close` waits for it. */
  #run<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#queue.run(write);
    const { accepted } = this.#host;
    accepted.add(result);
    const done = () => void accepted.delete(result);
    result.then(done, done);
    return result;
  }
}

/**
 * Builds the context of a session; see `Session.context`.
 *
 * @example
 * const context = await buildSessionContext(session);
 * const { system, messages } = toAnthropic(context);
 */
export async function buildSessionContext(session: Session, options: ContextOptions = {}): Promise<SessionContext> {
  checkArgument("session", session, withMethods("a session", "context"));
  return session.context(options);
}
