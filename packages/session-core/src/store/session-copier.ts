import { createHash, type Hash } from "node:crypto";
import { CopyDiffersError } from "../errors/copy-errors.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { SessionRow } from "../port/records.js";
import { type CopiedState, isPartlyCopied } from "../port/session-copy.js";
import { addEntries, addState, type CopyPlace, digestOfEntries, digestOfSession, hashOfEntries, isEqual, usedBy } from "./copy-place.js";

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

/** Copies one session from one place to another, part by part. */
export class SessionCopier {
  readonly #from: CopyPlace;
  readonly #to: CopyPlace;
  readonly #rules: CopyRules;
  readonly #onEntries: (done: number, total: number) => void;

  constructor(from: CopyPlace, to: CopyPlace, rules: CopyRules, onEntries: (done: number, total: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#rules = rules;
    this.#onEntries = onEntries;
  }

  /** @throws {SessionNotFoundError | SessionExistsError | SessionChangedError | CopyDiffersError | InvalidCopyError | PayloadDamagedError} */
  async copy(id: SessionId): Promise<SessionCopy> {
    const source = await this.#from.copies.state(id);
    if (source === undefined) throw new SessionNotFoundError(id);
    const target = await this.#to.copies.state(id);
    if (target === undefined) return this.#rules.dryRun ? done("copied", source.session.entryCount) : this.#copyRest(source, undefined);
    const differences = differencesOf(source, target);
    if (differences.length === 0) return this.#rules.verify ? this.#compareWhole(source, target) : done("unchanged", 0);
    const isAhead = target.session.entryCount > source.session.entryCount;
    const mayWrite = !isAhead && (this.#rules.update || isPartlyCopied(target.session));
    return mayWrite ? this.#copyRest(source, target) : different(differences);
  }

  async #compareWhole(source: CopiedState, target: CopiedState): Promise<SessionCopy> {
    const [one, other] = [await this.#digestIn(this.#from, source), await this.#digestIn(this.#to, target)];
    return one === other ? done("unchanged", 0, one) : different(["other entries"]);
  }

  /** Copies the entries that the target lacks, and everything else. */
  async #copyRest(source: CopiedState, target: CopiedState | undefined): Promise<SessionCopy> {
    const known = target?.session.entryCount ?? 0;
    const hash = await this.#hashOfKnown(source, target, known);
    if (hash === undefined) return different(["other entries"]);
    const outcome = target === undefined || isPartlyCopied(target.session) ? "copied" : "updated";
    const total = source.session.entryCount;
    if (this.#rules.dryRun) return done(outcome, total - known);
    const row = await this.#write(source, target?.row, known, hash);
    const expected = addState(hash, source).digest("hex");
    const written = await this.#to.copies.state(row);
    const actual = written === undefined ? "" : await this.#digestIn(this.#to, written);
    if (actual !== expected) throw new CopyDiffersError(row.id, expected, actual);
    return done(outcome, total - known, expected);
  }

  /** The hash of the entries that both have, of which only the digest is sent; undefined: they are not the same. */
  async #hashOfKnown(source: CopiedState, target: CopiedState | undefined, known: number): Promise<Hash | undefined> {
    if (target === undefined) return createHash("sha256");
    const { signal } = this.#rules;
    const [from, to] = [
      { place: this.#from, row: source.row },
      { place: this.#to, row: target.row },
    ];
    const [near, other] = from.place.far === undefined ? [from, to] : [to, from];
    const hash = await hashOfEntries(near.place.copies, near.row, known, signal);
    const digest =
      other.place.far === undefined
        ? await digestOfEntries(other.place.copies, other.row, known, signal)
        : await other.place.far.ofEntries(other.row, known);
    return hash.copy().digest("hex") === digest ? hash : undefined;
  }

  async #write(source: CopiedState, into: SessionRow | undefined, known: number, hash: Hash): Promise<SessionRow> {
    const total = source.session.entryCount;
    let row = into;
    for (let after = known; ; ) {
      this.#rules.signal?.throwIfAborted();
      const entries = after < total ? await this.#from.copies.entries(source.row, after, total) : [];
      addEntries(hash, entries);
      // A damaged store has fewer entries than it counts: the digests differ then.
      const isLast = entries.length === 0 || after + entries.length >= total;
      if (isLast) await this.#requireSent(source, hash);
      row = await this.#to.copies.write({ state: source, into: row && { row, entries: after }, entries, isLast });
      after += entries.length;
      this.#onEntries(after, total);
      if (isLast) return row;
    }
  }

  /** Compares what arrived from another process with the digest that it computes of its entries. @throws {CopyDiffersError} */
  async #requireSent({ row, session }: CopiedState, hash: Hash): Promise<void> {
    const sent = await this.#from.far?.ofEntries(row, session.entryCount);
    const arrived = hash.copy().digest("hex");
    if (sent !== undefined && sent !== arrived) throw new CopyDiffersError(row.id, sent, arrived);
  }

  async #digestIn({ copies, far }: CopyPlace, state: CopiedState): Promise<string> {
    if (far !== undefined) return (await far.ofSession(state.row)) ?? "";
    return digestOfSession(copies, state, this.#rules.signal);
  }
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
