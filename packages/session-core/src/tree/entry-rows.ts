import type { Entry, EntryPayload } from "../entry/entry.js";
import { parseStoredPayload } from "../entry/stored-payload.js";
import { EntryNotFoundError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { LeafView } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { type Building, query } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";

/** What an entry passes on to its children: its place and what it inherits from its path. */
export interface Tip extends LeafView {
  readonly entryId: EntryId | null;
  readonly seq: EntrySeq | null;
  /** Entries above it; -1 before the first entry. */
  readonly depth: number;
  readonly compactionSeq: EntrySeq | null;
  readonly modelSeq: EntrySeq | null;
  readonly thinkingSeq: EntrySeq | null;
  readonly systemSeq: EntrySeq | null;
}

/** Before the first entry of any session. */
export const START: Tip = { entryId: null, seq: null, depth: -1, compactionSeq: null, modelSeq: null, thinkingSeq: null, systemSeq: null };

const tipBySeq = query<{ seq: EntrySeq }, Tip & { seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("entry")
    .select([
      "id as entryId",
      "seq",
      "depth",
      "compaction_seq as compactionSeq",
      "model_seq as modelSeq",
      "thinking_seq as thinkingSeq",
      "system_seq as systemSeq",
    ])
    .where("seq", "=", p.seq),
);

/** The tip at a row that exists; null: before the first entry. */
export function tipAt(connection: Connection, seq: EntrySeq | null): Tip {
  return (seq === null ? undefined : connection.get(tipBySeq, { seq })) ?? START;
}

const seqOfEntry = query<{ session: SessionSeq; id: EntryId }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** The row of an entry by its id, or undefined. */
export function findEntrySeq(connection: Connection, session: SessionSeq, id: EntryId): EntrySeq | undefined {
  return connection.get(seqOfEntry, { session, id })?.seq;
}

/** The row of an entry by its id. @throws {EntryNotFoundError} */
export function entrySeq(connection: Connection, session: SessionSeq, sessionId: SessionId, id: EntryId): EntrySeq {
  const seq = findEntrySeq(connection, session, id);
  if (seq === undefined) throw new EntryNotFoundError(sessionId, id);
  return seq;
}

/** An entry ready to be written: judged, with its text already made. */
export interface WritableEntry {
  readonly payload: EntryPayload;
  readonly payloadJson: string;
  readonly createdAtMs: number;
  /** 1: copied by a fork. */
  readonly inherited: 0 | 1;
}

/** A payload from its row. */
export function payloadOf(row: Pick<EntryTable, "type" | "payload_json">): EntryPayload {
  return parseStoredPayload(row.type, row.payload_json);
}

/** A row with the id of its parent. */
export type EntryRow = Pick<EntryTable, "seq" | "id" | "type" | "created_at_ms" | "payload_json"> & { readonly parent_id: string | null };

/** An entry from its row. */
export function entryOf(row: EntryRow): Entry {
  // Spread, not assigned: a member named __proto__ stays a member.
  return { id: row.id, seq: row.seq, parentId: row.parent_id, createdAtMs: row.created_at_ms, ...payloadOf(row) };
}

/** The columns of an `EntryRow`, from `entry` and its `parent`. */
export const ENTRY_COLUMNS = "entry.seq, entry.id, entry.type, entry.created_at_ms, entry.payload_json, parent.id AS parent_id";

/** Entries with the ids of their parents, as `EntryRow`. */
export function entriesWithParents(db: Building<never>["db"]) {
  return db
    .selectFrom("entry")
    .leftJoin("entry as parent", "parent.seq", "entry.parent_seq")
    .select(["entry.seq", "entry.id", "entry.type", "entry.created_at_ms", "entry.payload_json", "parent.id as parent_id"]);
}

const rowById = query<{ session: SessionSeq; id: string }, EntryRow>(({ db, p }) =>
  entriesWithParents(db).where("entry.session_seq", "=", p.session).where("entry.id", "=", p.id),
);

/** The row of an entry by its id, or undefined. */
export function findEntryRow(connection: Connection, session: SessionSeq, id: string): EntryRow | undefined {
  return connection.get(rowById, { session, id });
}
