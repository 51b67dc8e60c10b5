import type { EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import { customTypeOf, toKindNumber } from "../entry/kinds.js";
import { previewOf } from "../entry/preview.js";
import { isSameJson } from "../entry/same-json.js";
import { isPrivate } from "../entry/text.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { EntryConflictError, InvalidReferenceError } from "../errors/session-errors.js";
import { newEntryId } from "../ids/ids.js";
import type { SessionRef } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { toStoredCustomType } from "../storage/custom-types.js";
import { payloadText } from "../storage/payloads.js";
import { query, rawQuery } from "../storage/query.js";
import { type EntrySeq, type SessionSeq, type StoredEntry, toEntrySeq } from "../storage/schema.js";
import { isSqliteError } from "../storage/sqlite-errors.js";
import type { FileTools } from "../tools/known-tools.js";
import { addWaypoint, SHORTEST_STRIDE } from "./ancestry.js";
import type { TypedPayloadRow, WritableEntry } from "./entry-rows.js";
import { insertFileOperations } from "./file-operations.js";
import { type DerivedState, derivePathState, type EntryPathState, type PathState, readPathState } from "./path-state.js";
import { SessionTotals } from "./statistics.js";
import { TreeEnds } from "./tree-ends.js";

/** The session that is written to, and the host's tools that touch files. */
export interface WriteTarget extends SessionRef {
  readonly fileTools: FileTools;
}

/** How many entries of a long write are held in memory at most, for the ends of the tree. */
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
export class EntryWriter {
  readonly #connection: Connection;
  readonly #target: WriteTarget;
  readonly #totals: SessionTotals;
  readonly #ends: TreeEnds;
  #directory: string | null | undefined;
  #next: EntrySeq | undefined;
  /** The entries written last, each the parent of the next; at most 16. */
  #line: EntrySeq[] = [];

  /** `inherited`: 1 for the copies of a fork. */
  constructor(connection: Connection, target: WriteTarget, inherited: 0 | 1 = 0) {
    this.#connection = connection;
    this.#target = target;
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
  appendNew(parent: PathState, entry: ValidatedEntry): AppendResult {
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
  findEqual({ id, payload, payloadJson }: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    if (id === undefined) return undefined;
    const row = this.#connection.get(contentById, { session: this.#target.seq, id });
    if (row === undefined) return undefined;
    if (row.type !== payload.type || !isSameJson(payloadText(this.#connection, row), payloadJson ?? toPayloadJson(payload)))
      throw new EntryConflictError(this.#target.id, id, "with other content");
    if (parent !== undefined && parent.seq !== row.parent_seq)
      throw new EntryConflictError(
        this.#target.id,
        id,
        `that is not ${parent.entryId === null ? "a first entry" : `below ${parent.entryId}`}`,
      );
    return { ...readPathState(this.#connection, row.seq), entryId: id, seq: row.seq };
  }

  /** Writes an entry whose id does not exist yet. */
  write(parent: PathState, entry: ValidatedEntry): AppendResult {
    const { id = newEntryId(), payload, createdAtMs = Date.now(), payloadJson = toPayloadJson(payload) } = entry;
    const scope = { connection: this.#connection, session: this.#target.seq };
    const place = derivePathState(scope, parent, id, this.reserveSeq(), payload);
    this.insert(parent.seq, { payload, payloadJson, createdAtMs, inherited: 0 }, place);
    return { state: place.state, isKnown: false };
  }

  /** Returns the row number of the next entry. */
  reserveSeq(): EntrySeq {
    this.#next ??= nextEntrySeq(this.#connection);
    return this.#next;
  }

  /** Inserts an entry with the row number that `reserveSeq` returned. */
  insert(parentSeq: EntrySeq | null, entry: WritableEntry, place: DerivedState): void {
    const { seq, depth } = place.state;
    const preview = this.#previewOf(entry.payload);
    const bytes = insertEntryRow(this.#connection, this.#target.seq, parentSeq, { ...entry, preview }, place);
    this.#next = toEntrySeq(seq + 1);
    if (this.#line.at(-1) !== parentSeq) this.#line = [];
    addWaypoint(this.#connection, seq, parentSeq, depth, this.#line.at(-SHORTEST_STRIDE));
    this.#line.push(seq);
    if (this.#line.length > SHORTEST_STRIDE) this.#line.shift();
    insertFileOperations(this.#connection, seq, entry.payload, this.#target.fileTools);
    this.#ends.add(seq, parentSeq);
    if (this.#ends.size >= MOST_HELD) this.#ends.flush(this.#connection);
    this.#totals.add(entry, preview, bytes, depth);
  }

  /** The preview of an entry. Only those of replies depend on the session's directory. */
  #previewOf(payload: EntryPayload): string {
    if (payload.type !== "message" || payload.message.role !== "assistant") return previewOf(payload);
    this.#directory ??= this.#connection.get(directoryOf, { session: this.#target.seq })?.cwd ?? null;
    return previewOf(payload, this.#directory);
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
  }),
);

const directoryOf = query<{ session: SessionSeq }, { cwd: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("cwd").where("seq", "=", p.session),
);

const insertPayload = query<{ seq: EntrySeq; json: string }>(({ db, p }) =>
  db.insertInto("payload").values({ entry_seq: p.seq, json: p.json }),
);

const insertPrivate = query<{ seq: EntrySeq }>(({ db, p }) => db.insertInto("private_entry").values({ entry_seq: p.seq }));

/** Inserts the rows of an entry and its payload; returns the bytes of its payload. */
function insertEntryRow(
  connection: Connection,
  session: SessionSeq,
  parentSeq: EntrySeq | null,
  { payload, payloadJson, ...entry }: WritableEntry & { readonly preview: string },
  place: DerivedState,
): number {
  const { state } = place;
  const bytes = Buffer.byteLength(payloadJson);
  const result = payload.type === "message" && payload.message.role === "toolResult" ? payload.message : undefined;
  connection.run(insertRow, {
    seq: state.seq,
    session_seq: session,
    id: state.entryId,
    parent_seq: parentSeq,
    kind: toKindNumber(payload.type, payload.type === "message" ? payload.message.role : null),
    depth: state.depth,
    created_at_ms: entry.createdAtMs,
    compaction_seq: state.compactionSeq,
    target_seq: place.targetSeq,
    model_seq: state.modelSeq,
    thinking_seq: state.thinkingSeq,
    system_seq: state.systemSeq,
    call_id: result?.toolCallId ?? null,
    is_error: result?.isError === true ? 1 : 0,
    omits: payload.type === "context_edit" && payload.replacement === null ? 1 : 0,
    inherited: entry.inherited,
    payload_bytes: bytes,
    preview: entry.preview,
    custom_type: toStoredCustomType(customTypeOf(payload)),
  });
  connection.run(insertPayload, { seq: state.seq, json: payloadJson });
  if (isPrivate(payload)) connection.run(insertPrivate, { seq: state.seq });
  return bytes;
}

/** Serializes a payload without its `type`, which has a column of its own. */
function toPayloadJson(payload: EntryPayload): string {
  // The type usually comes first; removing it from the text is cheaper than copying the payload without it.
  if (firstMember(payload) === "type") return `{${jsonText(payload, "The entry").slice(`{"type":"${payload.type}",`.length)}`;
  const { type: _type, ...rest } = payload;
  return jsonText(rest, "The entry");
}

function firstMember(object: object): string | undefined {
  for (const name in object) return name;
  return undefined;
}
