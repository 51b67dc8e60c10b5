import { sql } from "kysely";
import type { SearchHit, SearchPage, SearchRequest } from "../port/search-records.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery, plain, type Query, query } from "../storage/query.js";
import { rowLimit } from "../storage/row-limit.js";
import { all, entryConditions, indexConditions } from "./conditions.js";
import { HIT_COLUMNS, type HitRow, hitOf } from "./hits.js";
import { ftsExpression, parseQuery, type SearchTerm } from "./query-syntax.js";
import { asksForTitles, titleHits } from "./titles.js";
import { unindexedHits } from "./unindexed.js";

const DEFAULT_LIMIT = 20;

/**
 * What fits, best first. The index should have been brought up to date before; entries that it does not have, because
 * the store can only be read or another process holds it, are looked through one by one and come last.
 */
export function search(connection: Connection, request: SearchRequest): SearchPage {
  const terms = parseQuery(request.query);
  const limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
  const offset = rowLimit(Number(request.cursor ?? 0));
  return connection.read(() => {
    const titles = asksForTitles(request) ? titleHits(connection, terms, request) : [];
    const indexed = count(connection, terms, request);
    const unindexed = unindexedHits(connection, terms, entryConditions(request));
    const total = titles.length + indexed + unindexed.length;
    const hits: SearchHit[] = titles.slice(offset, offset + limit);
    const rest = limit - hits.length;
    if (rest > 0 && offset < titles.length + indexed) {
      hits.push(...entryHits(connection, terms, request, rest, Math.max(0, offset - titles.length)));
    }
    const late = Math.max(0, offset + hits.length - titles.length - indexed);
    hits.push(...unindexed.slice(late, late + limit - hits.length));
    return { hits, total, next: hits.length > 0 && offset + hits.length < total ? String(offset + hits.length) : null };
  });
}

const countAll = query<{ match: string }, { total: number }>(({ sql: text, p }) =>
  plain(text<{ total: number }>`SELECT count(*) AS total FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

// CROSS keeps SQLite from starting at the entries of the session and asking the index for each: that grew with the square
// of the session (20,000 matches took 9 s).

function count(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): number {
  const match = ftsExpression(terms);
  const conditions = indexConditions(request);
  if (conditions.length === 0) return connection.get(countAll, { match })?.total ?? 0;
  const counted: Query<Record<never, never>, { total: number }> = onceQuery(() =>
    plain(sql<{ total: number }>`
      SELECT count(*) AS total FROM entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq
      WHERE entry_text MATCH ${match} AND ${all(conditions)}`),
  );
  return connection.get(counted, {})?.total ?? 0;
}

function entryHits(
  connection: Connection,
  terms: readonly SearchTerm[],
  request: SearchRequest,
  limit: number,
  offset: number,
): readonly SearchHit[] {
  const match = ftsExpression(terms);
  const conditions = indexConditions(request);
  const ranked =
    conditions.length === 0
      ? // Ranked inside FTS5, so that only the rows that are shown are looked up.
        sql`SELECT rowid, rank FROM entry_text WHERE entry_text MATCH ${match} ORDER BY rank, rowid DESC LIMIT ${limit} OFFSET ${offset}`
      : sql`SELECT entry_text.rowid, bm25(entry_text) AS rank
          FROM entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq
          WHERE entry_text MATCH ${match} AND ${all(conditions)} ORDER BY rank, entry.seq DESC LIMIT ${limit} OFFSET ${offset}`;
  const rows = connection.all(
    onceQuery<HitRow>(() =>
      plain(sql<HitRow>`
        SELECT ${sql.raw(HIT_COLUMNS)} FROM (${ranked}) AS hit JOIN entry ON entry.seq = hit.rowid JOIN session ON session.seq = entry.session_seq
        ORDER BY hit.rank, entry.seq DESC`),
    ),
    {},
  );
  return rows.map((row) => hitOf(row, terms));
}
