import { createHash } from "node:crypto";
import type { JudgedEntry } from "../entry/validate.js";
import { EntryConflictError, InvalidEntryError, InvalidReferenceError, UnserializableValueError } from "../errors/session-errors.js";
import { quoted } from "../ids/ids.js";
import type { ImportedSession, ImportOptions } from "../port/session-storage.js";
import type { ImportProblem, SourceEntry, SourceRecord, SourceSession } from "../source/source-session.js";
import type { Connection } from "../storage/connection.js";
import { findEntryRow, findEntrySeq, payloadOf, START, type Tip, tipAt } from "../tree/entry-rows.js";
import { EntryWriter, type Target } from "../tree/entry-writer.js";
import { Marks, wholeId } from "./marks.js";
import { isGrown, repaired, storable } from "./repair.js";

/** Problems of one code that are kept; beyond it they are only counted, so that a broken file of a gigabyte does not fill memory. */
const MOST_OF_A_CODE = 1000;

/** Longest message of a problem, in characters. What it quotes of a file may be of any length. */
const MESSAGE_LENGTH = 500;

/** How often progress is reported, in records. */
const PROGRESS_EVERY = 250;

/** The gate, handed in: it is loaded only where something is written. */
export type Judge = (given: unknown) => JudgedEntry;

/** Writes the records of one source session into one session, inside one transaction. */
export class SessionImport {
  readonly #writer: EntryWriter;
  readonly #marks: Marks;
  readonly #problems: ImportProblem[] = [];
  readonly #problemCounts = new Map<ImportProblem["code"], number>();
  #records = 0;
  /** The first entry that this run wrote. */
  #firstSeq: number | undefined;
  #firstId: string | undefined;
  /** The newest entry of an earlier import that this run has met: it has met those before it too, in the order of the file. */
  #knownUpTo = 0;
  /** Entries that an earlier import met half written, by the id they share with their whole. */
  readonly #grownTips = new Map<string, Tip>();
  #added = 0;
  #known = 0;
  #foreignAdded = 0;
  /** The entry written or met last: parent of what has lost its own, and the leaf where the source names none. */
  #last: Tip = START;

  constructor(
    private readonly connection: Connection,
    private readonly target: Target,
    private readonly options: ImportOptions,
    private readonly judge: Judge,
    private readonly isNew: boolean,
  ) {
    this.#writer = new EntryWriter(connection, target);
    this.#marks = new Marks(connection, target, isNew);
  }

  run(source: SourceSession): Omit<ImportedSession, "claimedId"> {
    for (const record of source.records()) {
      this.#take(record);
      this.#records += 1;
      if (this.#records % PROGRESS_EVERY === 0) this.options.onRecords?.(this.#records);
    }
    // A file that shares no entry with the session of its id is another conversation that only claims the id.
    if (!this.isNew && this.#known === 0 && this.#added > 0) throw new DifferentSession(this.#firstId ?? "");
    this.#writer.flush();
    this.#marks.settleLabels();
    this.#marks.settleTitle(source.header.title);
    this.#marks.settleLeaf(this.#last, this.#added > 0);
    return this.#result();
  }

  #take(record: SourceRecord): void {
    switch (record.kind) {
      case "entry":
        this.#last = this.#entry(record);
        return;
      case "problem":
        this.#report(record.problem);
        return;
      case "label":
      case "title":
      case "leaf":
      case "value":
        this.#marks.take(record);
        return;
    }
  }

  #entry(record: SourceEntry): Tip {
    const parent = this.#parent(record);
    const judged = this.#judged(record);
    try {
      return this.#append(parent, judged);
    } catch (error) {
      if (error instanceof EntryConflictError) return this.#conflicting(record, parent, judged);
      if (error instanceof InvalidReferenceError) return this.#unreferred(record, parent, judged, error);
      throw error;
    }
  }

