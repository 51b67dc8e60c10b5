import { setImmediate as pause, setTimeout as rest } from "node:timers/promises";
import { CALLBACK, oneOf, optional, options, type RulesOf, SIGNAL } from "../arguments/rules.js";
import { BoughError } from "../errors/bough-error.js";
import { StoreBusyError } from "../errors/store-errors.js";
import type { SearchPage, SearchRequest } from "../port/search.js";
import type { PackScope, PayloadPacking, SessionStorage } from "../port/session-storage.js";

/** After how many appended entries a run starts. */
const RUN_AFTER = 200;

/** Fewer entries than these are left unindexed: a search scans them in less than a millisecond, and each batch makes a segment of the index. */
const UNINDEXED = 64;

// The pause between two steps is as long as the last step, within these bounds, in milliseconds: the host and other processes get
// the time and the lock in between.
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/** The pause after a step found the lock taken, in milliseconds. */
const BUSY_PAUSE_MS = 100;

/** The delay of a run after the last imported session, in milliseconds. */
const IMPORTS_PAUSE_MS = 50;

/** The maximum time that `close` waits for maintenance, in milliseconds. */
const CLOSE_MS = 150;

/**
 * One short transaction, of about 20 ms. Returns whether it changed something; then it is called again. Throws `StoreBusyError` at once
 * if another write has or wants the lock.
 */
type Step = (storage: SessionStorage) => Promise<boolean>;

/** Returns the steps of one run. Each is repeated until nothing is left for it, then the next one follows. */
function createSteps(): readonly Step[] {
  let hasIndexed = false;
  const index: Step = async (storage) => {
    const before = await storage.catchUpSearch(0, "throw");
    if (before < UNINDEXED) return false;
    // A read-only store makes no progress.
    const hasProgress = (await storage.catchUpSearch(Number.POSITIVE_INFINITY, "throw")) < before;
    hasIndexed ||= hasProgress;
    return hasProgress;
  };
  const merge: Step = async (storage) => hasIndexed && storage.mergeSearchIndex("throw");
  const pack: Step = async (storage) => ((await storage.packing.next("old", "throw"))?.entries ?? 0) > 0;
  return [index, merge, pack];
}

/**
 * Maintains the store behind the work of the host: indexes entries for the search, merges the search index, and packs payloads. Runs
 * in pauses of the event loop after appends and searches, and for a limited time at `close`. Keeps no process alive.
 *
 * No result depends on it: a search scans the entries that are not indexed. After a busy store, a full disk or an end of the process,
 * the next run only has more work.
 */
