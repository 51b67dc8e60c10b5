import { hash } from "node:crypto";
import type { EntryPayload } from "../../entry/entry.js";
import { contentKey, originOf } from "../../entry/origins.js";
import { EntryConflictError, InvalidEntryError, InvalidReferenceError, UnserializableValueError } from "../../errors/session-errors.js";
import { type EntryId, isId, quoted, type SessionId } from "../../ids/ids.js";
import { MAIN_LEAF } from "../../port/records.js";
import type { ImportedSession, ImportOptions, LeafKept } from "../../port/session-storage.js";
import {
  type ImportProblem,
  type OpenEnd,
  QUIET_MS,
  ReadFromStartError,
  type SourceEntry,
  type SourceHeader,
  type SourceRecord,
  type SourceSession,
  type StoredSourceEntry,
} from "../../port/source.js";
import type { Validate } from "../batch-writer.js";
import { EMPTY_PATH, type PathState } from "../derived-columns.js";
import { AnnotationWriter, continuedEntryId } from "./annotation-writer.js";
import { DifferentSessionError } from "./different-session.js";
import type { ImportedEntry, ImportTarget, WrittenEntry } from "./import-target.js";
import { hasReference, PreparedImport, withId, withPayload } from "./prepare.js";
import { isContinuation, mapReferences, removeReference, saysTheSame, toForeignEntry, toStoredMs } from "./repair.js";

/** The interval of progress reports, in records. */
const PROGRESS_EVERY = 250;

/** Writes the records of one source session into one session, inside one transaction. */
export class SessionImporter {
  readonly #target: ImportTarget;
  readonly #options: ImportOptions;
  readonly #validate: Validate;
  /** True if this import created the session, or if the session has no entries. */
  readonly #isNew: boolean;
  readonly #annotations: AnnotationWriter;
  readonly #problems = new ProblemList();
  #records = 0;
  /** The first entry that this run wrote. */
  #firstSeq: number | undefined;
  #firstId: string | undefined;
  /** The newest entry of an earlier import that this run has read again. It has read all entries before it. */
  #knownUpTo = 0;
  /** The ids that were read, if the file was synced before: its program may have changed any record since. */
  readonly #readIds: Set<EntryId> | undefined;
  /** The later states of records that an earlier import read, by the id of the record, and what follows them. */
  readonly #continuedTips = new Map<string, PathState>();
  /** The ids of stored entries to which an earlier version of the reader gave another id, by the id of today. */
  readonly #formerIds = new Map<EntryId, EntryId>();
  #added = 0;
  #known = 0;
  #foreignAdded = 0;
  #merged = 0;
  /** The time of entries whose source has none. */
  #startMs = 0;
  #heldUntilMs: number | null = null;
  /** The last entry: the parent of an entry whose parent is missing, and the leaf if the source names none. */
  #last: PathState = EMPTY_PATH;
  /** Returns the payload that was written or found last. */
  #lastPayload: () => EntryPayload | undefined = () => undefined;
  readonly #stored: StoredSourceEntry[] = [];
  /** The sessions to which the origins of entries refer. */
  readonly #references = new Set<SessionId>();

  constructor(target: ImportTarget, options: ImportOptions, validate: Validate, isNew: boolean) {
    this.#target = target;
    this.#options = options;
    this.#validate = validate;
    this.#isNew = isNew;
    const { known, from } = options.sync ?? {};
    this.#readIds = known !== undefined && from === undefined ? new Set() : undefined;
    this.#annotations = new AnnotationWriter(target, isNew, options.sync?.known?.title ?? undefined);
  }

  /** The entries of the part of a source; only with `options.append`. */
  get stored(): readonly StoredSourceEntry[] {
    return this.#stored;
  }

  /** The last entry of the source, in the store. */
  get lastId(): EntryId | null {
    return this.#last.entryId;
  }

  /** The title that the source set, as it is stored; null: it set none. */
  get title(): string | null {
    return this.#annotations.title;
  }

