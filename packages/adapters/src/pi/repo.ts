import {
  type Write as BoughWrite,
  type OutlineRow,
  pagesOf,
  type Session,
  SessionExistsError,
  type SessionFilter,
  SessionNotFoundError,
  type SessionParent,
  type SessionRecord,
  type Store,
} from "@bough/session-core";
import type { Context } from "@earendil-works/pi-agent-core/harness/context";
import {
  type ForkCurrentStatePlan,
  type ForkOptions,
  type Session as PiSession,
  projectForkCurrentStateWrite,
  type SessionCreateOptions,
  type SessionMetadata,
  type SessionRepo,
  StorageBackedSession,
} from "@earendil-works/pi-agent-core/harness/session";
import { NO_USAGE } from "../pi-messages.js";
import { requireStore } from "../store-argument.js";
import { piTypeOf } from "./entries.js";
import { LANE_CONFIG, LANE_STATE, STATE_KEY, TIPS, valueKey } from "./keys.js";
import { BoughPiStorage, type PiStorageOptions } from "./storage.js";
import { readTotals, type StoredTotals, type Totals } from "./totals.js";
import { PiValues } from "./values.js";

/** The version of pi's storage format that is written. */
const STORAGE_VERSION = 1;
/** The mark of a session that pi has written, in the metadata of the session. */
const MARK = "piStorageVersion";

/** A new session. */
export interface PiCreateOptions extends SessionCreateOptions {
  /** The working directory. */
  cwd?: string;
}

/** The sessions to list. */
export interface PiListOptions {
  /** Only sessions of this working directory. */
  cwd?: string;
  /** Default: sessions that pi created or opened. `true`: every conversation of the store, imported ones among them. */
  all?: boolean;
}

/**
 * pi's `SessionRepo` on a store of Bough. Any session of the store can be opened, also one that `bough import` made of a file. A
 * session is open once in a repository; other processes can write the same store, and the same session.
 *
 * @example
 * const repo = new BoughSessionRepo(await openStore({ path: "sessions.db" }));
 * const session = await repo.create({}, BACKGROUND_CONTEXT);
 */
export class BoughSessionRepo implements SessionRepo<SessionMetadata, PiCreateOptions> {
  readonly #store: Store;
  readonly #options: PiStorageOptions;
  /** Open storages by the id of their session. */
  readonly #open = new Map<string, BoughPiStorage>();
  readonly #handles = new Set<PiSession>();
  /** Ids of sessions that are being created or opened. */
  readonly #reserved = new Set<string>();

  constructor(store: Store, options: PiStorageOptions = {}) {
    this.#store = requireStore(store);
    this.#options = options;
  }

