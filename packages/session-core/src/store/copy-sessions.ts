import { createHash, type Hash } from "node:crypto";
import { CALLBACK, checkArgument, FLAG, list, optional, options as optionsOf, SIGNAL, withMethods } from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import { BoughError } from "../errors/bough-error.js";
import { CopyDiffersError } from "../errors/copy-errors.js";
import {
  ConnectionLostError,
  DatabaseNotFoundError,
  PoolExhaustedError,
  ServerFullError,
  ServerLoginError,
  ServerRightsError,
  ServerUnavailableError,
  ServerUnsuitableError,
} from "../errors/server-errors.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import {
  NewerStoreError,
  StoreClosedError,
  StoreDamagedError,
  StoreFullError,
  StoreNotFoundError,
  StoreReadOnlyError,
  StoreUnavailableError,
} from "../errors/store-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { SessionFilter, SessionRow } from "../port/records.js";
import { type CopiedEntry, type CopiedState, isPartlyCopied, type SessionCopies } from "../port/session-copy.js";
import type { Store } from "./store.js";

/** Rules for sessions that are in the target already. */
interface CopyRules {
  readonly update: boolean;
  readonly verify: boolean;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The result of copying a session; with `dryRun`, the result that a copy would have. */
export interface SessionCopy {
  /**
   * `copied`: it was missing, or only a part of it was there. `updated`: it was brought to the state of the source. `unchanged`: it was
   * there. `different`: it is there with other content, and was left as it is.
   */
  readonly outcome: "copied" | "updated" | "unchanged" | "different";
  readonly entriesAdded: number;
  /** The SHA-256 of all that the session has, in hex, equal in both stores; null: nothing was read but its properties. */
  readonly digest: string | null;
  /** Why it is `different`: `2 entries more there`, `other labels, title`. */
  readonly difference: string | null;
}

/** Copies one session from one store to another, part by part. */
class SessionCopier {
  readonly #from: SessionCopies;
  readonly #to: SessionCopies;
  readonly #rules: CopyRules;
  readonly #onEntries: (done: number, total: number) => void;

