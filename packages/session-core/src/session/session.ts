import { checkArgument, nullable, TEXT, withMethods } from "../arguments/rules.js";
import { APPEND, CONTEXT, COUNTS, ID, SEARCH, WRITES } from "../arguments/shapes.js";
import type { SessionContext } from "../context/context.js";
import { MessageList, readSettings } from "../context/message-list.js";
import { ProjectedEntries } from "../context/projected-entries.js";
import type { DanglingCalls } from "../context/tool-pairs.js";
import type { EntryInput } from "../entry/entry.js";
import { copyJson } from "../entry/json.js";
import { LeafMovedError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { LeafState, SessionRow } from "../port/records.js";
import type { BatchResult, OnConflict, SearchPage, SearchRequest, SessionStorage, Write } from "../port/session-storage.js";
import { SessionReader } from "./session-reader.js";

/** What an append does when another writer moved the leaf meanwhile. */
export interface AppendOptions {
  /** Default `error`: throw `LeafMovedError` and write nothing. */
  readonly onConflict?: OnConflict | undefined;
  /**
   * Write only if the leaf stands exactly at this entry when the write's turn comes, as this handle sees it and in the
   * store; else throw `LeafMovedError`, whatever `onConflict` says. For what was decided about one leaf and would be
   * misplaced under another, such as a summary. null: before the first entry.
   */
  readonly expectedLeafId?: EntryId | null | undefined;
}

/** Where a context is built, and how. */
export interface ContextOptions {
  /** Default: where the handle's leaf stands now, also if another process moved it; null: before the first entry. */
  readonly leafId?: EntryId | null | undefined;
  /** What becomes of a tool call without a result. Default `close`: a result that says so. */
  readonly danglingCalls?: DanglingCalls | undefined;
}

/** What an append wrote. */
export interface AppendedEntry {
  readonly id: EntryId;
  /** Its order of arrival in the store. */
  readonly seq: number;
}

/** What a store lends to its sessions. */
export interface SessionHost {
  readonly storage: SessionStorage;
  /** Writes that were asked for and are not done yet. */
  readonly accepted: Set<Promise<unknown>>;
  /** Called after entries were written. */
  readonly onAppended: (count: number) => void;
  /** A search that first brings the index up to date. */
  readonly search: (request: SearchRequest) => Promise<SearchPage>;
}

/**
 * A handle on one session, working on one of its named leaves. Several handles, in one process or in many, may work on
 * one session: each remembers the leaf as it last saw it, and an append says what to do if another has moved it.
 *
 * Writes of a handle run in the order in which they are called, also when nobody awaits them.
 *
 * @example
 * const session = await store.createSession({ title: "Fix the parser" });
 * await session.append(userMessage("Why does the parser fail on tabs?"));
 * const { messages } = await session.context();
 */
export class Session extends SessionReader {
  readonly #host: SessionHost;
  readonly #queue: WriteQueue;
  readonly #window = new ProjectedEntries();
  readonly #placement = new MessageList();
  #view: LeafState;

  /** Sessions come from `Store.createSession` and `Store.openSession`. */
  constructor(host: SessionHost, row: SessionRow, leafName: string, view: LeafState) {
    super(host.storage, row, leafName);
    this.#host = host;
    this.#queue = new WriteQueue(host.accepted);
    this.#view = view;
  }

  /** The leaf as this handle last saw it; null: before the first entry. */
  override get leafId(): EntryId | null {
    return this.#view.entryId;
  }

  /** Looks where the leaf stands now. */
  async refresh(): Promise<EntryId | null> {
    return this.#queue.run(async () => {
      this.#view = await this.storage.leaf(this.row, this.leafName);
      return this.#view.entryId;
    });
  }

  /**
   * Appends an entry under the leaf and moves the leaf to it. When this resolves the entry is on disk: with durability
   * `full`, the default, it survives a power cut.
   *
   * An `id` may be given: repeating an append with the same id and content writes nothing and is no error.
   *
   * @throws {InvalidEntryError | UnserializableValueError} naming the field.
   * @throws {LeafMovedError} another writer moved the leaf; `onConflict` chooses otherwise.
   * @throws {EntryConflictError} the id belongs to other content.
   * @throws {InvalidReferenceError} it refers to an entry that is not where it must be.
   * @throws {StoreBusyError | StoreFullError | StoreReadOnlyError | SessionNotFoundError} nothing was written.
   */
  async append(entry: EntryInput, options: AppendOptions = {}): Promise<AppendedEntry> {
    checkArgument("options", options, APPEND);
    const { entries } = await this.#commit([{ kind: "entry", entry }], options);
    const [written] = entries;
    // A batch of one entry gives one entry back; the storage would have thrown otherwise.
    return written as AppendedEntry;
  }

  /**
   * Writes entries, labels, values and leaf moves in one transaction: all of them or, after any error, none. Each entry
   * goes under the one before it; after a `moveLeaf`, under where the leaf was put.
   *
   * @example
   * await session.write([
   *   { kind: "entry", entry: { ...userMessage("Try it with a lexer"), id: "try-lexer" } },
   *   { kind: "label", entryId: "try-lexer", label: "lexer" },
   * ]);
   */
  async write(writes: readonly Write[], options: AppendOptions = {}): Promise<readonly AppendedEntry[]> {
    checkArgument("writes", writes, WRITES);
    checkArgument("options", options, APPEND);
    return (await this.#commit(writes, options)).entries;
  }

  #commit(writes: readonly Write[], options: AppendOptions): Promise<BatchResult> {
    const { onConflict = "error", expectedLeafId } = options;
    // What has to wait is written as it was when it was handed in, whatever its owner does to it meanwhile.
    const asked = this.#queue.isBusy ? copyJson(writes, "writes") : writes;
    return this.#queue.run(async () => {
      const { entryId } = this.#view;
      if (expectedLeafId !== undefined && expectedLeafId !== entryId)
        throw new LeafMovedError(this.id, this.leafName, expectedLeafId, entryId);
      const result = await this.storage.commit({
        sessionId: this.row,
        leafName: this.leafName,
        seen: this.#view,
        onConflict,
        onlyIfSeen: expectedLeafId !== undefined,
        writes: asked,
      });
      this.#view = result.leaf;
      this.#host.onAppended(result.entries.length);
      return result;
    });
  }

  /**
   * Puts the leaf at an entry, at once and durably; null: before the first entry, so that the next append starts a new
   * first branch. The move can be undone.
   */
  async moveLeaf(to: EntryId | null): Promise<void> {
    checkArgument("to", to, nullable(ID));
    await this.#commit([{ kind: "moveLeaf", to }], {});
  }

  /** Takes the last move of this leaf back. false: there is none left. What was appended since stays on its branch. */
  async undoMove(): Promise<boolean> {
    return this.#settle(() => this.storage.undoMove(this.row, this.leafName));
  }

  /** Takes the last undo back. false: nothing was undone since the last move. */
  async redoMove(): Promise<boolean> {
    return this.#settle(() => this.storage.redoMove(this.row, this.leafName));
  }

  async #settle(move: () => Promise<LeafState | undefined>): Promise<boolean> {
    return this.#queue.run(async () => {
      const view = await move();
      if (view !== undefined) this.#view = view;
      return view !== undefined;
    });
  }

  /** Labels an entry, in place of a label it has. The leaf does not move. */
  async label(entryId: EntryId, label: string): Promise<void> {
    checkArgument("entryId", entryId, ID);
    checkArgument("label", label, TEXT);
    await this.#commit([{ kind: "label", entryId, label }], {});
  }

  /** Takes the label of an entry away. */
  async unlabel(entryId: EntryId): Promise<void> {
    checkArgument("entryId", entryId, ID);
    await this.#commit([{ kind: "label", entryId, label: null }], {});
  }

  /** Keeps a small value (at most 64 KiB of JSON) with the session; `undefined` takes it away. */
  async setValue(key: string, value: unknown): Promise<void> {
    checkArgument("key", key, TEXT);
    await this.#commit([{ kind: "value", key, value }], {});
  }

  /**
   * Keeps how many tokens entries take, for `tokenCounts`: a cache beside the tree, in place of counts of the same name
   * that are there. Ids of no entry are left out. The leaf, the times of the session and the order of entries stay as
   * they are, and no append of another handle meets a conflict because of it.
   *
   * `counter` names all that a count depends on (encoding, rules, their version): another name, other counts.
   *
   * @throws {InvalidEntryError} a count is no whole number from 0 up, or the name is empty or longer than 200 characters.
   * @throws {StoreBusyError | StoreFullError | StoreReadOnlyError | SessionNotFoundError} nothing was written.
   * @example
   * await session.saveTokenCounts("o200k_base/1", new Map([[entry.id, 412]]));
   */
  async saveTokenCounts(counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    checkArgument("counter", counter, TEXT);
    checkArgument("counts", counts, COUNTS);
    const asked = new Map(counts);
    await this.#queue.run(() => this.storage.saveTokenCounts(this.row, counter, asked));
  }

  /** Entries of this session that fit, on all of its branches; see `Store.search`. @throws {InvalidQueryError} */
  async search(request: Omit<SearchRequest, "sessionId">): Promise<SearchPage> {
    checkArgument("request", request, SEARCH);
    await this.record();
    return this.#host.search({ ...request, sessionId: this.id });
  }

  /**
   * What the model is sent at the leaf: the summary of the compaction in force, what it kept, what came after; every
   * tool result behind its call. The same as `buildSessionContext(session, options)`.
   *
   * Cost: the entries since the first kept one, whatever lies before; after an append in this handle, only what is new.
   */
  async context(options: ContextOptions = {}): Promise<SessionContext> {
    checkArgument("options", options, CONTEXT);
    const { leafId, danglingCalls = "close" } = options;
    if (leafId !== undefined) {
      const path = await this.storage.contextPath(this.row, { entryId: leafId }, null);
      const window = { entries: this.#window.reuse(path.entries), newFrom: 0 };
      return { ...new MessageList().update(path, window, danglingCalls), ...readSettings(path) };
    }
    return this.#windowed(this.#window.end, danglingCalls);
  }

  /** The model, the thinking level and the system text in force at an entry (default: the leaf), without reading its path. */
  async settings(leafId: EntryId | null = this.leafId): Promise<Pick<SessionContext, "model" | "thinkingLevel" | "system">> {
    checkArgument("leafId", leafId, nullable(ID));
    // Asked to continue a window that ends there, the storage has no entry to read.
    const end = leafId === null ? null : (await this.storage.entry(this.row, leafId)).seq;
    return readSettings(await this.storage.contextPath(this.row, { entryId: leafId }, end));
  }

  async #windowed(known: number | null, danglingCalls: DanglingCalls): Promise<SessionContext> {
    const path = await this.storage.contextPath(this.row, { leafName: this.leafName }, known);
    const window = this.#window.update(path, known);
    // A walk without a known end always gives a window.
    if (window === undefined) return this.#windowed(null, danglingCalls);
    return { ...this.#placement.update(path, window, danglingCalls), ...readSettings(path) };
  }
}

/**
 * What the model is sent at one point of a session; see `Session.context`.
 *
 * @example
 * const context = await buildSessionContext(session);
 * const { system, messages } = toAnthropic(context);
 */
export async function buildSessionContext(session: Session, options: ContextOptions = {}): Promise<SessionContext> {
  checkArgument("session", session, withMethods("a session", "context"));
  return session.context(options);
}

/**
 * Runs the writes of one handle one after the other, in the order in which they were asked for, so that calls that
 * nobody awaits still arrive in order, each seeing the leaf that the one before it left. A failed write stops no other.
 */
export class WriteQueue {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  readonly #accepted: Set<Promise<unknown>>;

  /** `accepted` holds what has been asked for and not been done yet; closing a store waits for it. */
  constructor(accepted: Set<Promise<unknown>>) {
    this.#accepted = accepted;
  }

  /** Whether a write that is asked for now has to wait. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  run<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#waiting === 0 ? write() : this.#last.then(write, write);
    this.#waiting += 1;
    this.#last = result;
    this.#accepted.add(result);
    const done = () => {
      this.#waiting -= 1;
      this.#accepted.delete(result);
    };
    result.then(done, done);
    return result;
  }
}
