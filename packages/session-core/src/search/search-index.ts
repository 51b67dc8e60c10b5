import { PAYLOAD } from "../arguments/shapes.js";
import { parseStoredPayload } from "../entry/stored-payload.js";
import { searchableText } from "../entry/text.js";
import type { Connection } from "../storage/connection.js";
import { query, rawQuery } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";

type UnindexedRow = Pick<EntryTable, "seq" | "type" | "payload_json">;

const cursor = query<Record<never, never>, { indexed_seq: EntrySeq }>(({ db }) => db.selectFrom("store_state").select("indexed_seq"));
const nextUnindexed = query<{ after: EntrySeq }, UnindexedRow>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "type", "payload_json"]).where("seq", ">", p.after).orderBy("seq").limit(1),
);
const insertText = query<{ seq: EntrySeq; body: string }>(({ db, p }) =>
  db.insertInto("entry_text").values({ rowid: p.seq, body: p.body }),
);
const setCursor = query<{ seq: EntrySeq }>(({ db, p }) => db.updateTable("store_state").set({ indexed_seq: p.seq }));
const lastEntry = query<Record<never, never>, { seq: number | null }>(({ sql }) =>
  rawQuery(sql<{ seq: number | null }>`SELECT max(seq) AS seq FROM entry`),
);

// How much is put into the index in one transaction: about 20 ms, so that other writers and the event loop hardly wait.
const BATCH_ENTRIES = 500;
/** In characters of payloads. One entry is never divided, so a larger one is a batch of its own. */
const BATCH_CHARACTERS = 400_000;

/** At most how many entries the search index does not have yet; 0 only when it has all. Counts none of them. */
export function countUnindexed(connection: Connection): number {
  return Math.max(0, (connection.get(lastEntry, {})?.seq ?? 0) - lastIndexedSeq(connection));
}

/** The last entry in the index. */
export function lastIndexedSeq(connection: Connection): EntrySeq {
  return connection.get(cursor, {})?.indexed_seq ?? (0 as EntrySeq);
}

/**
 * Puts the next entries that the search index lacks into it, at most `limit` and at most one batch; returns how many.
 *
 * @throws {StoreBusyError} another process holds the lock.
 */
export function indexEntries(connection: Connection, limit: number): number {
  // Nothing to do is the common case, and must not take the write lock.
  if (limit <= 0 || countUnindexed(connection) === 0) return 0;
  // The cursor is read under the lock: another process may have filled the same batch meanwhile.
  return connection.write(() => indexBatch(connection, Math.min(limit, BATCH_ENTRIES)));
}

function indexBatch(connection: Connection, limit: number): number {
  let after = lastIndexedSeq(connection);
  let count = 0;
  for (let characters = 0; count < limit && characters < BATCH_CHARACTERS; count++) {
    const row = connection.get(nextUnindexed, { after });
    if (row === undefined) break;
    characters += row.payload_json.length;
    // The batch ends before an entry that would make it much larger.
    if (count > 0 && characters > 2 * BATCH_CHARACTERS) break;
    indexRow(connection, row);
    after = row.seq;
  }
  if (count > 0) connection.run(setCursor, { seq: after });
  return count;
}

function indexRow(connection: Connection, row: UnindexedRow): void {
  const text = extractText(row);
  if (text !== "") connection.run(insertText, { seq: row.seq, body: toIndexedText(text) });
}

/** What a search looks at in an entry, from its row. A damaged payload has no text: `verify` reports it, and other rows are found. */
export function extractText(row: Pick<EntryTable, "type" | "payload_json">): string {
  const payload = parseStoredPayload(row.type, row.payload_json);
  return PAYLOAD(payload, "payload") === undefined ? searchableText(payload) : "";
}

const removeTitle = query<{ seq: SessionSeq }>(({ db, p }) => db.deleteFrom("session_text").where("rowid", "=", p.seq));
const insertTitle = query<{ seq: SessionSeq; title: string }>(({ db, p }) =>
  db.insertInto("session_text").values({ rowid: p.seq, title: p.title }),
);

/** Makes a session found by this title and no other; null: by none. Call it inside `write`. */
export function indexTitle(connection: Connection, seq: SessionSeq, title: string | null): void {
  connection.run(removeTitle, { seq });
  if (title !== null) connection.run(insertTitle, { seq, title: toIndexedText(title) });
}

// FTS5's unicode61 takes an unbroken run of Chinese, Japanese or Korean as one word, so that nothing inside it is found.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const ANY_UNSPACED = new RegExp(UNSPACED.source, "u");
const STARTS_UNSPACED = new RegExp(`^${UNSPACED.source}`, "u");

/**
 * Text as the search index takes it in: characters of scripts written without spaces become words of their own, so that
 * any part of a sentence is found by looking for its characters in a row. Other text stays as it is.
 */
export function toIndexedText(text: string): string {
  const whole = text.toWellFormed().replaceAll("\0", " ");
  return ANY_UNSPACED.test(whole) ? whole.replace(UNSPACED, " $& ") : whole;
}

/** Whether the text starts with a character of a script that is written without spaces. */
export function isUnspaced(text: string): boolean {
  return STARTS_UNSPACED.test(text);
}