  constructor(from: SessionCopies, to: SessionCopies, rules: CopyRules, onEntries: (done: number, total: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#rules = rules;
    this.#onEntries = onEntries;
  }

  /** @throws {SessionNotFoundError | SessionExistsError | SessionChangedError | CopyDiffersError | PayloadDamagedError} */
  async copy(id: SessionId): Promise<SessionCopy> {
    const source = await this.#from.state(id);
    if (source === undefined) throw new SessionNotFoundError(id);
    const target = await this.#to.state(id);
    if (target === undefined) return this.#rules.dryRun ? done("copied", source.session.entryCount) : this.#copyRest(source, undefined);
    const differences = differencesOf(source, target);
    if (differences.length === 0) return this.#rules.verify ? this.#compareWhole(source, target) : done("unchanged", 0);
    const isAhead = target.session.entryCount > source.session.entryCount;
    const mayWrite = !isAhead && (this.#rules.update || isPartlyCopied(target.session));
    return mayWrite ? this.#copyRest(source, target) : different(differences);
  }

  async #compareWhole(source: CopiedState, target: CopiedState): Promise<SessionCopy> {
    const [one, other] = [await this.#digestOf(this.#from, source), await this.#digestOf(this.#to, target)];
    return one === other ? done("unchanged", 0, one) : different(["other entries"]);
  }

  /** Copies the entries that the target lacks, and everything else. */
  async #copyRest(source: CopiedState, target: CopiedState | undefined): Promise<SessionCopy> {
    const known = target?.session.entryCount ?? 0;
    const hash = await this.#hashOf(this.#from, source.row, known);
    if (target !== undefined && digestOf(hash.copy()) !== digestOf(await this.#hashOf(this.#to, target.row, known)))
      return different(["other entries"]);
    const outcome = target === undefined || isPartlyCopied(target.session) ? "copied" : "updated";
    const total = source.session.entryCount;
    if (this.#rules.dryRun) return done(outcome, total - known);
    const row = await this.#write(source, target?.row, known, hash);
    const expected = withState(hash, source);
    const written = await this.#to.state(row);
    const actual = written === undefined ? "" : await this.#digestOf(this.#to, written);
    if (actual !== expected) throw new CopyDiffersError(row.id, expected, actual);
    return done(outcome, total - known, expected);
  }

  async #write(source: CopiedState, into: SessionRow | undefined, known: number, hash: Hash): Promise<SessionRow> {
    const total = source.session.entryCount;
    let row = into;
    for (let after = known; ; ) {
      this.#rules.signal?.throwIfAborted();
      const entries = after < total ? await this.#from.entries(source.row, after, total) : [];
      add(hash, entries);
      // A damaged store has fewer entries than it counts: the digests differ then.
      const isLast = entries.length === 0 || after + entries.length >= total;
      row = await this.#to.write({ state: source, into: row && { row, entries: after }, entries, isLast });
      after += entries.length;
      this.#onEntries(after, total);
      if (isLast) return row;
    }
  }

  async #digestOf(store: SessionCopies, state: CopiedState): Promise<string> {
    return withState(await this.#hashOf(store, state.row, state.session.entryCount), state);
  }

  /** The hash of the first entries of a session. */
  async #hashOf(store: SessionCopies, row: SessionRow, count: number): Promise<Hash> {
    const hash = createHash("sha256");
    for (let after = 0; after < count; ) {
      this.#rules.signal?.throwIfAborted();
      const entries = await store.entries(row, after, count);
      if (entries.length === 0) break;
      add(hash, entries);
      after += entries.length;
    }
    return hash;
  }
}

// Token counts are a cache, which may be filled meanwhile. Which entries are copies depends on the other sessions of a store.
function add(hash: Hash, entries: readonly CopiedEntry[]): void {
  for (const { tokens: _cache, inherited: _copy, origin: _original, ...entry } of entries) hash.update(`${JSON.stringify(plain(entry))}\n`);
}

function withState(hash: Hash, { row: _own, ...state }: CopiedState): string {
  return digestOf(hash.update(JSON.stringify(plain({ ...state, usage: usedBy(state) }))));
}

/** The number of replies of each model, whether they are originals or copies. Sums of costs depend on the order in which they are added. */
function usedBy({ usage }: Pick<CopiedState, "usage">): unknown {
  const replies = new Map<string, number>();
  for (const { provider, model, replies: more } of usage) {
    const name = JSON.stringify([provider, model]);
    replies.set(name, (replies.get(name) ?? 0) + more);
  }
  return [...replies].sort(([one], [other]) => (one < other ? -1 : 1));
}

function digestOf(hash: Hash): string {
  return hash.digest("hex");
}

/** Objects as lists of their members, ordered by name: engines need not give members in one order. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .map(([name, member]) => [name, plain(member)])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}

function done(outcome: SessionCopy["outcome"], entriesAdded: number, digest: string | null = null): SessionCopy {
  return { outcome, entriesAdded, digest, difference: null };
}

function different(differences: readonly string[]): SessionCopy {
  return { outcome: "different", entriesAdded: 0, digest: null, difference: differences.join(", ") };
}

/** Returns the differences between two states of a session, for people; empty if they are equal. */
function differencesOf(source: CopiedState, target: CopiedState): readonly string[] {
  const more = source.session.entryCount - target.session.entryCount;
  const entries =
    more === 0 ? [] : [`${Math.abs(more)} ${Math.abs(more) === 1 ? "entry" : "entries"} ${more > 0 ? "fewer" : "more"} there`];
  const names: string[] = (["leaves", "moves", "labels", "values"] as const).filter((name) => !isEqual(source[name], target[name]));
  if (!isEqual(usedBy(source), usedBy(target))) names.push("usage");
  const theirs = new Map<string, unknown>(Object.entries(target.session));
  const properties = Object.entries(source.session).filter(([name, value]) => !isEqual(value, theirs.get(name)));
  const others = [...names, ...properties.map(([name]) => name).filter((name) => !COUNTS.includes(name))];
  return others.length === 0 && (more !== 0 || properties.length === 0) ? entries : [...entries, `other ${others.join(", ") || "counts"}`];
}

/** Counters derived from the entries; they differ whenever the number of entries does. */
const COUNTS: readonly string[] = ["entryCount", "messageCount", "payloadBytes"];

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

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
});

/** The number of sessions that are copied at once, so that their round trips to a server overlap. */
const AT_ONCE = 4;

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
  return from.whileOpen(() => to.whileOpen(() => copyAll(from, to, options)));
}