export class Maintenance {
  readonly #storage: SessionStorage;
  /** Entries that this handle has appended, and those of them since the last complete run. */
  #appended = 0;
  #appendedSinceRun = 0;
  #hasSearched = false;
  #isRunning = false;
  /** A trigger arrived that no run has answered yet. A trigger during a run asks for another run, because its steps may be past. */
  #isRequested = false;
  #isStopped = false;
  #afterImports: NodeJS.Timeout | undefined;
  /** The step that runs now. */
  #step: Promise<boolean> | undefined;
  /** An unexpected error of a run. The next search throws it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(storage: SessionStorage) {
    this.#storage = storage;
  }

  /** Starts a run after every `RUN_AFTER` entries. */
  countAppended(count: number): void {
    this.#appended += count;
    this.#appendedSinceRun += count;
    if (this.#appendedSinceRun >= RUN_AFTER) this.#start();
  }

  /** Starts a run when no session has been imported for a while: between the sessions of one import it would take the lock from them. */
  countImported(count: number): void {
    this.#appended += count;
    this.#appendedSinceRun += count;
    clearTimeout(this.#afterImports);
    this.#afterImports = setTimeout(() => this.countAppended(0), IMPORTS_PAUSE_MS).unref();
  }

  /** Searches, and starts a run, because the search may have scanned many entries. Throws the unexpected error of the last run, once. */
  async search(request: SearchRequest): Promise<SearchPage> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    const page = await this.#storage.search(request);
    this.#hasSearched = true;
    this.#start();
    return page;
  }

  /** Indexes at most `limit` entries now, with the event loop between batches. Returns an upper bound of the number left. */
  async catchUp(limit: number): Promise<number> {
    const before = await this.#storage.catchUpSearch(0, "wait");
    let left = before;
    while (left > 0 && before - left < limit) {
      const now = await this.#storage.catchUpSearch(limit - (before - left), "wait");
      // A read-only store makes no progress.
      if (now >= left) return now;
      left = now;
      if (left > 0) await pause();
    }
    return left;
  }

  /** Waits for the step that runs, and prevents further ones. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#afterImports);
    // The run that awaits the step handles its error.
    await this.#step?.catch(() => {});
  }

  /** Runs steps for at most `CLOSE_MS`, so that a short process leaves little maintenance for later. Call it after `stop`. */
  async finish(): Promise<void> {
    // A store in memory ends here.
    if (this.#storage.files.length === 0) return;
    const deadlineMs = performance.now() + CLOSE_MS;
    await ignoreExpected(async () => {
      if (!(await this.#isNeeded())) return;
      for (const step of createSteps()) {
        while (performance.now() < deadlineMs && (await tryTwice(step, this.#storage))) await pause();
      }
    });
  }

  #start(): void {
    this.#isRequested = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isRequested && !this.#isStopped) {
        this.#isRequested = false;
        if ((await this.#tryRun()) === "done") continue;
        this.#isRequested = true;
        await rest(BUSY_PAUSE_MS, undefined, { ref: false });
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#isRunning = false;
    }
  }

  /** Runs the steps. `busy`: another write had the lock, so that they must be tried again. */
  async #tryRun(): Promise<"done" | "busy"> {
    let outcome: "done" | "busy" = "done";
    await ignoreExpected(async () => {
      try {
        await this.#runSteps();
      } catch (error) {
        if (error instanceof StoreBusyError) outcome = "busy";
        throw error;
      }
    });
    return outcome;
  }

  async #runSteps(): Promise<void> {
    await rest(SHORTEST_PAUSE_MS, undefined, { ref: false });
    if (this.#isStopped || !(await this.#isNeeded())) return;
    const appended = this.#appended;
    for (const step of createSteps()) {
      while (!this.#isStopped && (await this.#runStep(step)));
    }
    this.#appendedSinceRun = this.#appended - appended;
  }

  async #runStep(step: Step): Promise<boolean> {
    const startMs = performance.now();
    this.#step = step(this.#storage);
    const hasChanged = await this.#step;
    const tookMs = performance.now() - startMs;
    if (hasChanged) await rest(Math.min(Math.max(tookMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS), undefined, { ref: false });
    return hasChanged;
  }

  /** True if this handle has appended, or has searched in a store where many entries are not indexed. */
  async #isNeeded(): Promise<boolean> {
    if (this.#appended > 0) return true;
    return this.#hasSearched && (await this.#storage.catchUpSearch(0, "throw")) >= UNINDEXED;
  }
}

/** Tries a busy step once more: after a long series of writes the writer pauses, so that other processes get the lock. */
async function tryTwice(step: Step, storage: SessionStorage): Promise<boolean> {
  try {
    return await step(storage);
  } catch (error) {
    if (!(error instanceof StoreBusyError)) throw error;
    await rest(SHORTEST_PAUSE_MS);
    return step(storage);
  }
}

/** Ignores typed errors, such as a busy or closed store or a full disk: the next run tries again. */
async function ignoreExpected(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
  }
}

/** Options for packing a store. */
export interface PackOptions {
  /**
   * `all` (default): every payload. `old`: those of sessions without activity for an hour, and of an active session those before
   * its newest 128 entries.
   */
  readonly scope?: PackScope | undefined;
  /** Called after every few blocks with the number of packed entries and of all entries to pack. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Stops after the current blocks; `pack` throws the reason. What was packed stays packed. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of packing a store. */
export const PACK = options({
  scope: optional(oneOf("old", "all")),
  onProgress: optional(CALLBACK),
  signal: optional(SIGNAL),
} satisfies RulesOf<PackOptions>);

/** The result of packing a store. Sizes are of the file, in bytes. */
export interface PackedStore {
  readonly entries: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Free space in the file, which is used again: there was little, another process held the lock, or the disk had no room for a copy. */
  readonly freeBytes: number;
}

/** The share of the file that must be free before the file is rewritten without it. */
const FREE_SHARE = { all: 0.02, old: 0.25 };

/** Packs payloads, one transaction for each block, then merges the search index and returns free pages if the file has many. */
export async function packStore(packing: PayloadPacking, { scope = "all", onProgress, signal }: PackOptions): Promise<PackedStore> {
  const before = await packing.fileSize();
  const total = (await packing.unpacked()).entries;
  let entries = 0;
  for (;;) {
    signal?.throwIfAborted();
    const packed = await packing.nextInBulk(scope);
    if (packed === undefined) break;
    entries += packed.entries;
    onProgress?.(entries, Math.max(total, entries));
  }
  const packedFile = await packing.fileSize();
  if (packedFile.freeBytes > packedFile.bytes * FREE_SHARE[scope]) await packing.shrinkFile();
  const { bytes, freeBytes } = await packing.fileSize();
  return { entries, bytesBefore: before.bytes, bytesAfter: bytes, freeBytes };
}