  /** Creates a session without entries and branches. @throws {Error} the id exists. */
  async create(options: PiCreateOptions = {}, _context?: Context): Promise<PiSession> {
    return this.#reserving(options.id, async () => {
      const { id, cwd, parentSessionId } = options;
      const metadata = { [MARK]: STORAGE_VERSION };
      const parent = parentOf(parentSessionId);
      return this.#handle(await this.#store.createSession({ id, cwd, parent, metadata, createdAtMs: this.#now() }));
    });
  }

  /** Opens a session that no handle of this repository has open. Only the id of the metadata is used. */
  async open({ id }: Pick<SessionMetadata, "id">, _context?: Context): Promise<PiSession> {
    if (this.#open.has(id) || this.#reserved.has(id)) throw new Error(`Session is already open: ${id}`);
    return this.#reserving(id, async () => {
      const session = await this.#session(id);
      const { metadata } = await session.record();
      if (metadata[MARK] === undefined) await session.setMetadata({ [MARK]: STORAGE_VERSION });
      return this.#handle(session);
    });
  }

  /** The sessions that pi created or opened, newest activity first. */
  list(_options?: undefined, _context?: Context): Promise<SessionMetadata[]> {
    return this.listSessions();
  }

  /** The same of one working directory, or with the other sessions of the store. */
  async listSessions(options: PiListOptions = {}): Promise<SessionMetadata[]> {
    const { cwd, all = false } = options;
    const marked = all ? {} : ({ kind: "all", metadata: { [MARK]: STORAGE_VERSION } } as const);
    const filter: SessionFilter = { cwd, empty: true, archived: "all", ...marked };
    const found: SessionMetadata[] = [];
    for await (const { items } of pagesOf((cursor) => this.#store.listSessions({ ...filter, cursor })))
      found.push(...items.map(metadataOf));
    return found;
  }

  /** Deletes a session that is not open here, for good. Its forks stay. */
  async delete({ id }: Pick<SessionMetadata, "id">, _context?: Context): Promise<void> {
    if (this.#open.has(id)) throw new Error(`Session is open: ${id}`);
    await this.#store.deleteSession(id).catch(throwUnknown);
  }

  /** Copies one branch, or the whole tree, into a new session, in one transaction. */
  async fork(source: Pick<SessionMetadata, "id">, options: ForkOptions, _context?: Context): Promise<PiSession> {
    return this.#reserving(options.id, async () => {
      const open = this.#open.get(source.id);
      const storage = open ?? (await BoughPiStorage.open(this.#store, await this.#session(source.id), this.#options));
      return this.#handle(await storage.betweenCommits(() => this.#copy(storage.session, options)));
    });
  }

  /** Closes every open session. The store stays open. */
  async close(context: Context): Promise<void> {
    await Promise.all([...this.#handles].map((session) => session.close(context)));
  }

  async #copy(source: Session, options: ForkOptions): Promise<Session> {
    const plan = await planFork(source, options);
    const into = { id: options.id, metadata: { [MARK]: STORAGE_VERSION } };
    // pi gives a fork the name of its source.
    const { title } = await source.record();
    const writes = await forkWrites(source, plan);
    if (plan.scope === "tree") return this.#store.forkSession(source.id, { ...into, title, tree: true, values: false, writes });
    if (plan.destinationTip !== null) return this.#store.forkSession(source.id, { ...into, title, at: plan.destinationTip, writes });
    return this.#store.createSession({ ...into, createdAtMs: this.#now(), parent: parentOf(source.id) }, { writes });
  }

  async #session(id: string): Promise<Session> {
    return this.#store.openSession(id).catch(throwUnknown);
  }

  /** Runs `work` while no other call of this repository can create or open the session. */
  async #reserving<T>(id: string | undefined, work: () => Promise<T>): Promise<T> {
    if (id === undefined) return work();
    if (this.#reserved.has(id)) throw new Error(`Session already exists: ${id}`);
    this.#reserved.add(id);
    try {
      return await work();
    } catch (error) {
      throw error instanceof SessionExistsError ? new Error(`Session already exists: ${id}`, { cause: error }) : error;
    } finally {
      this.#reserved.delete(id);
    }
  }

  async #handle(session: Session): Promise<PiSession> {
    const storage = await BoughPiStorage.open(this.#store, session, this.#options);
    const onClose = () => {
      this.#open.delete(session.id);
      this.#handles.delete(handle);
    };
    const handle: PiSession = new StorageBackedSession(metadataOf(await session.record()), storage, { onClose });
    this.#open.set(session.id, storage);
    this.#handles.add(handle);
    return handle;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function parentOf(sessionId: string | undefined): SessionParent | undefined {
  return sessionId === undefined ? undefined : { sessionId, entryId: null, toolCallId: null };
}

function metadataOf({ id, createdAtMs, cwd, parent }: SessionRecord): SessionMetadata {
  const metadata = { id, createdAt: createdAtMs, storageVersion: STORAGE_VERSION };
  return { ...metadata, ...(cwd === null ? {} : { cwd }), ...(parent === null ? {} : { parentSessionId: parent.sessionId }) };
}

function throwUnknown(error: unknown): never {
  throw error instanceof SessionNotFoundError ? new Error(`Unknown session: ${error.sessionId}`, { cause: error }) : error;
}

/**
 * Plans a fork by pi's rules. A branch must have a configured lane, and the entry must be on it.
 *
 * @throws {Error} with pi's words.
 */
async function planFork(source: Session, options: ForkOptions): Promise<ForkCurrentStatePlan> {
  if (options.scope === "tree") return { scope: "tree" };
  const { branch } = options;
  const has = async (namespace: string) => (await source.values.get(valueKey({ namespace, key: branch }))) !== undefined;
  if (!(await has(TIPS))) throw new Error(`Unknown source branch: ${branch}`);
  if (!(await has(LANE_CONFIG)) || !(await has(LANE_STATE))) {
    throw new Error(`Source branch ${JSON.stringify(branch)} is not a configured AgentLane`);
  }
  const tip = (await source.leaves()).find(({ name }) => name === branch)?.entryId ?? null;
  return { scope: "branch", branch, destinationTip: await endOf(source, tip, options) };
}

/** The last entry that is copied. */
async function endOf(source: Session, tip: string | null, options: Extract<ForkOptions, { scope: "branch" }>): Promise<string | null> {
  const { entryId = tip, position = "at", branch } = options;
  if (entryId === null) return null;
  const isKnown = (await source.entriesById([entryId])).has(entryId);
  if (tip === null || !isKnown || (await source.tree.commonAncestor(entryId, tip)) !== entryId) {
    throw new Error(`Fork entry ${entryId} is not on source branch ${JSON.stringify(branch)}`);
  }
  return position === "before" ? (await source.entry(entryId)).parentId : entryId;
}

/**
 * The values of a fork, selected by pi's own rules: name, labels and tips of copied entries and the configuration of lanes come along;
 * lanes are idle; operations and usage start anew; values of applications come along with a whole tree only. The numbers go on where
 * those of the source end.
 *
 * @throws {Error} a value in a namespace of pi that this version of pi does not know.
 */
async function forkWrites(source: Session, plan: ForkCurrentStatePlan): Promise<readonly BoughWrite[]> {
  const totals = await readTotals(source);
  const path = plan.scope === "tree" ? undefined : await rowsOf(source, plan.destinationTip);
  const ids = path && new Set(path.map(({ id }) => id));
  const stored = await new PiValues(source, () => totals.sequence).everything();
  const values = stored.flatMap(({ key, address, seq, value }) => {
    const given = { seq, ...address, value };
    const write =
      address.kind === "value" ? ({ ...given, kind: "value", op: "set" } as const) : ({ ...given, kind: "list", op: "append" } as const);
    const kept = projectForkCurrentStateWrite(write, plan, (id) => ids?.has(id) ?? true);
    return kept === undefined ? [] : [{ kind: "value" as const, key, value: { seq, value: kept.value } }];
  });
  const leaf = plan.scope === "tree" ? [] : [{ kind: "moveLeaf" as const, to: plan.destinationTip, leaf: plan.branch }];
  return [...values, ...leaf, { kind: "value", key: STATE_KEY, value: forkedTotals(totals, path) }];
}

async function rowsOf(source: Session, tip: string | null): Promise<readonly OutlineRow[]> {
  return tip === null ? [] : source.tree.path(tip, Number.MAX_SAFE_INTEGER);
}

/** The totals of a fork. `path`: what is copied; undefined: all entries. */
function forkedTotals({ last, sequence, entries, stats }: Totals, path: readonly OutlineRow[] | undefined): StoredTotals {
  const messages = path?.filter(({ type }) => piTypeOf(type) === "message").length ?? stats.messageCount;
  return { last, shift: sequence.shift, entries: path?.length ?? entries, messages, usage: NO_USAGE };
}
