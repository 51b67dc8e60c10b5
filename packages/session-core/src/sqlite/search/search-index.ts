import { PayloadDamagedError } from "../../errors/store-errors.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import { NOT_INDEXED, toIndexedText } from "../../rules/search/fold.js";
import { extractText } from "../../rules/search/payload-text.js";
import { WordCollector } from "../../rules/search/word-collector.js";
import type { Connection } from "../file/connection.js";
import { type PayloadRow, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { EntryTable } from "../schema.js";

type UnindexedRow = PayloadRow & Pick<EntryTable, "type">;

const cursor = query<Record<never, never>, { indexed_seq: EntrySeq }>(({ db }) => db.selectFrom("store_state").select("indexed_seq"));
const lastEntry = query<Record<never, never>, { seq: EntrySeq | null }>(({ sql }) =>
  rawQuery(sql<{ seq: EntrySeq | null }>`SELECT max(seq) AS seq FROM entry`),
);
const nextSizes = query<{ after: EntrySeq; limit: number }, Pick<EntryTable, "seq" | "payload_bytes">>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "payload_bytes"]).where("seq", ">", p.after).orderBy("seq").limit(p.limit),
);
const nextRows = query<{ after: EntrySeq; to: EntrySeq }, UnindexedRow>(({ db, p }) =>
  db
    .selectFrom("entry")
    .leftJoin("payload", "payload.entry_seq", "entry.seq")
    .select(["seq", "session_seq", "type", "payload.json as payload_json"])
    .where("seq", ">", p.after)
    .where("seq", "<=", p.to)
    .orderBy("seq"),
);
const insertText = query<{ seq: EntrySeq; body: string }>(({ db, p }) =>
  db.insertInto("entry_text").values({ rowid: p.seq, body: p.body }),
);
const setCursor = query<{ seq: EntrySeq }>(({ db, p }) => db.updateTable("store_state").set({ indexed_seq: p.seq }));

// The limits of one transaction: it takes about 20 ms, so that other writers and the event loop wait only shortly. Larger batches make
// fewer segments, which FTS5 has to merge.
const BATCH_ENTRIES = 1000;
/** In bytes of payloads. An entry is not divided, so a larger one is a batch of its own. */
const BATCH_BYTES = 600_000;

/** Returns an upper bound of the entries that are not indexed, from row numbers; 0 if there are none. */
export function countUnindexed(connection: Connection): number {
  return Math.max(0, lastEntrySeq(connection) - lastIndexedSeq(connection));
}

/** Returns the row number of the last indexed entry; 0 if there is none. */
export function lastIndexedSeq(connection: Connection): EntrySeq {
  return connection.get(cursor, {})?.indexed_seq ?? toEntrySeq(0);
}

/** Returns the row number of the last entry of the store; 0 if there is none. */
export function lastEntrySeq(connection: Connection): EntrySeq {
  return connection.get(lastEntry, {})?.seq ?? toEntrySeq(0);
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
  return connection.writeUnsynced(() => indexBatch(connection, Math.min(limit, BATCH_ENTRIES)));
}

function indexBatch(connection: Connection, limit: number): number {
  const after = lastIndexedSeq(connection);
  const to = batchEnd(connection, after, limit);
  if (to === undefined) return 0;
  const rows = connection.all(nextRows, { after, to });
  const words = new WordCollector();
  for (const row of rows) {
    const text = extractText(row.type, findPayloadText(connection, row) ?? "");
    if (text === "") continue;
    const body = tryToIndex(text, words) ?? NOT_INDEXED;
    connection.run(insertText, { seq: row.seq, body });
  }
  addWords(connection, words);
  connection.run(setCursor, { seq: to });
  return rows.length;
}

/** In UTF-16 code units. Indexing a million takes 0.1 to 0.3 s, during which other writers wait; scanning it takes 0.02 s or less. */
const LONGEST_TEXT = 16 * 1024 * 1024;

/** Converts a text for the index and lists its words; undefined: it is too long. Each search scans such a text. */
function tryToIndex(text: string, words: WordCollector): string | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  try {
    const body = toIndexedText(text);
    words.add(body);
    return body;
  } catch (error) {
    // A pattern of V8 gave up.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const withoutIndex = query<{ from: number; to: number }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT rowid AS seq FROM entry_text WHERE entry_text MATCH ${`"${NOT_INDEXED}"`} AND rowid BETWEEN ${p.from} AND ${p.to} ORDER BY rowid`),
);

