import type { EntryListing } from "@bough/session-core";
import { kindsWith, rowLimit, type SessionKey } from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { eachFilter, type FilterParameters, matching } from "./entry-filter.js";
import { pgQuery, pgRaw } from "./query.js";
import { MAX_SEQ } from "./runs.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";

// Lists of the entries of a session in order of arrival, whatever their branch: as entries in entries.ts, as rows in outline.ts.

const DEFAULT_LIMIT = 1000;

interface ListParameters extends KeyParameters, FilterParameters {
  after: number;
  before: number;
  limit: number;
}

/** A number that a caller gave as one of an entry, within the range of the column. */
export function clampSeq(seq: number): number {
  return Number.isNaN(seq) ? 0 : Math.max(0, Math.min(MAX_SEQ, Math.floor(seq)));
}

/** Of numbers that a caller gave, those that an entry can have. */
export function possibleSeqs(seqs: readonly number[]): readonly number[] {
  return seqs.filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= MAX_SEQ);
}

/** A bound of times that a caller gave, as a whole number: times are whole milliseconds. */
export function wholeMs(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(ms)));
}

/** Declares the queries of a list with these columns. Returns the function that reads a page of it. */
export function listOf<R>(columns: string): (database: Database, key: SessionKey, listing: EntryListing) => Promise<readonly R[]> {
  const inOrder = (order: "ASC" | "DESC") =>
    eachFilter((shape) =>
      pgQuery<ListParameters, R>(({ sql, p }) =>
        pgRaw(sql<R>`
          SELECT ${sql.raw(columns)} FROM entry
          WHERE ${ofSession(sql, p, "entry")} AND entry.seq > ${p.after} AND entry.seq < ${p.before} ${matching(sql, p, shape)}
            AND ${sessionExists(sql, p)}
          ORDER BY entry.seq ${sql.raw(order)} LIMIT ${p.limit}`),
      ),
    );
  const [oldest, newest] = [inOrder("ASC"), inOrder("DESC")];
  return async (database, key, listing) => {
    const filter = { kinds: listing.types === undefined ? null : kindsWith(listing.types), customType: listing.customType ?? null };
    const query = (listing.order === "newest" ? newest : oldest)(filter);
    return rowsOf(database, key, query, {
      ...filter,
      after: clampSeq(listing.afterSeq ?? 0),
      before: clampSeq(listing.beforeSeq ?? MAX_SEQ),
      limit: rowLimit(listing.limit ?? DEFAULT_LIMIT),
    });
  };
}
