import { PAYLOAD } from "../arguments/shapes.js";
import { parseStoredPayload } from "../entry/stored-payload.js";
import { searchableText } from "../entry/text.js";
import { PayloadDamagedError } from "../errors/store-errors.js";
import type { Connection } from "../storage/connection.js";
import { type PayloadRow, payloadText } from "../storage/payloads.js";
import { query, rawQuery } from "../storage/query.js";
import { type EntrySeq, type EntryTable, type SessionSeq, toEntrySeq } from "../storage/schema.js";
import { toIndexedText } from "./fold.js";

type UnindexedRow = PayloadRow & Pick<EntryTable, "type">;

const cursor = query<Record<never, never>, { indexed_seq: EntrySeq }>(({ db }) => db.selectFrom("store_state").select("indexed_seq"));
const nextUnindexed = query<{ after: EntrySeq }, UnindexedRow>(({ db, p }) =>
  db
    .selectFrom("entry")
    .leftJoin("payload", "payload.entry_seq", "entry.seq")
    .select(["seq", "session_seq", "type", "payload.json as payload_json"])
    .where("seq", ">", p.after)
    .orderBy("seq")
    .limit(1),
);
const insertText = query<{ seq: EntrySeq; body: string }>(({ db, p }) =>
  db.insertInto("entry_text").values({ rowid: p.seq, body: p.body }),
);
const setCursor = query<{ seq: EntrySeq }>(({ db, p }) => db.updateTable("store_state").set({ indexed_seq: p.seq }));
const lastEntry = query<Record<never, never>, { seq: number | null }>(({ sql }) =>
  rawQuery(sql<{ seq: number | null }>`SELECT max(seq) AS seq FROM entry`),
);

// The limits of one transaction: it takes about 20 ms, so that other writers and the event loop wait only shortly.
const BATCH_ENTRIES = 500;
/** In characters of payloads. An entry is not divided, so a larger one is a batch of its own. */
const BATCH_CHARACTERS = 400_000;

/** Returns an upper bound of the entries that are not indexed, from row numbers; 0 if there are none. */
export function countUnindexed(connection: Connection): number {
  return Math.max(0, (connection.get(lastEntry, {})?.seq ?? 0) - lastIndexedSeq(connection));
}

/** Returns the row number of the last indexed entry. */
export function lastIndexedSeq(connection: Connection): EntrySeq {
  return connection.get(cursor, {})?.indexed_seq ?? toEntrySeq(0);
}

/**
 * Indexes the next entries, at most `limit` and at most one batch; returns their number.
 *
 * @throws {StoreBusyError} another process holds the lock.
 */
export function indexEntries(connection: Connection, limit: number): number {
  // Usually there is nothing to do; then the write lock is not taken.
  if (limit <= 0 || countUnindexed(connection) === 0) return 0;
  // The cursor is read under the lock, because another process may have indexed the same entries.
  return connection.write(() => indexBatch(connection, Math.min(limit, BATCH_ENTRIES)));
}

function indexBatch(connection: Connection, limit: number): number {
  let after = lastIndexedSeq(connection);
  let count = 0;
  for (let characters = 0; count < limit && characters < BATCH_CHARACTERS; count++) {
    const row = connection.get(nextUnindexed, { after });
    if (row === undefined) break;
    const json = readableText(connection, row);
    characters += json.length;
    // Leaves an entry that would make the batch much larger to the next batch.
    if (count > 0 && characters > 2 * BATCH_CHARACTERS) break;
    indexRow(connection, row, json);
    after = row.seq;
  }
  if (count > 0) connection.run(setCursor, { seq: after });
  return count;
}

function indexRow(connection: Connection, row: UnindexedRow, json: string): void {
  const text = extractText(row.type, json);
  if (text !== "") connection.run(insertText, { seq: row.seq, body: toIndexedText(text) });
}

/** Returns the JSON text of a payload; an empty object for a damaged block, which `verify` reports. */
export function readableText(connection: Connection, row: PayloadRow): string {
  try {
    return payloadText(connection, row);
  } catch (error) {
    if (error instanceof PayloadDamagedError) return "{}";
    throw error;
  }
}

/** Returns the searchable text of a payload; "" for a damaged one, which `verify` reports. */
export function extractText(type: EntryTable["type"], json: string): string {
  const payload = parseStoredPayload(type, json);
  return PAYLOAD(payload, "payload") === undefined ? searchableText(payload) : "";
}

const removeTitle = query<{ seq: SessionSeq }>(({ db, p }) => db.deleteFrom("session_text").where("rowid", "=", p.seq));
const insertTitle = query<{ seq: SessionSeq; title: string }>(({ db, p }) =>
  db.insertInto("session_text").values({ rowid: p.seq, title: p.title }),
);

/** Replaces the indexed title of a session; null removes it. Call it inside `write`. */
export function indexTitle(connection: Connection, seq: SessionSeq, title: string | null): void {
  connection.run(removeTitle, { seq });
  if (title !== null) connection.run(insertTitle, { seq, title: toIndexedText(title) });
}

const mergeTexts = query<Record<never, never>>(({ sql }) => rawQuery(sql`INSERT INTO entry_text (entry_text) VALUES ('optimize')`));
const mergeTitles = query<Record<never, never>>(({ sql }) => rawQuery(sql`INSERT INTO session_text (session_text) VALUES ('optimize')`));

/** Merges the search index into one segment, which holds no deleted word. Cost: the whole index. */
export function mergeIndex(connection: Connection): void {
  connection.writeUnsynced(() => {
    connection.run(mergeTexts, {});
    connection.run(mergeTitles, {});
  });
}
