import type { ValidatedEntry } from "../../entry/validate.js";
import { InvalidReferenceError } from "../../errors/session-errors.js";
import { newEntryId } from "../../ids/ids.js";
import type { EntryFacts } from "../../port/entry-facts.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../port/rows.js";
import { entryColumns, omits, requireSameEntry, toPayloadJson, type WritableEntry } from "../../rules/entry-columns.js";
import { type FactsContext, factsOf } from "../../rules/entry-facts.js";
import type { ImportedEntry } from "../../rules/import/import-target.js";
import { type DerivedState, derivePathState, type EntryPathState, type PathState } from "../../rules/path-rules.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { isSqliteError } from "../file/sqlite-errors.js";
import { payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { StoredEntry } from "../schema.js";
import type { SessionRef } from "../sessions/session-rows.js";
import { addWaypoint, SHORTEST_STRIDE } from "./ancestry.js";
import type { TypedPayloadRow } from "./entry-rows.js";
import { insertFileOperations } from "./file-operations.js";
import { readPathState, StoredPathFacts } from "./path-state.js";
import { SessionTotals } from "./statistics.js";
import { TreeEnds } from "./tree-ends.js";

/** The session that is written to, and the host's tools that touch files. */
export interface WriteTarget extends SessionRef {
  readonly fileTools: FileTools;
}

/** The maximum number of entries of a long write that are held in memory, for the ends of the tree. */
const MOST_HELD = 10_000;

/** The result of an append. `isKnown`: an equal entry of the same id existed, and nothing was written. */
interface AppendResult {
  readonly state: EntryPathState;
  readonly isKnown: boolean;
}

/**
 * Writes entries of one session with everything derived from them: waypoints, file operations, counts and usage. Use one
 * instance inside one `write`, because it reads the next free row number only once, and call `flushTotals` at the end.
 */
export class EntryWriter implements FactsContext {
  readonly #connection: Connection;
  readonly #target: WriteTarget;
  readonly #facts: StoredPathFacts;
  readonly #totals: SessionTotals;
  readonly #ends: TreeEnds;
  #directory: string | null | undefined;
  #hasOwnTools: boolean | undefined;
  #next: EntrySeq | undefined;
  #firstWritten: EntrySeq | undefined;
  /** The entries written last, each the parent of the next; at most 16. */
  #line: EntrySeq[] = [];

  /** `inherited`: 1 for the copies of a fork. */
  constructor(connection: Connection, target: WriteTarget, inherited: 0 | 1 = 0) {
    this.#connection = connection;
    this.#target = target;
    this.#facts = new StoredPathFacts(connection, target.seq);
    this.#totals = new SessionTotals(target.seq, inherited);
    this.#ends = new TreeEnds(target.seq);
  }

  /**
   * Appends an entry below `parent`, unless an equal entry of the same id exists.
   *
   * @throws {EntryConflictError} the id belongs to an entry with other content.
   * @throws {InvalidReferenceError} the entry refers to an entry that is not on its path or not in its session.
   */
  append(parent: PathState, entry: ValidatedEntry): AppendResult {
    const known = this.findEqual(entry);
    return known === undefined ? this.write(parent, entry) : { state: known, isKnown: true };
  }

  /** The same for an entry that is probably new: looks for an existing one only if the entry cannot be written. */
  appendNew(parent: PathState, entry: ImportedEntry): AppendResult {
    try {
      return this.write(parent, entry);
    } catch (error) {
      // Neither error has changed a row.
      if (!(error instanceof InvalidReferenceError || isSqliteError(error, "SQLITE_CONSTRAINT_UNIQUE"))) throw error;
      const known = this.findEqual(entry);
      if (known === undefined) throw error;
      return { state: known, isKnown: true };
    }
  }

  /**
   * Returns the existing entry of this id if its content is equal; with `parent`, if it is also below that entry.
   *
   * @throws {EntryConflictError} it differs.
   */
  findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    const { id } = entry;
    if (id === undefined) return undefined;
    const row = this.#connection.get(contentById, { session: this.#target.seq, id });
    if (row === undefined) return undefined;
    requireSameEntry(
      this.#target.id,
      entry,
      { type: row.type, json: payloadText(this.#connection, row), parentSeq: row.parent_seq },
      parent,
    );
    return { ...readPathState(this.#connection, row.seq), entryId: id, seq: row.seq };
  }

  /** Writes an entry whose id does not exist yet. */
  write(parent: PathState, entry: ImportedEntry): AppendResult {
    const { id = newEntryId(), createdAtMs = Date.now(), origin = null, payloadJson = toPayloadJson(entry.payload) } = entry;
    const facts = this.#preparedFacts(entry) ?? factsOf({ payload: entry.payload, payloadJson }, this);
    const place = derivePathState(this.#facts, parent, id, this.reserveSeq(), facts.effect);
    this.insert(parent.seq, { payloadJson, createdAtMs, origin, inherited: 0 }, facts, place);
    return { state: place.state, isKnown: false };
  }

  /** The facts that another thread has computed, if it knew the directory and the host's tools. */
  #preparedFacts({ prepared }: ImportedEntry): EntryFacts | undefined {
    if (prepared === undefined || prepared.directory !== this.directory) return undefined;
    this.#hasOwnTools ??= Object.keys(this.fileTools).length > 0;
    return this.#hasOwnTools ? undefined : prepared.facts;
  }

  /** Returns the row number of the next entry. */
  reserveSeq(): EntrySeq {
    this.#next ??= nextEntrySeq(this.#connection);
    return this.#next;
  }

  /** Inserts an entry with the row number that `reserveSeq` returned. */
  insert(parentSeq: EntrySeq | null, entry: Omit<WritableEntry, "payload">, facts: EntryFacts, place: DerivedState): void {
    const { seq, depth } = place.state;
    this.#firstWritten ??= seq;
    this.#insertRow(parentSeq, entry, facts, place);
    this.#next = toEntrySeq(seq + 1);
    if (this.#line.at(-1) !== parentSeq) this.#line = [];
    addWaypoint(this.#connection, seq, parentSeq, depth, this.#line.at(-SHORTEST_STRIDE));
    this.#line.push(seq);
    if (this.#line.length > SHORTEST_STRIDE) this.#line.shift();
    insertFileOperations(this.#connection, seq, facts.operations);
    this.#ends.add(seq, parentSeq);
    if (this.#ends.size >= MOST_HELD) this.#ends.flush(this.#connection);
    this.#totals.add(facts, entry.createdAtMs, depth);
  }

  #insertRow(parentSeq: EntrySeq | null, entry: Omit<WritableEntry, "payload">, facts: EntryFacts, place: DerivedState): void {
    const row: StoredEntry = {
      ...entryColumns(facts, entry, place, parentSeq),
      session_seq: this.#target.seq,
      is_error: facts.isError ? 1 : 0,
      omits: omits(facts) ? 1 : 0,
      inherited: entry.inherited,
    };
    insertStored(this.#connection, row, entry.payloadJson, facts.isPrivate);
  }

  /** The directory of the session; null: unknown. Read once. */
  get directory(): string | null {
    if (this.#directory === undefined) this.#directory = this.#connection.get(directoryOf, { session: this.#target.seq })?.cwd ?? null;
    return this.#directory;
  }

  /** The host's tools that touch files. */
  get fileTools(): FileTools {
    return this.#target.fileTools;
  }

  /** The first entry that this writer wrote. */
  get firstWritten(): EntrySeq | undefined {
    return this.#firstWritten;
  }

  /** Adds the counts and usage of the appended entries to those of the session, and their tips and branch points. */
  flushTotals(): void {
    this.#ends.flush(this.#connection);
    this.#totals.flush(this.#connection);
  }
}

const contentById = query<{ session: SessionSeq; id: string }, TypedPayloadRow & Pick<StoredEntry, "parent_seq">>(({ db, p }) =>
  db
    .selectFrom("entry")
    .leftJoin("payload", "payload.entry_seq", "entry.seq")
    .select(["seq", "session_seq", "parent_seq", "type", "payload.json as payload_json"])
    .where("session_seq", "=", p.session)
    .where("id", "=", p.id),
);

// Row numbers of deleted entries are not used again.
const nextSeq = query<Record<never, never>, { seq: EntrySeq }>(({ sql }) =>
  rawQuery(sql<{ seq: EntrySeq }>`SELECT max(deleted_seq, coalesce((SELECT max(seq) FROM entry), 0)) + 1 AS seq FROM store_state`),
);

/** Returns the row number of the next entry of the store. Call it inside `write`. */
export function nextEntrySeq(connection: Connection): EntrySeq {
  return connection.get(nextSeq, {})?.seq ?? toEntrySeq(1);
}

const insertRow = query<StoredEntry>(({ db, p }) =>
  db.insertInto("entry").values({
    seq: p.seq,
    session_seq: p.session_seq,
    id: p.id,
    parent_seq: p.parent_seq,
    kind: p.kind,
    depth: p.depth,
    created_at_ms: p.created_at_ms,
    compaction_seq: p.compaction_seq,
    target_seq: p.target_seq,
    model_seq: p.model_seq,
    thinking_seq: p.thinking_seq,
    system_seq: p.system_seq,
    call_id: p.call_id,
    is_error: p.is_error,
    omits: p.omits,
    inherited: p.inherited,
    payload_bytes: p.payload_bytes,
    preview: p.preview,
    custom_type: p.custom_type,
    origin: p.origin,
  }),
);

const directoryOf = query<{ session: SessionSeq }, { cwd: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("cwd").where("seq", "=", p.session),
);

const insertPayload = query<{ seq: EntrySeq; json: string }>(({ db, p }) =>
  db.insertInto("payload").values({ entry_seq: p.seq, json: p.json }),
);

const insertPrivate = query<{ seq: EntrySeq }>(({ db, p }) => db.insertInto("private_entry").values({ entry_seq: p.seq }));

/** Inserts the row of an entry and its payload. `isPrivate`: searches leave it out. */
export function insertStored(connection: Connection, row: StoredEntry, payloadJson: string, isPrivate: boolean): void {
  connection.run(insertRow, row);
  connection.run(insertPayload, { seq: row.seq, json: payloadJson });
  if (isPrivate) connection.run(insertPrivate, { seq: row.seq });
}