/** The row numbers of the entries in a range whose texts the index left out. */
export function listNotIndexed(connection: Connection, range: { readonly from: number; readonly to: number }): readonly number[] {
  return connection.all(withoutIndex, range).map(({ seq }) => seq);
}

/** Returns the last entry of the next batch, or undefined if there are no more entries. */
function batchEnd(connection: Connection, after: EntrySeq, limit: number): EntrySeq | undefined {
  let bytes = 0;
  let end: EntrySeq | undefined;
  for (const { seq, payload_bytes } of connection.all(nextSizes, { after, limit })) {
    bytes += payload_bytes;
    if (end !== undefined && bytes > BATCH_BYTES) break;
    end = seq;
  }
  return end;
}

/** Returns the JSON text of a payload; undefined for a damaged block, which `verify` reports. */
export function findPayloadText(connection: Connection, row: PayloadRow): string | undefined {
  try {
    return payloadText(connection, row);
  } catch (error) {
    if (error instanceof PayloadDamagedError) return undefined;
    throw error;
  }
}

const removeTitle = query<{ seq: SessionSeq }>(({ db, p }) => db.deleteFrom("session_text").where("rowid", "=", p.seq));
const insertTitle = query<{ seq: SessionSeq; title: string }>(({ db, p }) =>
  db.insertInto("session_text").values({ rowid: p.seq, title: p.title }),
);

/** Replaces the indexed title of a session; null removes it. Call it inside `write`. */
export function indexTitle(connection: Connection, seq: SessionSeq, title: string | null): void {
  connection.run(removeTitle, { seq });
  if (title === null) return;
  const indexed = toIndexedText(title);
  connection.run(insertTitle, { seq, title: indexed });
  const words = new WordCollector();
  words.add(indexed);
  addWords(connection, words);
}

const mergeTexts = query<Record<never, never>>(({ sql }) => rawQuery(sql`INSERT INTO entry_text (entry_text) VALUES ('optimize')`));
const mergeTitles = query<Record<never, never>>(({ sql }) => rawQuery(sql`INSERT INTO session_text (session_text) VALUES ('optimize')`));

// 16 pages: about 1 ms, at most 7 ms in an index of 50,000 entries.
const mergeSome = query<Record<never, never>>(({ sql }) => rawQuery(sql`INSERT INTO entry_text (entry_text, rank) VALUES ('merge', 16)`));
const changes = query<Record<never, never>, { total: number }>(({ sql }) =>
  rawQuery(sql<{ total: number }>`SELECT total_changes() AS total`),
);

/** Merges segments of the index for about a millisecond. Returns whether there was something to merge. */
export function mergeSegments(connection: Connection): boolean {
  return connection.writeUnsynced(() => {
    const before = connection.get(changes, {})?.total ?? 0;
    connection.run(mergeSome, {});
    // FTS5 documents: fewer than two changes mean that nothing was merged.
    return (connection.get(changes, {})?.total ?? 0) - before >= 2;
  });
}

/** Merges the search index into one segment, which holds no deleted word, and removes deleted words from the list. Cost: the whole index. */
export function mergeIndex(connection: Connection): void {
  connection.writeUnsynced(() => {
    connection.run(mergeTexts, {});
    connection.run(mergeTitles, {});
    removeUnusedWords(connection);
  });
}

// The table `word`: every different word of the search index, so that parts of words are found: FTS5 finds only whole words and their
// beginnings, and its own list (fts5vocab) reads the whole index (measured: 140 ms of 100,000 entries, the table 1 ms). In the store of
// real sessions the table takes 0.04 of the JSONL, in a large one less, because most words have occurred before.

const insertWords = query<{ words: string }>(({ sql, p }) =>
  rawQuery(sql`INSERT OR IGNORE INTO word (word) SELECT value FROM json_each(${p.words})`),
);
const deleteUnused = query<Record<never, never>>(({ sql }) =>
  rawQuery(sql`DELETE FROM word WHERE word NOT IN (SELECT term FROM entry_text_word UNION ALL SELECT term FROM session_text_word)`),
);

/** Adds the words that are not in the list. Call it inside a write. */
function addWords(connection: Connection, words: WordCollector): void {
  // In the order of the table, in which neighbors are on one page.
  const listed = words.list();
  if (listed.length > 0) connection.run(insertWords, { words: JSON.stringify(listed) });
}

/** Removes the words that no entry and no title has any more. Cost: the whole search index. Call it inside a write. */
function removeUnusedWords(connection: Connection): void {
  connection.run(deleteUnused, {});
}