async function copyAll(from: Store, to: Store, options: CopyOptions): Promise<CopyReport> {
  const ids = await sessionsToCopy(from, options.sessions);
  const run = new CopyRun(from, to, ids, options);
  const workers = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, ids.length) }, () => run.work()));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  to.maintenance.countAppended(run.report.sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0));
  return run.report;
}

/** The given sessions and those of their subagents, or all. */
async function sessionsToCopy(store: Store, given: readonly SessionId[] | undefined): Promise<readonly SessionId[]> {
  if (given === undefined) return listIds(store, { kind: "all" });
  for (const id of given) if ((await store.findSession(id)) === undefined) throw new SessionNotFoundError(id);
  const found = new Set(given);
  // Sessions that are added while the set is iterated over are reached, too.
  for (const id of found) for (const agent of await listIds(store, { kind: "subagent", parentId: id })) found.add(agent);
  return [...found];
}

async function listIds(store: Store, filter: SessionFilter): Promise<readonly SessionId[]> {
  const ids = new Set<SessionId>();
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ ...filter, archived: "all", empty: true, cursor });
    for (const { id } of page.items) ids.add(id);
    if (page.next === null) return [...ids];
    cursor = page.next;
  }
}

class CopyRun {
  readonly #from: Store;
  readonly #to: Store;
  readonly #ids: readonly SessionId[];
  readonly #rules: CopyRules;
  readonly #options: CopyOptions;
  readonly #results: SessionCopyResult[] = [];
  #next = 0;
  #done = 0;
  #isEnded = false;

  constructor(from: Store, to: Store, ids: readonly SessionId[], options: CopyOptions) {
    this.#from = from;
    this.#to = to;
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
        this.#results[at] = { sessionId: id, ...(await this.#copy(id)) };
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
    const copier = new SessionCopier(this.#from.storage.copies, this.#to.storage.copies, this.#rules, onEntries);
    try {
      return { ...(await copier.copy(id)), error: null };
    } catch (error) {
      if (!(error instanceof BoughError) || OF_STORE.some((kind) => error instanceof kind)) throw error;
      return { outcome: "failed", entriesAdded: 0, digest: null, difference: null, error };
    }
  }

  #progress(sessionId: SessionId, entriesDone: number, entriesTotal: number): void {
    const [sessionsDone, sessionsTotal] = [this.#done, this.#ids.length];
    this.#options.onProgress?.({ sessionId, sessionsDone, sessionsTotal, entriesDone, entriesTotal });
  }
}

/** Errors that the other sessions would meet as well: they end the copy. Any other is of one session, which is reported as failed. */
const OF_STORE = [
  StoreClosedError,
  StoreFullError,
  StoreReadOnlyError,
  StoreUnavailableError,
  StoreDamagedError,
  StoreNotFoundError,
  NewerStoreError,
  ServerUnavailableError,
  ServerLoginError,
  ServerRightsError,
  ServerFullError,
  ServerUnsuitableError,
  DatabaseNotFoundError,
  ConnectionLostError,
  PoolExhaustedError,
];
