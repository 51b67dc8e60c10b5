import { type RawBuilder, sql } from "kysely";
import type { SearchRequest } from "../port/session-storage.js";
import type { Connection } from "../storage/connection.js";
import { dynamicQuery, query, rawQuery } from "../storage/query.js";
import { countMatches, type RankedEntry } from "./rank.js";
import { lastIndexedSeq } from "./search-index.js";
import { allOf, entryConditions, ftsExpression, type SearchTerm } from "./search-query.js";

// The hits of a search in the index. `from` is the last row number that the search looks up there; the scan has those after it.
// While a search goes on, the index may have grown beyond it.

// CROSS JOIN makes SQLite start with the index of words. Otherwise it queries the index for each entry of the session, which took
// 9 s for 20,000 matches.
const JOINED = sql`entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq`;

/** Returns the number of matching entries in the index. */
export function countIndexHits(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest, from: number): number {
  const conditions = indexConditions(connection, request, from);
  if (conditions.length === 0) return countMatches(connection, terms);
  const counted = dynamicQuery<{ total: number }>(() =>
    rawQuery(sql<{ total: number }>`
      SELECT count(*) AS total FROM ${JOINED} WHERE entry_text MATCH ${ftsExpression(terms)} AND ${allOf(conditions)}`),
  );
  return connection.get(counted, {})?.total ?? 0;
}

const ranked = query<{ match: string; limit: number; offset: number }, RankedEntry>(({ sql: text, p }) =>
  // FTS5 ranks; no row of another table is read.
  rawQuery(text<RankedEntry>`
    SELECT rowid AS seq, rank FROM entry_text WHERE entry_text MATCH ${p.match} ORDER BY rank, rowid DESC LIMIT ${p.limit} OFFSET ${p.offset}`),
);

/** Returns the matching entries in the index, best first; of equal ranks the newest first. */
export function findIndexHits(
  connection: Connection,
  terms: readonly SearchTerm[],
  request: SearchRequest,
  from: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly RankedEntry[] {
  const match = ftsExpression(terms);
  const conditions = indexConditions(connection, request, from);
  if (conditions.length === 0) return connection.all(ranked, { match, limit, offset });
  const filtered = dynamicQuery<RankedEntry>(() =>
    rawQuery(sql<RankedEntry>`
      SELECT entry_text.rowid AS seq, bm25(entry_text) AS rank FROM ${JOINED}
      WHERE entry_text MATCH ${match} AND ${allOf(conditions)} ORDER BY rank, entry.seq DESC LIMIT ${limit} OFFSET ${offset}`),
  );
  return connection.all(filtered, {});
}

/** Returns the conditions on rows of the index. */
function indexConditions(connection: Connection, request: SearchRequest, from: number): readonly RawBuilder<boolean>[] {
  const conditions = [...entryConditions(request)];
  if (request.sessionId !== undefined) conditions.push(ownRows(request.sessionId));
  if (lastIndexedSeq(connection) > from) conditions.push(sql`entry_text.rowid <= ${from}`);
  return conditions;
}

// The index is ordered by row number, so the first and last entry of the session bound the scan.
function ownRows(sessionId: string): RawBuilder<boolean> {
  const rows = (end: "min" | "max") =>
    sql`(SELECT ${sql.raw(end)}(seq) FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${sessionId}))`;
  return sql`entry_text.rowid BETWEEN ${rows("min")} AND ${rows("max")}`;
}
