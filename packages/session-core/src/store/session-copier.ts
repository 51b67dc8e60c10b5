import { createHash, type Hash } from "node:crypto";
import { CopyDiffersError } from "../errors/copy-errors.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { SessionRow } from "../port/records.js";
import { type CopiedEntry, type CopiedState, isPartlyCopied, type SessionCopies } from "../port/session-copy.js";

/** Rules for sessions that are in the target already. */
export interface CopyRules {
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
export class SessionCopier {
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
