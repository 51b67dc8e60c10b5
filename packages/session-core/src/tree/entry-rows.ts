import type { Entry, EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import { previewOf } from "../entry/preview.js";
import { storedPayload } from "../entry/stored-payload.js";
import type { Connection } from "../storage/connection.js";
import { type Building, plain, query } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";
import type { Inheritance } from "./inheritance.js";

/** An entry ready to be written: judged, with its text already made. */
export interface WritableEntry {
  readonly payload: EntryPayload;
  readonly payloadJson: string;
  readonly createdAtMs: number;
  /** 1: copied by a fork. */
  readonly inherited: 0 | 1;
}

const insertRow = query<EntryTable>(({ db, p }) =>
  db.insertInto("entry").values({
    seq: p.seq,
    session_seq: p.session_seq,
    id: p.id,
    parent_seq: p.parent_seq,
    type: p.type,
    role: p.role,
    depth: p.depth,
    created_at_ms: p.created_at_ms,
    compaction_seq: p.compaction_seq,
    first_kept_seq: p.first_kept_seq,
    model_seq: p.model_seq,
    thinking_seq: p.thinking_seq,
    system_seq: p.system_seq,
    failed_call_id: p.failed_call_id,
    inherited: p.inherited,
    preview: p.preview,
    payload_json: p.payload_json,
  }),
);

/** Writes the row of an entry; returns its preview. */
export function insertEntryRow(
  connection: Connection,
  session: SessionSeq,
  parentSeq: EntrySeq | null,
  entry: WritableEntry,
  place: Inheritance,
): string {
  const { payload } = entry;
  const { tip } = place;
  const preview = previewOf(payload);
  connection.run(insertRow, {
    seq: tip.seq,
    session_seq: session,
    id: tip.entryId ?? "",
    parent_seq: parentSeq,
    type: payload.type,
    role: payload.type === "message" ? payload.message.role : null,
    depth: tip.depth,
    created_at_ms: entry.createdAtMs,
    compaction_seq: tip.compactionSeq,
    first_kept_seq: place.firstKeptSeq,
    model_seq: tip.modelSeq,
    thinking_seq: tip.thinkingSeq,
    system_seq: tip.systemSeq,
    failed_call_id: failedCall(payload),
    inherited: entry.inherited,
    preview,
    payload_json: entry.payloadJson,
  });
  return preview;
}

function failedCall(payload: EntryPayload): string | null {
  if (payload.type !== "message" || payload.message.role !== "toolResult") return null;
  return payload.message.isError ? payload.message.toolCallId : null;
}

const highestSeq = query<Record<never, never>, { seq: number }>(({ sql }) =>
  plain(sql<{ seq: number }>`SELECT max(deleted_seq, coalesce((SELECT max(seq) FROM entry), 0)) AS seq FROM store_state`),
);

/** The place after every entry that ever was in this store. Call it inside `write`. */
export function nextSeq(connection: Connection): EntrySeq {
  return ((connection.get(highestSeq, {})?.seq ?? 0) + 1) as EntrySeq;
}

/** The payload as the row keeps it: without `type`, which has a column of its own. */
export function payloadJson(payload: EntryPayload): string {
  const json = jsonText(payload, "The entry");
  // The gate puts the type first, and cutting it off is cheaper than copying the payload without it.
  const start = `{"type":"${payload.type}",`;
  if (json.startsWith(start)) return `{${json.slice(start.length)}`;
  const { type: _type, ...rest } = payload;
  return jsonText(rest, "The entry");
}

/** A payload from its row. */
export function payloadOf(row: Pick<EntryTable, "type" | "payload_json">): EntryPayload {
  return storedPayload(row.type, row.payload_json);
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
