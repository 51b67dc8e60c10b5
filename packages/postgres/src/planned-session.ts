import { type EntryId, EntryNotFoundError, type FileTools, type SessionId, type Write } from "@bough/session-core";
import {
  type AddedTotals,
  assertLeafName,
  type BatchTarget,
  COMPACTION,
  derivePathState,
  EDIT,
  type EditOf,
  EMPTY_PATH,
  type EncodedValue,
  type EntryPathState,
  type EntrySeq,
  EntryTotals,
  encodeValue,
  entryColumns,
  factsOfImported,
  type ImportedEntry,
  newEntryId,
  omits,
  type PathFacts,
  type PathState,
  requireExpected,
  requireSameEntry,
  SYSTEM,
  toEntrySeq,
  toSingleLine,
  toWritable,
  type ValidatedEntry,
} from "@bough/session-core/engine";
import { type EntryFact, type Facts, type LockedSession, type MarkFact, type RunFact, toPathState, typeOf } from "./facts.js";
import type { PgEntry } from "./query.js";
import { runAt } from "./runs.js";
import { textToWrite, vectorOf } from "./words.js";

/** The dependencies of a write besides the database. */
export interface WriteRules {
  readonly validateEntry: (given: unknown) => ValidatedEntry;
  /** The host's tools that touch files. */
  readonly fileTools: FileTools;
}

/** The first writes of a new session, at its leaf `main`; undefined: none. */
export type FirstWrites = { readonly writes: readonly Write[]; readonly rules: WriteRules } | undefined;

/** The columns of a new entry; those of its session are added by the statement. */
export type NewEntryRow = Omit<PgEntry, "tenant" | "session_id">;

/** A run that begins with a new entry. */
export interface NewRun extends RunFact {
  /** Of its first entry. */
  readonly depth: number;
}

/** A move of a leaf that is recorded for undo. */
export interface PlannedMove {
  readonly name: string;
  readonly from: EntrySeq | null;
  readonly to: EntrySeq | null;
}

/** The changes of a batch in a session. */
export interface Changes {
  readonly entries: readonly NewEntryRow[];
  readonly runs: readonly NewRun[];
  readonly totals: AddedTotals;
  readonly leaves: ReadonlyMap<string, EntrySeq | null>;
  readonly moves: readonly PlannedMove[];
  /** null: the label is removed. */
  readonly labels: ReadonlyMap<EntrySeq, { readonly label: string; readonly createdAtMs: number } | null>;
  /** Removed before `values` are written. */
  readonly removedPrefixes: readonly string[];
  /** null: the value is removed. */
  readonly values: ReadonlyMap<string, EncodedValue | null>;
}

/**
 * A session as the facts of a batch show it, and what the batch changes. It answers from memory and collects the changes; nothing is
 * written before its changes are.
 */
export class PlannedSession implements BatchTarget, PathFacts {
  readonly #session: LockedSession;
  readonly #fileTools: FileTools;
  readonly #tenant: string;
  readonly #byId = new Map<EntryId, EntryFact>();
  readonly #bySeq = new Map<EntrySeq, EntryFact>();
  readonly #present: { readonly leaves: Map<string, EntrySeq | null>; readonly values: ReadonlyMap<string, string> };
  readonly #runs: RunFact[];
  readonly #marks: MarkFact[];
  #lastSeq: number;
  readonly #entries: NewEntryRow[] = [];
  readonly #newRuns: NewRun[] = [];
  readonly #totals = new EntryTotals();
  readonly #movedLeaves = new Map<string, EntrySeq | null>();
  readonly #moves: PlannedMove[] = [];
  readonly #labels = new Map<EntrySeq, { readonly label: string; readonly createdAtMs: number } | null>();
  readonly #removedPrefixes: string[] = [];
  readonly #values = new Map<string, EncodedValue | null>();

  constructor(tenant: string, session: LockedSession, facts: Facts, fileTools: FileTools) {
    this.#tenant = tenant;
    this.#session = session;
    this.#fileTools = fileTools;
    this.#present = { leaves: new Map(facts.leaves), values: facts.values };
    this.#runs = [...facts.runs];
    this.#marks = [...facts.marks];
    this.#lastSeq = session.lastSeq;
    for (const entry of facts.entries) this.#know(entry);
  }

  get id(): SessionId {
    return this.#session.id;
  }

  /** Returns the changes. Called once, after the last write. */
  takeChanges(): Changes {
    return {
      entries: this.#entries,
      runs: this.#newRuns,
      totals: this.#totals.take(),
      leaves: this.#movedLeaves,
      moves: this.#moves,
      labels: this.#labels,
      removedPrefixes: this.#removedPrefixes,
      values: this.#values,
    };
  }

  /** An entry that a leaf is at may be known twice, once without its payload. */
  #know(entry: EntryFact): void {
    if (entry.payload === null && this.#bySeq.has(entry.seq)) return;
    this.#byId.set(entry.id, entry);
    this.#bySeq.set(entry.seq, entry);
  }

  findLeaf(name: string): EntrySeq | null | undefined {
    return this.#present.leaves.get(name);
  }

  setLeaf(name: string, seq: EntrySeq | null): void {
    this.#present.leaves.set(name, seq);
    this.#movedLeaves.set(name, seq);
  }

  createLeaf(name: string, seq: EntrySeq | null): void {
    assertLeafName(name);
    this.setLeaf(name, seq);
  }

  compareAndSetLeaf(name: string, expected: EntrySeq | null, to: EntrySeq | null): boolean {
    if (this.findLeaf(name) !== expected) return false;
    this.setLeaf(name, to);
    return true;
  }