  /** Until when the end of the source is left out; null: nothing was. */
  get heldUntilMs(): number | null {
    return this.#heldUntilMs;
  }

  /** True if entries have other ids than their records. Later records name the latter, which only a run from the start knows. */
  get hasOtherIds(): boolean {
    return this.#continuedTips.size > 0 || this.#formerIds.size > 0;
  }

  run(source: SourceSession): Omit<ImportedSession, "claimedId"> {
    this.#last = this.#startOf();
    this.#startMs = source.header.createdAtMs ?? toStoredMs(this.#options.writtenAtMs ?? Date.now());
    for (const record of source.records(this.#options.sync?.from)) {
      if (record.kind === "open" && this.#holds(record)) break;
      this.#importRecord(record);
      this.#records += 1;
      if (this.#records % PROGRESS_EVERY === 0) this.#options.onRecords?.(this.#records);
    }
    this.#target.settle(this.#references);
    // A file that shares no entry with the session of its id is another conversation with the same id.
    if (!this.#isNew && this.#known === 0 && this.#added > 0 && !this.#continues) throw new DifferentSessionError(this.#firstId ?? "");
    this.#annotations.applyLabels();
    this.#annotations.applyHeaderTitle(source.header.title);
    return this.#toResult(this.#annotations.applyLeaf(this.#last, this.#added > 0, this.#leafOfSource(source.header)));
  }

  /** Where the part of the source before this one put the leaf. */
  #leafOfSource(header: SourceHeader): EntryId | null | undefined {
    if (header.isContinuation === true) return this.#target.stateAt(this.#target.findLeaf(MAIN_LEAF) ?? null).entryId;
    return this.#options.append?.leaf ?? this.#options.sync?.known?.leafId;
  }

  /** True if an earlier import read this source, so that the session is certainly the one of the source. */
  get #continues(): boolean {
    return this.#options.append !== undefined || this.#options.sync?.known !== undefined;
  }

  /** Where entries without a known parent go: at first, below the part before this one. */
  #startOf(): PathState {
    const { append, sync } = this.#options;
    const after = append?.after ?? sync?.from?.lastId ?? null;
    const isAtLeaf = append !== undefined && after === null;
    const seq = isAtLeaf ? this.#target.findLeaf(MAIN_LEAF) : after && this.#target.find(after);
    return typeof seq === "number" ? this.#target.stateAt(seq) : EMPTY_PATH;
  }

  /** Returns true if the open end of the source must be left out, and stores until when. */
  #holds(end: OpenEnd): boolean {
    const until = this.#options.heldUntil?.(end) ?? null;
    if (until === null) return false;
    this.#heldUntilMs = Math.max(until, this.#heldUntilMs ?? 0);
    if (end.leafId !== undefined) this.#importRecord({ kind: "leaf", name: MAIN_LEAF, entryId: end.leafId });
    return true;
  }

  #importRecord(record: SourceRecord): void {
    switch (record.kind) {
      case "open":
        return;
      case "entry":
        this.#addEntry(this.#withStoredId(this.#storable(record)));
        return;
      case "problem":
        // The rest of the last line may be on its way.
        if (record.problem.code !== "torn-line" || !this.#holds({ kind: "open", waitMs: QUIET_MS })) this.#problems.add(record.problem);
        return;
      case "merged":
        this.#merged += 1;
        return;
      case "label":
        this.#annotations.add({ ...record, entryId: this.#currentId(record.entryId) });
        return;
      case "leaf":
        this.#annotations.add({ ...record, entryId: record.entryId === null ? null : this.#currentId(record.entryId) });
        return;
      case "title":
      case "value":
        this.#annotations.add(record);
        return;
    }
  }

