import { type RawBuilder, sql } from "kysely";
import type { SearchRequest } from "../../port/search.js";
import { type Matching, needsAll } from "../../rules/search/matching.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import type { RankedEntry } from "./rank.js";
import { lastIndexedSeq } from "./search-index.js";
import { allOf, entryConditions, ftsExpression, numberConditions, termExpression } from "./search-query.js";
import { type FittingRow, findFittingRows } from "./term-rows.js";

// The hits of a search in the index: those with whole words, which FTS5 ranks, and those with parts of words. `from` is the last row
// number that the search looks up there; the scan has those after it. During a search, the index may grow beyond it.

// CROSS JOIN makes SQLite start with the index of words. Otherwise it queries the index for each entry of the session, which took
// 9 s for 20,000 matches.
const JOINED = sql`entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq`;

/** Returns the number of entries in the index that have enough of the terms as whole words. */
export function countIndexHits(connection: Connection, matching: Matching, request: SearchRequest, from: number): number {
  const joined = entryConditions(request);
  const counted = dynamicQuery(sql<{ total: number }>`
      SELECT count(*) AS total FROM ${joined.length === 0 ? sql`entry_text` : JOINED}
      WHERE entry_text MATCH ${ftsExpression(matching)} AND ${allOf([...rowConditions(connection, matching, request, from), ...joined])}`);
  return connection.get(counted, {})?.total ?? 0;
}

/** Returns the entries in the index that have enough of the terms as whole words, best first; of equal ranks the newest first. */
export function findIndexHits(
  connection: Connection,
  matching: Matching,
  request: SearchRequest,
  from: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly RankedEntry[] {
  const match = ftsExpression(matching);
  const joined = entryConditions(request);
  const conditions = allOf([...rowConditions(connection, matching, request, from), ...joined]);
  const ranked = dynamicQuery(
    joined.length === 0
      ? sql<RankedEntry>`
          SELECT rowid AS seq, rank FROM entry_text WHERE entry_text MATCH ${match} AND ${conditions}
          ORDER BY rank, rowid DESC LIMIT ${limit} OFFSET ${offset}`
      : sql<RankedEntry>`
          SELECT entry_text.rowid AS seq, bm25(entry_text) AS rank FROM ${JOINED}
          WHERE entry_text MATCH ${match} AND ${conditions} ORDER BY rank, entry.seq DESC LIMIT ${limit} OFFSET ${offset}`,
  );
  return connection.all(ranked, {});
}

/** Returns the conditions on row numbers of the index: no row of another table is read for each hit. */
function rowConditions(connection: Connection, matching: Matching, request: SearchRequest, from: number): readonly RawBuilder<boolean>[] {
  const conditions = [...numberConditions(request, sql.ref("entry_text.rowid"))];
  if (request.sessionId !== undefined) conditions.push(ownRows(request.sessionId));
  if (lastIndexedSeq(connection) > from) conditions.push(sql`entry_text.rowid <= ${from}`);
  if (!needsAll(matching)) conditions.push(containsSome(matching, request));
  return conditions;
}

// Each term is looked up in the index once; the rows that enough of them contain are a temporary list. For
// the plus sign see `numberConditions`.
function containsSome({ terms, atLeast }: Matching, request: SearchRequest): RawBuilder<boolean> {
  const bounds = request.sessionId === undefined ? sql<boolean>`TRUE` : ownRows(request.sessionId);
  const lookUps = terms.flatMap((term) =>
    term.kind === "words" ? [sql`SELECT rowid AS hit FROM entry_text WHERE entry_text MATCH ${termExpression(term)} AND ${bounds}`] : [],
  );
  return sql`+entry_text.rowid IN (SELECT hit FROM (${sql.join(lookUps, sql` UNION ALL `)}) GROUP BY hit HAVING count(*) >= ${atLeast})`;
}

// The index is ordered by row number, so the first and last entry of the session bound the scan.
function ownRows(sessionId: string): RawBuilder<boolean> {
  const rows = (end: "min" | "max") =>
    sql`(SELECT ${sql.raw(end)}(seq) FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${sessionId}))`;
  return sql`entry_text.rowid BETWEEN ${rows("min")} AND ${rows("max")}`;
}

const rangeOfSession = query<{ id: string }, { from: number | null; to: number | null }>(({ sql: text, p }) =>
  rawQuery(text<{ from: number | null; to: number | null }>`
    SELECT min(seq) AS "from", max(seq) AS "to" FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id})`),
);

/** The rows in which a search may find something: those of its session, up to the row number `to`. */
export function rowsToSearch(
  connection: Connection,
  { sessionId }: SearchRequest,
  to: number,
): { readonly from: number; readonly to: number } {
  if (sessionId === undefined) return { from: 1, to };
  const range = connection.get(rangeOfSession, { id: sessionId });
  return { from: range?.from ?? 1, to: Math.min(to, range?.to ?? 0) };
}

/**
 * Returns the entries in the index that have enough of the terms, but not as whole words: those where a word starts with a term, then those
 * with a term inside a word; of each the newest first. Cost: all words of the store, and the rows of the words that contain a term.
 */
export function findPartHits(connection: Connection, matching: Matching, request: SearchRequest, from: number): readonly FittingRow[] {
  if (!matching.terms.some((term) => term.kind === "words" && term.reach !== "whole")) return [];
  const rows = findFittingRows(connection, matching, { table: "entry_text", ...rowsToSearch(connection, request, from) }) ?? [];
  const parts = rows.filter(({ fit }) => fit > 0);
  if (parts.length === 0) return [];
  const isAllowed = createRowFilter(connection, parts, request);
  return parts.filter(({ seq }) => isAllowed(seq)).sort((a, b) => a.fit - b.fit || b.seq - a.seq);
}

/** Returns a test for the other conditions of a search. */
function createRowFilter(connection: Connection, rows: readonly FittingRow[], request: SearchRequest): (seq: number) => boolean {
  if (entryConditions(request).length > 0 || request.seqs !== undefined || hasCopies(connection)) {
    const meeting = new Set(filterRows(connection, rows, request));
    return (seq) => meeting.has(seq);
  }
  if (request.includePrivate === true) return () => true;
  const hidden = new Set(connection.all(privateEntries, {}).map(({ entry_seq }) => entry_seq));
  return (seq) => !hidden.has(seq);
}

const anyCopy = query<Record<never, never>, { seq: number }>(({ sql: text }) =>
  rawQuery(text<{ seq: number }>`SELECT seq FROM entry WHERE inherited = 1 LIMIT 1`),
);

function hasCopies(connection: Connection): boolean {
  return connection.get(anyCopy, {}) !== undefined;
}

const privateEntries = query<Record<never, never>, { entry_seq: number }>(({ sql: text }) =>
  rawQuery(text<{ entry_seq: number }>`SELECT entry_seq FROM private_entry`),
);

function filterRows(connection: Connection, rows: readonly FittingRow[], request: SearchRequest): readonly number[] {
  const conditions = [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
  const asked = sql`json_each(${JSON.stringify(rows.map(({ seq }) => seq))}) AS asked`;
  const meeting = dynamicQuery(sql<{ seqs: string }>`
      SELECT json_group_array(entry.seq) AS seqs FROM ${asked} CROSS JOIN entry ON entry.seq = asked.value
      CROSS JOIN session ON session.seq = entry.session_seq WHERE ${allOf(conditions)}`);
  const seqs: readonly number[] = JSON.parse(connection.get(meeting, {})?.seqs ?? "[]");
  return seqs;
}