  recordMove(name: string, from: EntrySeq | null, to: EntrySeq | null): void {
    this.#moves.push({ name, from, to });
  }

  stateAt(seq: EntrySeq | null): PathState {
    const entry = seq === null ? undefined : this.#bySeq.get(seq);
    return entry === undefined ? EMPTY_PATH : toPathState(entry);
  }

  requireState(id: EntryId): EntryPathState {
    const entry = this.#require(id);
    return { ...toPathState(entry), entryId: entry.id, seq: entry.seq };
  }

  requireSeq(id: EntryId): EntrySeq {
    return this.#require(id).seq;
  }

  #require(id: EntryId): EntryFact {
    const entry = this.#byId.get(id);
    if (entry === undefined) throw new EntryNotFoundError(this.#session.id, id);
    return entry;
  }

  find(id: EntryId): EntrySeq | undefined {
    return this.#byId.get(id)?.seq;
  }

  /** Returns the facts of the entry with this id, if they are known. */
  protected factOf(id: EntryId): EntryFact | undefined {
    return this.#byId.get(id);
  }

  /** True if an entry has no children: none continues its run, and no run begins below it. */
  isTip(seq: EntrySeq): boolean {
    const next = runAt(this.#runs, seq + 1);
    return (seq === this.#lastSeq || next?.start === seq + 1) && !this.#runs.some(({ parent }) => parent === seq);
  }

  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean {
    let at = seq;
    while (at !== null && at > ancestor) {
      const run = runAt(this.#runs, at);
      if (run === undefined || run.start <= ancestor) return run !== undefined;
      at = run.parent;
    }
    return at === ancestor;
  }

  isKind(seq: EntrySeq, kind: number): boolean {
    return this.#bySeq.get(seq)?.kind === kind;
  }

  systemsUpTo(seq: EntrySeq): readonly EntrySeq[] {
    return this.#marked(SYSTEM, (mark) => mark.seq <= seq);
  }

  compactionsBefore(seq: EntrySeq): readonly EntrySeq[] {
    return this.#marked(COMPACTION, (mark) => mark.seq < seq);
  }

  editsOf(target: EntrySeq): readonly EditOf[] {
    return this.#marks.filter((mark) => mark.kind === EDIT && mark.targetSeq === target).reverse();
  }

  #marked(kind: number, matches: (mark: MarkFact) => boolean): readonly EntrySeq[] {
    return this.#marks.flatMap((mark) => (mark.kind === kind && matches(mark) ? [mark.seq] : [])).reverse();
  }

  findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    const known = entry.id === undefined ? undefined : this.#byId.get(entry.id);
    if (known === undefined) return undefined;
    requireSameEntry(this.#session.id, entry, { type: typeOf(known.kind), json: known.payload ?? "", parentSeq: known.parentSeq }, parent);
    return this.requireState(known.id);
  }

  write(parent: PathState, entry: ImportedEntry): EntryPathState {
    const { id = newEntryId(), payload } = entry;
    const writable = toWritable(entry);
    const seq = toEntrySeq(this.#lastSeq + 1);
    const facts = factsOfImported(entry, writable.payloadJson, { directory: this.#session.cwd, fileTools: this.#fileTools });
    const place = derivePathState(this, parent, id, seq, facts.effect);
    const { operations } = facts;
    const row: NewEntryRow = {
      ...entryColumns(facts, writable, place, parent.seq),
      is_error: facts.isError,
      omits: omits(facts),
      is_private: facts.isPrivate,
      inherited: false,
      file_operations: operations.length === 0 ? null : JSON.stringify(operations),
      words: vectorOf(textToWrite(payload), this.#tenant),
      payload: writable.payloadJson,
    };
    this.#lastSeq = seq;
    this.#entries.push(row);
    this.#totals.add(facts, writable.createdAtMs, row.depth);
    this.#know({ ...row, parentSeq: parent.seq });
    this.#place(row);
    return place.state;
  }

  /** Adds a new entry to the runs and marks of the session. */
  #place(row: NewEntryRow): void {
    if (row.seq === 1 || row.parent_seq !== row.seq - 1) {
      const run = { start: row.seq, parent: row.parent_seq, depth: row.depth };
      this.#runs.push(run);
      this.#newRuns.push(run);
    }
    if (row.kind === SYSTEM || row.kind === COMPACTION || row.kind === EDIT)
      this.#marks.push({ seq: row.seq, kind: row.kind, targetSeq: row.target_seq, omits: row.omits });
  }

  setLabel(entry: EntrySeq, label: string | null, createdAtMs: number): void {
    const line = label === null ? "" : toSingleLine(label);
    this.#labels.set(entry, line === "" ? null : { label: line, createdAtMs });
  }

  requireValue(key: string, expected: unknown): void {
    requireExpected(this.#session.id, key, this.#valueOf(key.toWellFormed()), expected);
  }

  #valueOf(key: string): string | undefined {
    const written = this.#values.get(key);
    if (written !== undefined) return written?.json;
    return this.#removedPrefixes.some((prefix) => key.startsWith(prefix)) ? undefined : this.#present.values.get(key);
  }

  setValue(key: string, value: unknown): void {
    this.#values.set(key.toWellFormed(), encodeValue(key, value) ?? null);
  }

  deleteValues(prefix: string): void {
    const start = prefix.toWellFormed();
    for (const key of this.#values.keys()) if (key.startsWith(start)) this.#values.delete(key);
    this.#removedPrefixes.push(start);
  }
}
