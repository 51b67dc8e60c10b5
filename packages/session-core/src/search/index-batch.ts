import type { EntryPayload } from "../entry/entry.js";
import { searchableText } from "../entry/text.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, EntryTable } from "../storage/schema.js";
import { searchableForm } from "./terms.js";

type UnindexedRow = Pick<EntryTable, "seq" | "type" | "payload_json">;

const cursor = query<Record<never, never>, { indexed_seq: EntrySeq }>(({ db }) => db.selectFrom("store_state").select("indexed_seq"));
const unindexed = query<{ after: EntrySeq; limit: number }, UnindexedRow>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "type", "payload_json"]).where("seq", ">", p.after).orderBy("seq").limit(p.limit),
);
const insertText = query<{ seq: EntrySeq; body: string }>(({ db, p }) =>
  db.insertInto("entry_text").values({ rowid: p.seq, body: p.body }),
);
const setCursor = query<{ seq: EntrySeq }>(({ db, p }) => db.updateTable("store_state").set({ indexed_seq: p.seq }));
const lastEntry = query<Record<never, never>, { seq: number | null }>(({ sql }) =>
  plain(sql<{ seq: number | null }>`SELECT max(seq) AS seq FROM entry`),
);

/** How many entries are put into the index in one transaction: short enough that other writers hardly wait. */
const BATCH = 500;

/** At most how many entries the search index does not have yet; 0 only when it has all. Counts none of them. */
export function missingInIndex(connection: Connection): number {
  return Math.max(0, (connection.get(lastEntry, {})?.seq ?? 0) - indexedSeq(connection));
}

/** The last entry in the index. */
export function indexedSeq(connection: Connection): EntrySeq {
  return connection.get(cursor, {})?.indexed_seq ?? (0 as EntrySeq);
}

/** Puts at most `limit` entries that the search index lacks into it; returns how many it put there. */
export function indexEntries(connection: Connection, limit: number): number {
  let done = 0;
  while (done < limit) {
    const batch = indexBatch(connection, Math.min(BATCH, limit - done));
    done += batch;
    if (batch === 0) break;
  }
  return done;
}

function indexBatch(connection: Connection, limit: number): number {
  // Nothing to do is the common case, and must not take the write lock.
  if (connection.all(unindexed, { after: indexedSeq(connection), limit: 1 }).length === 0) return 0;
  return connection.write(() => {
    // Read again under the lock: another process may have filled the same batch meanwhile.
    const rows = connection.all(unindexed, { after: indexedSeq(connection), limit });
    for (const row of rows) indexRow(connection, row);
    const last = rows.at(-1);
    if (last !== undefined) connection.run(setCursor, { seq: last.seq });
    return rows.length;
  });
}

function indexRow(connection: Connection, row: UnindexedRow): void {
  const text = textOfRow(row);
  if (text !== "") connection.run(insertText, { seq: row.seq, body: searchableForm(text) });
}

/** What a search looks at in an entry, from its row. */
export function textOfRow(row: Pick<EntryTable, "type" | "payload_json">): string {
  return searchableText({ type: row.type, ...(JSON.parse(row.payload_json) as object) } as EntryPayload);
}
