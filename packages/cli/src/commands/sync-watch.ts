import { platform } from "node:os";
import { findAgentFolders, type ImportedFileSession, SourceNotFoundError, type SyncedAgent, syncSessions } from "@bough/formats";
import { type BoughError, type Store, StoreBusyError, StoreFullError } from "@bough/session-core";
import { raceAbort } from "@bough/session-core/engine";
import { counted } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { dateTime } from "../format/time.js";
import { sourceEnvironment } from "../session/known-agents.js";
import { sessionTitle } from "../session/names.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { styled } from "../terminal/line.js";
import { FolderWatcher } from "../watch/folder-watcher.js";
import { type CommonOptions, type Invocation, untilInterrupted } from "./command.js";

/** Options of `bough sync` that `--watch` uses. */
interface WatchOptions extends CommonOptions {
  readonly agent?: readonly string[];
}

/** Interval of full syncs, in milliseconds: events may be lost, and network folders send none for writes of other machines. */
const LOOK_MS = 60_000;

/** Interval of full syncs while a folder sends no events, and after a sync that failed, in milliseconds. */
const POLL_MS = 5000;

/** The file system may round the time of a write. */
const HELD_MARGIN_MS = 100;

/** `bough sync --watch`: imports what the agents write until it is interrupted. */
export async function syncAndWatch(invocation: Invocation<WatchOptions>, store: Store): Promise<void> {
  await untilInterrupted(invocation, async (signal) => {
    const run = new WatchRun(invocation, store, signal);
    await run.run().finally(() => run.close());
  });
}

class WatchRun {
  readonly #invocation: Invocation<WatchOptions>;
  readonly #store: Store;
  readonly #signal: AbortSignal;
  readonly #changed = new ChangedPaths();
  #watcher: FolderWatcher | undefined;
  /** The last failure of each file, so that it is printed once. */
  readonly #failures = new Map<string, string>();
  #syncFailure = "";
  /** The sessions whose last reply is still being written, by file and id. `untilMs`: when the reply counts as complete. */
  readonly #held = new Map<string, { readonly path: string; readonly untilMs: number }>();

  constructor(invocation: Invocation<WatchOptions>, store: Store, signal: AbortSignal) {
    this.#invocation = invocation;
    this.#store = store;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { io, out, options } = this.#invocation;
    const folders = await findAgentFolders(sourceEnvironment(io));
    const isChosen = ({ agent, format }: { agent: string; format: string }) =>
      options.agent?.some((name) => [agent, format].some((own) => own.toLowerCase() === name.toLowerCase())) ?? true;
    // Starts before the first sync: files that change during that sync are synced after it.
    this.#watcher = new FolderWatcher(folders.filter(isChosen), ["darwin", "win32"].includes(platform()), {
      onChange: (path) => this.#changed.add(path),
      onUnwatched: (folder, reason) => void this.#tellUnwatched(folder, reason),
    });
    this.#watcher.start();
    await this.#sync({ kind: "all" });
    const existing = folders.filter(({ exists }) => exists).filter(isChosen).length;
    await out.note(
      styled("dim", `Watching ${counted(existing, "folder")} of agents; others are noticed when they appear. Ctrl-C ends it.`),
    );
    for (;;) {
      const isPolled = this.#syncFailure !== "" || this.#watcher.unwatched.size > 0;
      const due = await this.#changed.next(Math.min(isPolled ? POLL_MS : LOOK_MS, this.#heldForMs), this.#signal);
      if (due.kind === "all") {
        this.#watcher.start();
        this.#dropHeld();
      }
      // After a sync that failed, its paths are not known any more.
      await this.#sync(this.#syncFailure === "" ? due : { kind: "all" });
    }
  }

  /** In how many milliseconds the first reply that is being written counts as complete. */
  get #heldForMs(): number {
    const times = [...this.#held.values()].map(({ untilMs }) => untilMs - Date.now());
    return Math.max(Math.min(...times), 0) + HELD_MARGIN_MS;
  }

  close(): void {
    this.#watcher?.close();
  }

  async #sync(due: Due): Promise<void> {
    const { io, options } = this.#invocation;
    const paths = due.kind === "paths" ? due.paths : undefined;
    try {
      const request = { agents: options.agent, environment: sourceEnvironment(io), signal: this.#signal, paths };
      const { agents } = await syncSessions(this.#store, request);
      this.#syncFailure = "";
      for (const agent of agents) await this.#tell(agent);
    } catch (error) {
      await this.#tellSyncFailure(error);
    }
  }

  /** Prints once that the store is busy or full; the watch continues and tries again. Throws any other error. */
  async #tellSyncFailure(error: unknown): Promise<void> {
    if (this.#signal.aborted || !(error instanceof StoreBusyError || error instanceof StoreFullError)) throw error;
    if (this.#syncFailure !== error.message) await this.#invocation.out.note(styled("error", "waiting: "), errorLine(error));
    this.#syncFailure = error.message;
  }

  async #tell({ agent, sessions, failed }: SyncedAgent): Promise<void> {
    for (const session of sessions) {
      this.#failures.delete(session.path);
      const beginsWriting = this.#keepHeld(session);
      if (session.entriesAdded > 0 || session.outcome === "created" || beginsWriting) await this.#tellSession(agent, session);
    }
    for (const { path, error } of failed) {
      // Removed between the listing and the reading, or a link to nowhere: there is nothing to read.
      if (error instanceof SourceNotFoundError || this.#failures.get(path) === error.message) continue;
      this.#failures.set(path, error.message);
      await this.#tellFailure(agent, path, error);
    }
  }

  /** Forgets the sessions whose `untilMs` has passed: the next full sync reads them, or their file is gone. */
  #dropHeld(): void {
    for (const [key, { untilMs }] of this.#held) if (untilMs <= Date.now()) this.#held.delete(key);
  }

  /** Remembers whether the last reply of a session is being written. Returns whether that is new. */
  #keepHeld({ path, sessionId, heldUntilMs }: ImportedFileSession): boolean {
    const key = `${path}\n${sessionId}`;
    const isNew = heldUntilMs !== null && !this.#held.has(key);
    if (heldUntilMs === null) this.#held.delete(key);
    else this.#held.set(key, { path, untilMs: heldUntilMs });
    return isNew;
  }

  async #tellSession(agent: string, { sessionId, outcome, entriesAdded, heldUntilMs, path }: ImportedFileSession): Promise<void> {
    const { out, options } = this.#invocation;
    const record = await this.#store.findSession(sessionId);
    const title = record === undefined ? sessionId : sessionTitle(record);
    if (options.json === true) out.jsonLine({ at: this.#now, agent, sessionId, title, outcome, entriesAdded, heldUntilMs, path });
    else {
      const isNew = outcome === "created" ? "new, " : "+";
      const added = `${isNew}${counted(entriesAdded, "entry", "entries")}  `;
      const writing = heldUntilMs === null ? [] : [styled("dim", `${BEING_WRITTEN}  `)];
      const start = [
        styled("dim", `${this.#now}  `),
        `${agent}  `,
        ...(entriesAdded > 0 || outcome === "created" ? [added] : []),
        ...writing,
      ];
      out.fitted(...start, styled("bold", title));
    }
    await out.flush();
  }

  async #tellFailure(agent: string, path: string, error: BoughError): Promise<void> {
    const { out, options } = this.#invocation;
    if (options.json === true) out.jsonLine({ at: this.#now, agent, path, code: error.code, message: error.message });
    else out.line(styled("dim", `${this.#now}  `), `${agent}  `, styled("error", "failed  "), errorLine(error));
    await out.flush();
  }

  async #tellUnwatched(folder: string, reason: string): Promise<void> {
    await this.#invocation.out.note(`No events for ${folder} (${reason}): it is looked at every ${POLL_MS / 1000} seconds.`);
  }

  /** The local time in text, and a full one in JSON. */
  get #now(): string {
    const { io, options } = this.#invocation;
    return options.json === true ? new Date(io.now()).toISOString() : dateTime(io.now());
  }
}

