import {
  CALLBACK,
  checkArgument,
  FLAG,
  list,
  optional,
  options as optionsOf,
  type RulesOf,
  SIGNAL,
  withMethods,
} from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import { BoughError } from "../errors/bough-error.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import { type CopyPlace, digestOfState, type FarDigests, placeOf } from "./copy-place.js";
import { type CopyRules, SessionCopier, type SessionCopy } from "./session-copier.js";
import type { Store } from "./store.js";

/** Options of `copySessions`. */
export interface CopyOptions {
  /** Only these sessions, and those of their subagents. Default: all, also archived and empty ones. */
  readonly sessions?: readonly SessionId[] | undefined;
  /**
   * Bring sessions that are in the target already to the state of the source: entries are added; title, leaves, labels, values and other
   * properties are replaced. Those that have other entries are left. Default: false, they are `different`.
   */
  readonly update?: boolean | undefined;
  /** Also compare the entries of sessions that are there, with all that they have. Default: only their properties, counts and leaves. */
  readonly verify?: boolean | undefined;
  /** Only report what would be done. */
  readonly dryRun?: boolean | undefined;
  /** Aborts the copy between two parts of a session: throws the reason of the signal. A later copy continues there. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each part of a session, and after each session. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** The progress of a copy. */
export interface CopyProgress {
  readonly sessionId: SessionId;
  readonly sessionsDone: number;
  readonly sessionsTotal: number;
  /** Entries of this session that are in the target now, and all that it has. */
  readonly entriesDone: number;
  readonly entriesTotal: number;
}

/** The result for one session. `failed`: it could not be copied; `error` is the reason. */
export interface SessionCopyResult extends Omit<SessionCopy, "outcome"> {
  readonly sessionId: SessionId;
  readonly outcome: SessionCopy["outcome"] | "failed";
  readonly error: BoughError | null;
}

/** The result of a copy: each session, in the order of the list or of their last activity. */
export interface CopyReport {
  readonly sessions: readonly SessionCopyResult[];
}

const OPTIONS = optionsOf({
  sessions: optional(list(ID, "an array of ids")),
  update: optional(FLAG),
  verify: optional(FLAG),
  dryRun: optional(FLAG),
  signal: optional(SIGNAL),
  onProgress: optional(CALLBACK),
} satisfies RulesOf<CopyOptions>);

/** The number of sessions that are copied at once, so that their round trips to a server overlap. */
const AT_ONCE = 4;
/** The same over a connection to another machine, whose round trips are longer. */
const FAR_AT_ONCE = 16;

/**
 * Copies sessions from one store to another, whatever their engines: entries with ids, times and order, leaves and their moves, labels,
 * values, usage, titles, metadata and links to other sessions. A session is written in parts of up to 500 entries, each of which is a
 * transaction; after the last one it is read back and compared with the source by its SHA-256. After a copy that ended early, the
 * next call continues where it was; a session that is there is not written again. The records of syncs are not copied.
 *
 * A session that cannot be copied is `failed`, and the others are copied; an error of a store ends the copy.
 *
 * @throws {SessionNotFoundError} one of `sessions` is not in the source; nothing was written.
 * @example
 * const file = await openStore({ path: "sessions.db", mode: "read-only" });
 * const server = await openStore({ url: "postgres://ada@db.example/bough" });
 * const { sessions } = await copySessions(file, server);
 * const left = sessions.filter(({ outcome }) => outcome === "different" || outcome === "failed");
 */
export async function copySessions(from: Store, to: Store, options: CopyOptions = {}): Promise<CopyReport> {
  checkArgument("from", from, withMethods("a store", "openSession"));
  checkArgument("to", to, withMethods("a store", "openSession"));
  checkArgument("options", options, OPTIONS);
  return from.whileOpen(() => to.whileOpen(() => copyBetween(placeOf(from), placeOf(to), options)));
}

/** Copies sessions as `copySessions` does, from and to stores that may be served by another process; at most one of them. */
export async function copyBetween(from: CopyPlace, to: CopyPlace, options: CopyOptions = {}): Promise<CopyReport> {
  const ids = await sessionsToCopy(from, options.sessions);
  const run = new CopyRun(from, to, ids, options);
  const atOnce = from.far === undefined && to.far === undefined ? AT_ONCE : FAR_AT_ONCE;
  const workers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, ids.length) }, () => run.work()));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  to.countAdded(run.report.sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0));
  return run.report;
}

/** The given sessions and those of their subagents, or all. */
async function sessionsToCopy(place: CopyPlace, given: readonly SessionId[] | undefined): Promise<readonly SessionId[]> {
  if (given === undefined) return place.listIds();
  for (const id of given) if ((await place.copies.state(id)) === undefined) throw new SessionNotFoundError(id);
  const found = new Set(given);
  // Sessions that are added while the set is iterated over are reached, too.
  for (const id of found) for (const agent of await place.listIds(id)) found.add(agent);
  return [...found];
}

