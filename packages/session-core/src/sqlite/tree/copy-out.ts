import type { SessionKey } from "../../port/records.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../port/rows.js";
import {
  type CopiedEntry,
  type CopiedFileOperation,
  type CopiedState,
  type CopiedUsage,
  entriesInPart,
  PART_ENTRIES,
} from "../../port/session-copy.js";
import { toSessionRecord } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PagedPayloadRow, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { FileOperationTable, LeafMoveTable, StoredEntry } from "../schema.js";
import { findSessionRow, resolveSession } from "../sessions/session-rows.js";
import { listValueTexts } from "../sessions/values.js";
import { type Places, placesOf } from "./places.js";

type Session = { session: SessionSeq };

const leavesOf = query<Session, { name: string; seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("leaf").select(["name", "entry_seq as seq"]).where("session_seq", "=", p.session).orderBy("name"),
);
const movesOf = query<Session, LeafMoveTable>(({ db, p }) =>
  db.selectFrom("leaf_move").selectAll().where("session_seq", "=", p.session).orderBy("seq"),
);
const labelsOf = query<Session, { seq: EntrySeq; label: string; at: number }>(({ db, p }) =>
  db
    .selectFrom("label")
    .select(["entry_seq as seq", "label", "created_at_ms as at"])
    .where("session_seq", "=", p.session)
    .orderBy("entry_seq"),
);
const usageOf = query<Session, Omit<CopiedUsage, "inherited"> & { inherited: 0 | 1 }>(({ sql, p }) =>
  rawQuery(sql<Omit<CopiedUsage, "inherited"> & { inherited: 0 | 1 }>`
    SELECT provider, model, replies, input_tokens AS inputTokens, output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens,
      cache_write_tokens AS cacheWriteTokens, cost_usd AS costUsd, recorded_replies AS recordedReplies, inherited
    FROM usage_total WHERE session_seq = ${p.session} ORDER BY inherited, provider, model`),
);

/** Reads a session without its entries. Call it inside `read`. */
export function readCopiedState(connection: Connection, key: SessionKey): CopiedState | undefined {
  const row = findSessionRow(connection, key);
  if (row === undefined) return undefined;
  const session = row.seq;
  const places = placesOf(connection, session);
  const { metadata: _parsed, ...record } = toSessionRecord(row);
  return {
    row: { id: row.id, seq: session },
    session: { ...record, metadataJson: row.metadata_json },
    leaves: connection.all(leavesOf, { session }).map(({ name, seq }) => ({ name, at: places.placeOf(seq) })),
    moves: connection.all(movesOf, { session }).map((move) => ({
      leafName: move.leaf_name,
      from: places.placeOf(move.from_seq),
      to: places.placeOf(move.to_seq),
      resume: places.placeOf(move.resume_seq),
      movedAtMs: move.moved_at_ms,
      state: move.state,
    })),
    labels: connection.all(labelsOf, { session }).map(({ seq, label, at }) => ({ at: places.placeOf(seq) ?? 0, label, createdAtMs: at })),
    values: listValueTexts(connection, { id: row.id, seq: session }),
    usage: connection.all(usageOf, { session }).map((usage) => ({ ...usage, inherited: usage.inherited === 1 })),
  };
}

type EntryRow = Omit<StoredEntry, "custom_type"> & PagedPayloadRow;

const COLUMNS = `entry.id, entry.parent_seq, entry.kind, entry.depth, entry.created_at_ms, entry.compaction_seq, entry.target_seq,
  entry.model_seq, entry.thinking_seq, entry.system_seq, entry.call_id, entry.is_error, entry.omits, entry.inherited, entry.origin, entry.preview`;

interface Range extends Session {
  readonly after: EntrySeq;
  readonly upTo: EntrySeq;
}

const rowsOf = query<Range & { limit: number }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(COLUMNS)}, ${sql.raw(PAGED_PAYLOAD_COLUMNS)} FROM entry ${sql.raw(PAYLOAD_JOIN)}
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY entry.seq LIMIT ${p.limit}`),
);
const operationsOf = query<Range, FileOperationTable>(({ sql, p }) =>
  rawQuery(sql<FileOperationTable>`
    SELECT file_operation.* FROM entry CROSS JOIN file_operation ON file_operation.entry_seq = entry.seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY file_operation.entry_seq, ordinal`),
);
type CountRow = { readonly seq: EntrySeq; readonly counter: string; readonly tokens: number };
const countsOf = query<Range, CountRow>(({ sql, p }) =>
  rawQuery(sql<CountRow>`
    SELECT entry.seq, token_counter.name AS counter, tokens
    FROM entry CROSS JOIN entry_token_count AS known ON known.entry_seq = entry.seq CROSS JOIN token_counter ON token_counter.seq = known.counter_seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY entry.seq, token_counter.name`),
);

/** Reads the entries of a part, in order of arrival. Call it inside `read`. @throws {SessionNotFoundError | PayloadDamagedError} */
export function readCopiedEntries(connection: Connection, key: SessionKey, after: number, upTo: number): readonly CopiedEntry[] {
  const session = resolveSession(connection, key).seq;
  const places = placesOf(connection, session);
  const from = places.seqAt(after) ?? toEntrySeq(0);
  const to = places.seqAt(Math.min(upTo, places.count)) ?? from;
  const rows = connection.all(rowsOf, { session, after: from, upTo: to, limit: PART_ENTRIES });
  const part = rows.slice(0, entriesInPart(rows.map((row) => row.payload_bytes)));
  const range = { session, after: from, upTo: part.at(-1)?.seq ?? from };
  const operations = grouped(connection.all(operationsOf, range), (operation) => operation.entry_seq);
  const counts = grouped(connection.all(countsOf, range), (count) => count.seq);
  return part.map((row) => ({
    ...columnsOf(row, places),
    payload: payloadText(connection, completeRow(connection, row)),
    fileOperations: (operations.get(row.seq) ?? []).map(toOperation),
    tokens: (counts.get(row.seq) ?? []).map(({ counter, tokens }) => [counter, tokens] as const),
  }));
}

function columnsOf(row: EntryRow, places: Places): Omit<CopiedEntry, "payload" | "fileOperations" | "tokens"> {
  return {
    place: places.placeOf(row.seq) ?? 0,
    id: row.id,
    parent: places.placeOf(row.parent_seq),
    kind: row.kind,
    depth: row.depth,
    createdAtMs: row.created_at_ms,
    compaction: places.placeOf(row.compaction_seq),
    target: places.placeOf(row.target_seq),
    model: places.placeOf(row.model_seq),
    thinking: places.placeOf(row.thinking_seq),
    system: places.placeOf(row.system_seq),
    callId: row.call_id,
    isError: row.is_error === 1,
    omits: row.omits === 1,
    inherited: row.inherited === 1,
    origin: row.origin,
    preview: row.preview,
  };
}

function toOperation({ tool_call_id, kind, path, nested }: FileOperationTable): CopiedFileOperation {
  return { toolCallId: tool_call_id, kind, path, nested: nested === 1 };
}

function grouped<K, R>(rows: readonly R[], keyOf: (row: R) => K): ReadonlyMap<K, readonly R[]> {
  const groups = new Map<K, R[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
