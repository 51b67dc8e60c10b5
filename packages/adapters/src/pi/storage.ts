import { EntryNotFoundError, LeafMovedError, type Session, type Store, ValueChangedError } from "@bough/session-core";
import { SerialQueue } from "@bough/session-core/engine";
import type {
  CommitResult,
  EntryScan,
  EntryStructure,
  ListElement,
  ListReadOptions,
  Entry as PiEntry,
  SessionStats,
  Storage,
  StorageBranchScan,
  StoredValue,
  UsageRow,
  UsageScan,
  Value,
  ValueList,
  Write,
} from "@earendil-works/pi-agent-core/harness/session";
import { type CommitPlan, planCommit } from "./commit.js";
import { type StoredTail, storedTail } from "./kept-tail.js";
import { LABELS, LANE_CONFIG, LANE_STATE, TIPS, usageIdIn } from "./keys.js";
import { PiEntries } from "./reader.js";
import { readTotals, type Totals } from "./totals.js";
import { PiValues } from "./values.js";

/** The most attempts of a commit. Another process has written the session between any two of them. */
const MOST_TRIES = 1000;

/** Settings of a storage. */
export interface PiStorageOptions {
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * A session of Bough as pi's `Storage`. Branch tips are leaves, labels are labels, the name is the title, and entries are
 * entries, so that every other program sees an ordinary session.
 *
 * @example
 * const storage = await BoughPiStorage.open(store, await store.createSession());
 * await storage.commit([insertEntry(entry)], context);
 */
export class BoughPiStorage implements Storage {
  /** The session of Bough. */
  readonly session: Session;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #values: PiValues;
  readonly #entries: PiEntries;
  #totals: Totals;
  readonly #queue = new SerialQueue();
  #closing: Promise<void> | undefined;

  private constructor(store: Store, session: Session, totals: Totals, now: () => number) {
    this.#store = store;
    this.session = session;
    this.#totals = totals;
    this.#now = now;
    this.#values = new PiValues(session, () => this.#totals.sequence);
    this.#entries = new PiEntries(session, () => this.#totals.sequence);
  }

  /**
   * Opens a session that pi, Bough or an import wrote. If pi has not written it yet, its leaf becomes the branch `main`, with the model
   * and thinking level in force there.
   */
  static async open(store: Store, session: Session, options: PiStorageOptions = {}): Promise<BoughPiStorage> {
    const storage = new BoughPiStorage(store, session, await readTotals(session), options.now ?? Date.now);
    if (storage.#totals.stored === undefined && session.leafId !== null) await storage.#adopt(session.leafId);
    return storage;
  }

  /** Makes the leaf a branch of pi. */
  async #adopt(leafId: string): Promise<void> {
    const { model, thinkingLevel } = await this.session.settings(leafId);
    const set = (namespace: string, value: unknown): Write => ({ kind: "value", op: "set", namespace, key: this.session.leafName, value });
    const lane = [set(LANE_CONFIG, { model, thinkingLevel: thinkingLevel ?? "off", activeToolNames: [] }), set(LANE_STATE, IDLE)];
    await this.commit([set(TIPS, leafId), ...(model === null ? [] : lane)]);
  }

  /** Writes all or, after any error, nothing. Commits run in the order of their calls. */
  commit(writes: Write[]): Promise<CommitResult> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    return this.#queue.run(() => this.#commit(writes));
  }