  #addEntry(record: SourceEntry): void {
    this.#last = this.#importEntry(record);
    this.#keep(record);
    this.#readIds?.add(record.id);
  }

  /** The record with a time and an id that the store takes, whatever its reader gave. */
  #storable(record: SourceEntry): SourceEntry {
    const createdAtMs = toStoredMs(record.createdAtMs);
    const { id: given } = record;
    // Earlier versions stored any id.
    const isTaken = (typeof given === "string" && isId(given)) || this.#target.find(given) !== undefined;
    if (isTaken && createdAtMs === record.createdAtMs) return record;
    const id = isTaken ? given : hash("sha256", String(given), "hex").slice(0, 16);
    if (!isTaken) {
      this.#formerIds.set(given, id);
      this.#addProblem(record, "invalid-record", `an entry cannot have the id ${quoted(String(given))}; imported as ${id}`);
    }
    return { ...record, id, createdAtMs, payload: record.payload, prepared: undefined };
  }

  /** The record with the ids under which an import with an earlier version of the reader has stored it and its parent. */
  #withStoredId(record: SourceEntry): SourceEntry {
    const { id, formerId, parentId } = record;
    const isFormer =
      !this.#isNew && formerId !== undefined && this.#target.find(id) === undefined && this.#target.find(formerId) !== undefined;
    if (isFormer) this.#formerIds.set(id, formerId);
    const parent = parentId === null ? null : (this.#formerIds.get(parentId) ?? parentId);
    // The key of a content may contain the id.
    if (isFormer) return { ...record, id: formerId, parentId: parent, payload: record.payload, prepared: undefined };
    return parent === parentId ? record : { ...record, parentId: parent, payload: record.payload };
  }

  /** The id of the entry for a record: that of its later state, if there is one. */
  #currentId(id: EntryId): EntryId {
    const stored = this.#formerIds.get(id) ?? id;
    return this.#continuedTips.get(stored)?.entryId ?? stored;
  }

  #keep({ line, id }: SourceEntry): void {
    const stored = this.#last.entryId;
    if (this.#options.append === undefined || stored === null) return;
    const payload = this.#lastPayload();
    if (payload === undefined) return;
    this.#stored.push({ line, sourceId: id, id: stored, payload });
  }

  #importEntry(record: SourceEntry): PathState {
    const parent = this.#findParent(record);
    const validated = this.#validateRecord(record);
    try {
      return this.#append(parent, validated);
    } catch (error) {
      if (error instanceof EntryConflictError) return this.#appendConflicting(record, parent, validated);
      if (error instanceof InvalidReferenceError) return this.#appendWithoutReference(record, parent, validated, error);
      throw error;
    }
  }

  #findParent(record: SourceEntry): PathState {
    if (record.parentId === null) return EMPTY_PATH;
    if (record.parentId === this.#last.entryId) return this.#last;
    const tip = this.#continuedTips.get(record.parentId);
    if (tip !== undefined) return tip;
    const seq = this.#target.find(record.parentId);
    if (seq !== undefined) return this.#target.stateAt(seq);
    this.#addProblem(
      record,
      "missing-parent",
      `the parent ${quoted(record.parentId)} of entry ${quoted(record.id)} is missing; attached to the entry before it`,
    );
    return this.#last;
  }

  #validateRecord(record: SourceEntry): ImportedEntry {
    const place = { id: record.id, createdAtMs: record.createdAtMs || this.#startMs };
    const { prepared } = record;
    if (prepared !== undefined && !this.hasOtherIds)
      return new PreparedImport(record, prepared, place.createdAtMs, this.#referenceOf(record));
    try {
      const given = this.hasOtherIds ? mapReferences(record.payload, (id) => this.#currentId(id)) : record.payload;
      const { payload } = this.#validate(given);
      const origin = this.#originOf(record, payload);
      // A payload that was changed by the validation has another text.
      return { payload, ...place, origin, payloadJson: payload === record.payload ? record.payloadJson : undefined };
    } catch (error) {
      if (!(error instanceof InvalidEntryError || error instanceof UnserializableValueError)) throw error;
      this.#addProblem(record, "invalid-record", `${error.message} Imported as a foreign entry.`);
      const foreign = toForeignEntry(record.payload, this.#validate);
      return { ...foreign, ...place, origin: this.#originOf(record, foreign.payload) };
    }
  }

  #originOf(record: SourceEntry, payload: EntryPayload): string | undefined {
    return hasReference(record) ? this.#referenceOf(record) : contentKey(payload, record.createdAtMs, record.id);
  }

  #referenceOf(record: SourceEntry): string | undefined {
    // No entry is a copy of one of its own session.
    if (record.origin === undefined || !hasReference(record) || record.origin.sessionId === this.#target.id) return undefined;
    this.#references.add(record.origin.sessionId);
    return originOf(record.origin);
  }

  #append(parent: PathState, validated: ImportedEntry): PathState {
    // Entries after a later state of a record are copied below it.
    if (this.#readIds !== undefined && this.#continuedTips.size > 0) this.#target.findEqual(validated, parent);
    const { state, isKnown } = this.#isNew ? this.#target.writeNew(parent, validated) : this.#write(parent, validated);
    if (isKnown) {
      this.#known += 1;
      this.#knownUpTo = Math.max(this.#knownUpTo, state.seq);
    } else {
      this.#added += 1;
      this.#firstSeq ??= state.seq;
      this.#firstId ??= state.entryId;
    }
    const type = validated.prepared?.type ?? validated.payload.type;
    if (!isKnown && type === "foreign") this.#foreignAdded += 1;
    this.#lastPayload = () => validated.payload;
    return state;
  }

  #write(parent: PathState, validated: ImportedEntry): WrittenEntry {
    const known = this.#target.findEqual(validated);
    return known === undefined ? { state: this.#target.write(parent, validated), isKnown: false } : { state: known, isKnown: true };
  }

  /** The session has an entry with this id and other content: an earlier state of this record, or another record. */
  #appendConflicting(record: SourceEntry, parent: PathState, validated: ImportedEntry): PathState {
    // The first import may have stored this record without its invalid reference.
    const fixed = removeReference(validated.payload);
    const again = fixed === undefined ? undefined : this.#tryAppend(parent, withPayload(validated, fixed));
    if (again !== undefined) return again;
    // Entries after a later state of a record are copied below it.
    const stored = this.#continuedTips.size > 0 ? undefined : this.#target.payloadOf(record.id);
    if (stored !== undefined && saysTheSame(stored, validated.payload)) return this.#keepStored(record.id, stored);
    // Which records were read in this run, and what is a later state, is known from the start of the source only.
    if (this.#options.sync?.from !== undefined) throw new ReadFromStartError();
    if (this.#isLaterState(record.id, validated)) return this.#appendContinuation(record, parent, validated);
    if (!this.#continues && !this.#wasReadInThisRun(record.id)) throw new DifferentSessionError(this.#evidenceOf(validated));
    const id = `${record.line}:${record.id.slice(0, 100)}`;
    this.#addProblem(record, "duplicate-id", `another entry has the id ${quoted(record.id)}; imported as ${id}`);
    return this.#append(parent, withId(validated, id));
  }

  /** An earlier version of the reader stored this record. */
  #keepStored(id: EntryId, stored: EntryPayload): PathState {
    const state = this.#target.stateAt(this.#target.find(id) ?? null);
    this.#known += 1;
    this.#knownUpTo = Math.max(this.#knownUpTo, state.seq ?? 0);
    this.#lastPayload = () => stored;
    return state;
  }

  /** True if the record is a later state of the entry with this id. The program of a synced file may write any record again. */
  #isLaterState(id: string, validated: ImportedEntry): boolean {
    if (this.#readIds?.has(id) === false) return true;
    const stored = this.#target.payloadOf(id);
    return stored !== undefined && !this.#wasReadInThisRun(id) && isContinuation(stored, validated.payload);
  }

  /** Appends the later state as a sibling of the earlier one. Later children of the record are appended to it. */
  #appendContinuation(record: SourceEntry, parent: PathState, validated: ImportedEntry): PathState {
    const text = JSON.stringify(this.#inSchemaOrder(validated));
    const named = (digested: string) => withId(validated, continuedEntryId(hash("sha256", digested, "hex").slice(0, 8), record.id));
    const tip = this.#tryAppend(parent, named(text)) ?? this.#append(parent, named(`${text}\n${parent.entryId}`));
    this.#continuedTips.set(record.id, tip);
    this.#annotations.supersede(record.id);
    return tip;
  }

  /** True if this run wrote the entry with this id, or found it already stored. */
  #wasReadInThisRun(id: string): boolean {
    if (this.#readIds !== undefined) return this.#readIds.has(id);
    const seq = this.#target.find(id);
    if (seq === undefined) return false;
    return seq <= this.#knownUpTo || (this.#firstSeq !== undefined && seq >= this.#firstSeq);
  }

  #tryAppend(parent: PathState, validated: ImportedEntry): PathState | undefined {
    try {
      return this.#append(parent, validated);
    } catch (error) {
      if (error instanceof EntryConflictError) return undefined;
      throw error;
    }
  }

  #appendWithoutReference(record: SourceEntry, parent: PathState, validated: ImportedEntry, error: InvalidReferenceError): PathState {
    const fixed = removeReference(validated.payload) ?? validated.payload;
    const code = fixed.type === "compaction" ? "missing-kept-entry" : "invalid-record";
    // In old files `fromId` is the target of the move, so an invalid one is no problem.
    if (fixed.type !== "branch_summary")
      this.#addProblem(record, code, `${error.field} ${quoted(error.entryId)} ${error.reason}; imported without it`);
    return this.#append(parent, withPayload(validated, fixed));
  }

  // Ids are derived from these texts, so the order of members must not depend on the source.
  #inSchemaOrder({ payload }: ImportedEntry): EntryPayload {
    return this.#validate(payload, true).payload;
  }

  #evidenceOf(validated: ImportedEntry): string {
    return JSON.stringify({ payload: this.#inSchemaOrder(validated), id: validated.id, createdAtMs: validated.createdAtMs });
  }

  #addProblem(record: SourceEntry, code: ImportProblem["code"], message: string): void {
    this.#problems.add({ code, path: this.#options.path, line: record.line, message });
  }

  #toResult(leafKept: LeafKept | null): Omit<ImportedSession, "claimedId"> {
    return {
      sessionId: this.#target.id,
      outcome: this.#isNew ? "created" : this.#added > 0 ? "extended" : "unchanged",
      entriesAdded: this.#added,
      entriesKnown: this.#known,
      foreignAdded: this.#foreignAdded,
      recordsMerged: this.#merged,
      ...this.#problems.result,
      heldUntilMs: this.#heldUntilMs,
      leafKept,
    };
  }
}

/** The maximum number of problems of one code that are kept. Further ones are only counted, which bounds the memory for a damaged file. */
const MOST_OF_A_CODE = 1000;

/** The longest message of a problem, in characters. A message may quote the file, so it is cut. */
const MESSAGE_LENGTH = 500;

/** The problems of an import. */
class ProblemList {
  readonly #problems: ImportProblem[] = [];
  readonly #counts = new Map<ImportProblem["code"], number>();

  add(problem: ImportProblem): void {
    const count = (this.#counts.get(problem.code) ?? 0) + 1;
    this.#counts.set(problem.code, count);
    if (count <= MOST_OF_A_CODE) this.#problems.push({ ...problem, message: quoted(problem.message, MESSAGE_LENGTH) });
  }

  get result(): Pick<ImportedSession, "problems" | "problemCount" | "problemCounts"> {
    return {
      problems: this.#problems,
      problemCount: [...this.#counts.values()].reduce((sum, count) => sum + count, 0),
      problemCounts: Object.fromEntries(this.#counts),
    };
  }
}
