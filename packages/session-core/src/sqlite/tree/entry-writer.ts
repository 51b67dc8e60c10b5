import { toPayloadJson } from "../../entry/stored-payload.js";
import type { AddedUsage } from "../../entry/usage.js";
import type { ValidatedEntry } from "../../entry/validate.js";
import { InvalidReferenceError } from "../../errors/session-errors.js";
import { type EntrySeq, newEntryId, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { EntryFacts } from "../../port/entry-facts.js";
import type { SessionRow } from "../../port/records.js";
import { requireSameEntry } from "../../rules/batch-writer.js";
import {
  type AddedCounts,
  chooseFirstText,
  type DerivedState,
  derivePathState,
  type EntryPathState,
  EntryTotals,
  entryColumns,
  type FactsContext,
  factsOfImported,
  omits,
  type PathState,
  type WritableEntry,
} from "../../rules/derived-columns.js";
import type { ImportedEntry } from "../../rules/import/import-target.js";
import type { StoredOperation } from "../../tools/file-operations.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { isSqliteError } from "../file/sqlite-errors.js";
import { payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { FileOperationTable, StoredEntry, UsageTotalTable } from "../schema.js";
import type { TypedPayloadRow } from "./entry-rows.js";
import { addWaypoint, readPathState, SHORTEST_STRIDE, StoredPathFacts } from "./paths.js";

/** The session that is written to, and the host's tools that touch files. */
export interface WriteTarget extends SessionRow {
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
    const facts = factsOfImported(entry, payloadJson, this);
    const place = derivePathState(this.#facts, parent, id, this.reserveSeq(), facts.effect);
    this.insert(parent.seq, { payloadJson, createdAtMs, origin, inherited: 0 }, facts, place);
    return { state: place.state, isKnown: false };
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
    const columns = entryColumns(facts, entry, place, parentSeq);
    // Each column by name: an object of twenty members that begins with a spread takes 10 µs to make and to read, as long as SQLite's insert.
    const row: StoredEntry = {
      seq: columns.seq,
      session_seq: this.#target.seq,
      id: columns.id,
      parent_seq: columns.parent_seq,
      kind: columns.kind,
      depth: columns.depth,
      created_at_ms: columns.created_at_ms,
      compaction_seq: columns.compaction_seq,
      target_seq: columns.target_seq,
      model_seq: columns.model_seq,
      thinking_seq: columns.thinking_seq,
      system_seq: columns.system_seq,
      call_id: columns.call_id,
      is_error: facts.isError ? 1 : 0,
      omits: omits(facts) ? 1 : 0,
      inherited: entry.inherited,
      payload_bytes: columns.payload_bytes,
      preview: columns.preview,
      custom_type: columns.custom_type,
      origin: columns.origin,
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

const operationRow = query<FileOperationTable>(({ db, p }) =>
  db.insertInto("file_operation").values({
    entry_seq: p.entry_seq,
    ordinal: p.ordinal,
    tool_call_id: p.tool_call_id,
    kind: p.kind,
    path: p.path,
    nested: p.nested,
  }),
);

/** Inserts the operation of a tool call on a file. */
export function insertOperation(connection: Connection, row: FileOperationTable): void {
  connection.run(operationRow, row);
}

/** Inserts the files that the tool calls of an entry touch. */
function insertFileOperations(connection: Connection, seq: EntrySeq, operations: readonly StoredOperation[]): void {
  for (let ordinal = 0; ordinal < operations.length; ordinal += 1) {
    const operation = operations[ordinal];
    if (operation !== undefined) insertOperation(connection, { entry_seq: seq, ordinal, ...operation });
  }
}

const insertTip = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.insertInto("tip").values({ session_seq: p.session, entry_seq: p.entry }),
);
const moveTip = query<{ session: SessionSeq; entry: EntrySeq; to: EntrySeq }>(({ db, p }) =>
  db.updateTable("tip").set({ entry_seq: p.to }).where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);
const deleteTip = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.deleteFrom("tip").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);
const tipAt = query<{ session: SessionSeq; entry: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("tip").select("entry_seq as seq").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);

/** True if an entry has no children. Cost: one lookup. */
export function isTip(connection: Connection, session: SessionSeq, entry: EntrySeq): boolean {
  return connection.get(tipAt, { session, entry }) !== undefined;
}

const insertBranchPoint = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db
    .insertInto("branch_point")
    .values({ session_seq: p.session, entry_seq: p.entry })
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Collects which entries new ones make tips and branch points of their session, so that a run of entries writes one tip. Entries
 * without children are in `tip`, so a parent that is not has another child.
 */
export class TreeEnds {
  readonly #session: SessionSeq;
  /** New entries, each with whether it has children by now. */
  readonly #hasChildren = new Map<EntrySeq, boolean>();
  /** Parents that were written before: 1 child is new, or more. */
  readonly #parents = new Map<EntrySeq, number>();
  readonly #branchPoints = new Set<EntrySeq>();

  constructor(session: SessionSeq) {
    this.#session = session;
  }

  add(seq: EntrySeq, parent: EntrySeq | null): void {
    this.#hasChildren.set(seq, false);
    if (parent === null) return;
    const known = this.#hasChildren.get(parent);
    if (known === undefined) this.#parents.set(parent, (this.#parents.get(parent) ?? 0) + 1);
    else if (known) this.#branchPoints.add(parent);
    else this.#hasChildren.set(parent, true);
  }

  /** The number of entries that are held. */
  get size(): number {
    return this.#hasChildren.size;
  }

  /** Writes the collected changes. Call it inside `write`, after the entries. */
  flush(connection: Connection): void {
    const session = this.#session;
    const tips = [...this.#hasChildren].flatMap(([entry, hasChildren]) => (hasChildren ? [] : [entry]));
    for (const [entry, children] of this.#parents) {
      // Usually a new entry takes the place of its parent: one statement.
      const to = tips.at(-1);
      const wasTip = connection.run(to === undefined ? deleteTip : moveTip, { session, entry, to: to ?? entry }) > 0;
      if (wasTip) tips.pop();
      if (!wasTip || children > 1) this.#branchPoints.add(entry);
    }
    for (const entry of this.#branchPoints) connection.run(insertBranchPoint, { session, entry });
    for (const entry of tips) connection.run(insertTip, { session, entry });
    this.#parents.clear();
    this.#branchPoints.clear();
    this.#hasChildren.clear();
  }
}

const addCounts = query<AddedCounts & { session: SessionSeq }>(({ db, sql, p }) =>
  db
    .updateTable("session")
    .set({
      entry_count: sql`entry_count + ${p.entries}`,
      message_count: sql`message_count + ${p.messages}`,
      payload_bytes: sql`payload_bytes + ${p.bytes}`,
      row_count: sql`row_count + ${p.entries}`,
      row_bytes: sql`row_bytes + ${p.bytes}`,
      active_at_ms: sql`max(active_at_ms, ${p.activeAt})`,
      first_text: sql`coalesce(${p.firstText}, first_text, ${p.laterText})`,
    })
    .where("seq", "=", p.session),
);

const storedFirstText = query<{ session: SessionSeq }, { first_text: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("first_text").where("seq", "=", p.session),
);

export const addUsage = query<UsageTotalTable>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO usage_total VALUES (${p.session_seq}, ${p.inherited}, ${p.provider}, ${p.model}, ${p.replies}, ${p.input_tokens},
      ${p.output_tokens}, ${p.cache_read_tokens}, ${p.cache_write_tokens}, ${p.cost_usd}, ${p.recorded_replies})
    ON CONFLICT (session_seq, inherited, provider, model) DO UPDATE SET
      replies = replies + excluded.replies,
      input_tokens = input_tokens + excluded.input_tokens,
      output_tokens = output_tokens + excluded.output_tokens,
      cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
      cost_usd = cost_usd + excluded.cost_usd,
      recorded_replies = recorded_replies + excluded.recorded_replies`),
);

export const addToKind = query<{ session: SessionSeq; kind: number; entries: number }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO kind_count VALUES (${p.session}, ${p.kind}, ${p.entries})
    ON CONFLICT (session_seq, kind) DO UPDATE SET entries = entries + excluded.entries`),
);

/** Collects the increments of a session's totals by new entries, and adds them to the stored totals. */
export class SessionTotals extends EntryTotals {
  readonly #session: SessionSeq;
  readonly #inherited: 0 | 1;

  constructor(session: SessionSeq, inherited: 0 | 1) {
    super();
    this.#session = session;
    this.#inherited = inherited;
  }

  /** Adds the collected totals to the stored ones and starts again from zero. Call it inside `write`. */
  flush(connection: Connection): void {
    const { counts, kinds, usage } = this.take();
    if (counts.entries === 0) return;
    const session = this.#session;
    const firstText = chooseFirstText(counts, () => connection.get(storedFirstText, { session })?.first_text ?? null);
    connection.run(addCounts, { session, ...counts, firstText });
    for (const [kind, entries] of kinds) connection.run(addToKind, { session, kind, entries });
    insertUsage(connection, session, this.#inherited, usage);
  }
}

/** Adds usage to that of a session. Call it inside `write`. */
export function insertUsage(connection: Connection, session: SessionSeq, inherited: 0 | 1, usage: readonly AddedUsage[]): void {
  for (const added of usage) connection.run(addUsage, { session_seq: session, inherited, ...added });
}