/** Time without a change after which a batch is returned, and maximum time that a change waits, in milliseconds. */
const QUIET_MS = 200;
const LONGEST_MS = 2000;

/** With more paths than this, everything is synced: the check of an unchanged file is cheaper than a long list. */
const MANY_PATHS = 1000;

/** The scope of the next sync: these paths, or everything. */
type Due = { readonly kind: "paths"; readonly paths: readonly string[] } | { readonly kind: "all" };

/** Collects paths that changed, and returns them in batches, so that a file that is being written is not read at each write. */
export class ChangedPaths {
  readonly #paths = new Set<string>();
  #isAll = false;
  #firstAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #give: (() => void) | undefined;

  /** Adds a path. A file beside a database (`-wal`) counts as the database. */
  add(path: string): void {
    if (this.#paths.size === 0) this.#firstAtMs = performance.now();
    this.#paths.add(path.replace(/-(?:wal|shm|journal)$/, ""));
    if (this.#paths.size > MANY_PATHS) this.#isAll = true;
    this.#giveSoon();
  }

  /**
   * Resolves to the next batch, or to everything when nothing came for `idleMs`.
   *
   * @throws the reason of `signal`.
   */
  async next(idleMs: number, signal: AbortSignal): Promise<Due> {
    const idle = setTimeout(() => {
      this.#isAll = true;
      this.#give?.();
    }, idleMs);
    try {
      const given = new Promise<void>((resolve) => {
        this.#give = resolve;
      });
      if (this.#paths.size > 0) this.#giveSoon();
      await raceAbort(given, signal);
      return this.#take();
    } finally {
      this.#give = undefined;
      clearTimeout(idle);
      clearTimeout(this.#timer);
    }
  }

  #giveSoon(): void {
    clearTimeout(this.#timer);
    if (this.#give === undefined) return;
    const leftMs = Math.max(this.#firstAtMs + LONGEST_MS - performance.now(), 0);
    this.#timer = setTimeout(this.#give, Math.min(QUIET_MS, leftMs));
  }

  #take(): Due {
    const due: Due = this.#isAll ? { kind: "all" } : { kind: "paths", paths: [...this.#paths] };
    this.#paths.clear();
    this.#isAll = false;
    return due;
  }
}