  #parent(record: SourceEntry): Tip {
    if (record.parentId === null) return START;
    if (record.parentId === this.#last.entryId) return this.#last;
    const grown = this.#grownTips.get(record.parentId);
    if (grown !== undefined) return grown;
    const seq = findEntrySeq(this.connection, this.target.seq, record.parentId);
    if (seq !== undefined) return tipAt(this.connection, seq);
    this.#problem(
      record,
      "missing-parent",
      `the parent ${quoted(record.parentId)} of entry ${quoted(record.id)} is not there; it was put under the entry before it`,
    );
    return this.#last;
  }

  #judged(record: SourceEntry): JudgedEntry {
    const place = { id: record.id, createdAtMs: record.createdAtMs };
    try {
      return { ...this.judge(record.payload), ...place };
    } catch (error) {
      if (!(error instanceof InvalidEntryError || error instanceof UnserializableValueError)) throw error;
      this.#problem(record, "invalid-record", `${error.message} Kept whole as a foreign entry.`);
      return { ...this.#foreign(record.payload), ...place };
    }
  }

  #foreign(payload: unknown): JudgedEntry {
    const foreign = { type: "foreign", originalType: typeNameOf(payload) };
    try {
      return this.judge({ ...foreign, raw: payload });
    } catch (error) {
      // Nested too deep, or a number that is none: with text in its place it is kept all the same.
      if (!(error instanceof UnserializableValueError)) throw error;
      return this.judge({ ...foreign, raw: storable(payload) });
    }
  }

  #append(parent: Tip, judged: JudgedEntry): Tip {
    const { tip, known } = this.#writer.append(parent, judged);
    if (known) {
      this.#known += 1;
      this.#knownUpTo = Math.max(this.#knownUpTo, tip.seq);
    } else {
      this.#added += 1;
      this.#firstSeq ??= tip.seq;
      this.#firstId ??= tip.entryId ?? undefined;
    }
    if (!known && judged.payload.type === "foreign") this.#foreignAdded += 1;
    return tip;
  }

  /** Another entry has this id: see whether it is this one in another state, or another one altogether. */
  #conflicting(record: SourceEntry, parent: Tip, judged: JudgedEntry): Tip {
    // What a repair made of this record at the first import is the same record.
    const fixed = repaired(judged.payload);
    const again = fixed === undefined ? undefined : this.#tryAppend(parent, { ...judged, payload: fixed });
    if (again !== undefined) return again;
    if (this.#hasGrown(record.id, judged)) return this.#grown(record, parent, judged);
    if (!this.#isMet(record.id)) throw new DifferentSession(JSON.stringify(judged));
    const id = `${record.line}:${record.id.slice(0, 100)}`;
    this.#problem(record, "duplicate-id", `another entry has the id ${quoted(record.id)}; this one is kept as ${id}`);
    return this.#append(parent, { ...judged, id });
  }

  #hasGrown(id: string, judged: JudgedEntry): boolean {
    const row = findEntryRow(this.connection, this.target.seq, id);
    return row !== undefined && !this.#isMet(id) && isGrown(payloadOf(row), judged.payload);
  }

  /** The rest of what was half there: the whole becomes a sibling, and what follows hangs on that. */
  #grown(record: SourceEntry, parent: Tip, judged: JudgedEntry): Tip {
    const digest = createHash("sha256").update(JSON.stringify(judged.payload)).digest("hex").slice(0, 8);
    const tip = this.#append(parent, { ...judged, id: wholeId(digest, record.id) });
    this.#grownTips.set(record.id, tip);
    this.#marks.supersede(record.id);
    return tip;
  }

  /** Whether the entry of this id came earlier in this source, written by this run or known to it. */
  #isMet(id: string): boolean {
    const seq = findEntrySeq(this.connection, this.target.seq, id);
    if (seq === undefined) return false;
    return seq <= this.#knownUpTo || (this.#firstSeq !== undefined && seq >= this.#firstSeq);
  }

  #tryAppend(parent: Tip, judged: JudgedEntry): Tip | undefined {
    try {
      return this.#append(parent, judged);
    } catch (error) {
      if (error instanceof EntryConflictError) return undefined;
      throw error;
    }
  }

  #unreferred(record: SourceEntry, parent: Tip, judged: JudgedEntry, error: InvalidReferenceError): Tip {
    const fixed = repaired(judged.payload) ?? judged.payload;
    const code = fixed.type === "compaction" ? "missing-kept-entry" : "invalid-record";
    // Old files hold the goal of a move in `fromId`, so there it is only a hint (regression R62).
    if (fixed.type !== "branch_summary")
      this.#problem(record, code, `${error.field} ${quoted(error.entryId)} ${error.reason}; kept without it`);
    return this.#append(parent, { ...judged, payload: fixed });
  }

  #problem(record: SourceEntry, code: ImportProblem["code"], message: string): void {
    this.#report({ code, path: this.options.path, line: record.line, message });
  }

  #report(problem: ImportProblem): void {
    const count = (this.#problemCounts.get(problem.code) ?? 0) + 1;
    this.#problemCounts.set(problem.code, count);
    if (count <= MOST_OF_A_CODE) this.#problems.push({ ...problem, message: quoted(problem.message, MESSAGE_LENGTH) });
  }

  #result(): Omit<ImportedSession, "claimedId"> {
    return {
      sessionId: this.target.id,
      outcome: this.isNew ? "created" : this.#added > 0 ? "extended" : "unchanged",
      entriesAdded: this.#added,
      entriesKnown: this.#known,
      foreignAdded: this.#foreignAdded,
      problems: this.#problems,
      problemCount: [...this.#problemCounts.values()].reduce((sum, count) => sum + count, 0),
      problemCounts: Object.fromEntries(this.#problemCounts),
    };
  }
}

function typeNameOf(payload: unknown): string {
  const type = typeof payload === "object" && payload !== null && "type" in payload ? payload.type : undefined;
  return typeof type === "string" ? type : "unknown";
}

/**
 * Thrown out of the transaction of an import to undo it: the store's session of this id holds other entries, so the
 * source goes into a session of its own. Never leaves this folder.
 */
export class DifferentSession extends Error {
  override readonly name = "DifferentSession";
  constructor(
    /** What was found different: names the other session, so that importing again finds it. */
    readonly evidence: string,
  ) {
    super("the session holds other entries");
  }
}