/** The number of sessions that one question to another process compares. */
const COMPARED_AT_ONCE = 200;

/** Finds out which sessions both places have with the same state, many with one question to the other process. */
class Comparison {
  readonly #near: CopyPlace;
  readonly #far: FarDigests;
  readonly #ids: readonly SessionId[];
  readonly #batches = new Map<number, Promise<readonly (string | null)[]>>();

  constructor(near: CopyPlace, far: FarDigests, ids: readonly SessionId[]) {
    this.#near = near;
    this.#far = far;
    this.#ids = ids;
  }

  /** True if the session at this place of the list is in both, with the same state. */
  async isEqual(at: number): Promise<boolean> {
    const first = at - (at % COMPARED_AT_ONCE);
    const batch = this.#batches.get(first) ?? this.#far.ofStates(this.#ids.slice(first, first + COMPARED_AT_ONCE));
    this.#batches.set(first, batch);
    const there = (await batch)[at - first] ?? null;
    const state = there === null ? undefined : await this.#near.copies.state(this.#ids[at] ?? "");
    return state !== undefined && digestOfState(state) === there;
  }
}

function comparisonOf(from: CopyPlace, to: CopyPlace, ids: readonly SessionId[]): Comparison | undefined {
  if (from.far !== undefined) return new Comparison(to, from.far, ids);
  return to.far === undefined ? undefined : new Comparison(from, to.far, ids);
}

class CopyRun {
  readonly #from: CopyPlace;
  readonly #to: CopyPlace;
  readonly #comparison: Comparison | undefined;
  readonly #ids: readonly SessionId[];
  readonly #rules: CopyRules;
  readonly #options: CopyOptions;
  readonly #results: SessionCopyResult[] = [];
  #next = 0;
  #done = 0;
  #isEnded = false;

  constructor(from: CopyPlace, to: CopyPlace, ids: readonly SessionId[], options: CopyOptions) {
    this.#from = from;
    this.#to = to;
    this.#comparison = options.verify === true ? undefined : comparisonOf(from, to, ids);
    this.#ids = ids;
    this.#options = options;
    const { update = false, verify = false, dryRun = false, signal } = options;
    this.#rules = { update, verify, dryRun, signal };
  }

  get report(): CopyReport {
    return { sessions: this.#results };
  }

  /** Copies one session after the other until none is left. */
  async work(): Promise<void> {
    for (let at = this.#take(); ; at = this.#take()) {
      const id = this.#ids[at];
      if (id === undefined) return;
      try {
        this.#options.signal?.throwIfAborted();
        this.#results[at] = { sessionId: id, ...((await this.#comparison?.isEqual(at)) === true ? UNCHANGED : await this.#copy(id)) };
      } catch (error) {
        this.#isEnded = true;
        throw error;
      }
      this.#done += 1;
      this.#progress(id, 0, 0);
    }
  }

  /** Where the next session is in the list. */
  #take(): number {
    if (this.#isEnded) return this.#ids.length;
    this.#next += 1;
    return this.#next - 1;
  }

  async #copy(id: SessionId): Promise<Omit<SessionCopyResult, "sessionId">> {
    const onEntries = (done: number, total: number) => this.#progress(id, done, total);
    const copier = new SessionCopier(this.#from, this.#to, this.#rules, onEntries);
    try {
      return { ...(await copier.copy(id)), error: null };
    } catch (error) {
      if (!(error instanceof BoughError) || OF_STORE.has(error.code)) throw error;
      return { outcome: "failed", entriesAdded: 0, digest: null, difference: null, error };
    }
  }

  #progress(sessionId: SessionId, entriesDone: number, entriesTotal: number): void {
    const [sessionsDone, sessionsTotal] = [this.#done, this.#ids.length];
    this.#options.onProgress?.({ sessionId, sessionsDone, sessionsTotal, entriesDone, entriesTotal });
  }
}

const UNCHANGED: Omit<SessionCopyResult, "sessionId"> = {
  outcome: "unchanged",
  entriesAdded: 0,
  digest: null,
  difference: null,
  error: null,
};

/** The codes of errors that the other sessions would meet as well: they end the copy. Any other is of one session, which is reported as failed. */
const OF_STORE: ReadonlySet<string> = new Set([
  ...[
    "STORE_CLOSED",
    "STORE_FULL",
    "STORE_READ_ONLY",
    "STORE_UNAVAILABLE",
    "STORE_DENIED",
    "STORE_DAMAGED",
    "STORE_NOT_FOUND",
    "NEWER_STORE",
  ],
  ...["SERVER_UNAVAILABLE", "SERVER_LOGIN", "SERVER_RIGHTS", "SERVER_FULL", "SERVER_UNSUITABLE", "DATABASE_NOT_FOUND"],
  ...["CONNECTION_LOST", "POOL_EXHAUSTED"],
]);