  /** Runs `work` between two commits, for a fork. */
  betweenCommits<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work);
  }

  async #commit(writes: readonly Write[]): Promise<CommitResult> {
    const timestamp = this.#now();
    for (let tries = 1; ; tries += 1) {
      await this.#requireNewIds(writes);
      const { leafName: name, leafId: entryId } = this.session;
      const known = { labelled: await this.#labelled(writes), tails: await this.#tails(writes) };
      const plan = planCommit(writes, { totals: this.#totals, timestamp, leaf: { name, entryId }, ...known });
      try {
        const rows = new Map((await this.session.write(plan.batch)).map(({ id, seq }) => [id, seq] as const));
        return await this.#finish(plan, timestamp, rows);
      } catch (error) {
        const used = error instanceof ValueChangedError ? usageIdIn(error.key) : undefined;
        if (used !== undefined) throw duplicate(used);
        if (!isConflict(error) || tries === MOST_TRIES) throw toPiError(error, "Missing parent entry");
        await this.session.refresh();
        this.#totals = await readTotals(this.session);
      }
    }
  }

  async #finish(plan: CommitPlan, timestamp: number, rows: ReadonlyMap<string, number>): Promise<CommitResult> {
    this.#values.remember(rows);
    const { sequence } = this.#totals;
    const seqs = plan.stamps.map((stamp) => sequence.ofStamp(stamp, rows));
    const { totals, stats } = plan;
    this.#totals = { last: seqs.at(-1) ?? this.#totals.last, sequence, entries: totals.entries, stats, stored: totals };
    if (plan.name !== undefined) await this.#store.renameSession(this.session.id, plan.name);
    return { firstSeq: seqs[0] ?? this.#totals.last + 1, seqs, timestamp, stats };
  }

  /** Throws if an id is given twice or is that of an entry. The batch itself demands that it is not that of a row of usage. */
  async #requireNewIds(writes: readonly Write[]): Promise<void> {
    const ids = writes.flatMap((write) => (write.kind === "entry" ? [write.entry.id] : write.kind === "usage" ? [write.row.id] : []));
    if (ids.length === 0) return;
    const seen = new Set<string>();
    for (const id of ids) {
      if (seen.has(id)) throw duplicate(id);
      seen.add(id);
    }
    for (const id of (await this.session.entriesById(ids)).keys()) throw duplicate(id);
  }

  /** Returns the ids of existing entries among those whose labels are set. */
  async #labelled(writes: readonly Write[]): Promise<ReadonlySet<string>> {
    const ids = writes.flatMap((write) => (write.kind === "value" && write.namespace === LABELS ? [write.key] : []));
    if (ids.length === 0) return NONE;
    const added = writes.flatMap((write) => (write.kind === "entry" ? [write.entry.id] : []));
    return new Set([...(await this.session.entriesById(ids)).keys(), ...added]);
  }

  /** Returns the fields that store the tail of each compaction, by its id. */
  async #tails(writes: readonly Write[]): Promise<ReadonlyMap<string, StoredTail>> {
    const tails = new Map<string, StoredTail>();
    const added = new Set<string>();
    for (const write of writes) {
      if (write.kind !== "entry") continue;
      const { entry } = write;
      added.add(entry.id);
      if (entry.type !== "compaction") continue;
      // A path that is not written yet cannot be read, so a compaction of its own commit keeps the messages themselves.
      const parentId = entry.parentId !== null && added.has(entry.parentId) ? null : entry.parentId;
      tails.set(entry.id, await storedTail(this.session, parentId, entry.retainedTail));
    }
    return tails;
  }

  async getEntries(ids: string[]): Promise<Map<string, PiEntry>> {
    return this.#read(() => this.#entries.byId(ids));
  }

  async getValue<T>(address: Value<T>): Promise<StoredValue<T> | undefined> {
    return this.#read(() => this.#values.getValue(address));
  }

  async scanValues<T>(prefix: Value<T>): Promise<StoredValue<T>[]> {
    return this.#read(() => this.#values.scanValues(prefix));
  }

  async readList<T>(address: ValueList<T>, options?: ListReadOptions): Promise<ListElement<T>[]> {
    return this.#read(() => this.#values.readList(address, options));
  }

  async scanBranch(query: StorageBranchScan): Promise<PiEntry[]> {
    return this.#read(() => this.#entries.branch(query));
  }

  async scanBranchStructure(query: StorageBranchScan): Promise<EntryStructure[]> {
    return this.#read(() => this.#entries.branchStructure(query));
  }

  async scanEntries(query: EntryScan): Promise<PiEntry[]> {
    return this.#read(() => this.#entries.scan(query));
  }

  async scanUsage(query: UsageScan): Promise<UsageRow[]> {
    return this.#read(() => this.#values.scanUsage(query));
  }

  async getStats(): Promise<SessionStats> {
    return this.#read(async () => (await readTotals(this.session)).stats);
  }

  /** Waits for the commits that were called. The session and its store stay open. */
  close(): Promise<void> {
    this.#closing ??= this.#queue.idle();
    return this.#closing;
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw closed();
    try {
      return await work();
    } catch (error) {
      throw toPiError(error, "Unknown branch start");
    }
  }
}

const NONE: ReadonlySet<string> = new Set();
const IDLE = { currentOperationId: null, lastOperationId: null, inbox: [] };

function closed(): Error {
  return new Error("BoughPiStorage is closed");
}

function duplicate(id: string): Error {
  return new Error(`Duplicate entry or usage id: ${id}`);
}

/** True if another process has written the session since this storage read it. */
function isConflict(error: unknown): boolean {
  return error instanceof LeafMovedError || error instanceof ValueChangedError;
}

/** pi throws plain errors for what is missing; the error of the store is the cause. */
function toPiError(error: unknown, missing: string): unknown {
  return error instanceof EntryNotFoundError ? new Error(`${missing}: ${error.entryId}`, { cause: error }) : error;
}
