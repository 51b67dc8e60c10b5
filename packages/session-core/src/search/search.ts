import { type RawBuilder, sql } from "kysely";
import type { SearchHit, SearchPage, SearchRequest } from "../port/session-storage.js";
import type { Connection } from "../storage/connection.js";
import { PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PayloadRow } from "../storage/payloads.js";
import { dynamicQuery, type Query, query, rawQuery, rowLimit } from "../storage/query.js";
import type { EntryTable } from "../storage/schema.js";
import { foldText } from "./fold.js";
import { extractText, lastIndexedSeq, readableText } from "./search-index.js";
import { allOf, entryConditions, ftsExpression, indexConditions, parseQuery, type SearchTerm, sessionConditions } from "./search-query.js";
import { createSnippet } from "./snippet.js";
import { termPattern } from "./term-pattern.js";

const DEFAULT_LIMIT = 20;

/**
 * Searches titles, then the index, then the entries that are not indexed yet, each of which is scanned. Update the index
 * first; in a read-only store, or while another process holds the lock, that is not possible.
 */
export function search(connection: Connection, request: SearchRequest): SearchPage {
  const terms = parseQuery(request.query);
  const limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
  const offset = rowLimit(Number(request.cursor ?? 0));
  return connection.read(() => {
    const titles = includesTitles(request) ? findTitleHits(connection, terms, request) : [];
    const indexed = countIndexedHits(connection, terms, request);
    const unindexed = findUnindexedHits(connection, terms, entryConditions(request));
    const total = titles.length + indexed + unindexed.length;
    const hits: SearchHit[] = titles.slice(offset, offset + limit);
    const rest = limit - hits.length;
    if (rest > 0 && offset < titles.length + indexed) {
      hits.push(...findIndexedHits(connection, terms, request, rest, Math.max(0, offset - titles.length)));
    }
    const late = Math.max(0, offset + hits.length - titles.length - indexed);
    hits.push(...unindexed.slice(late, late + limit - hits.length));
    return { hits, total, next: hits.length > 0 && offset + hits.length < total ? String(offset + hits.length) : null };
  });
}

const countAll = query<{ match: string }, { total: number }>(({ sql: text, p }) =>
  rawQuery(text<{ total: number }>`SELECT count(*) AS total FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

// CROSS JOIN makes SQLite start with the index of words. Otherwise it queries the index for each entry of the session, which took
// 9 s for 20,000 matches.

function countIndexedHits(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): number {
  const match = ftsExpression(terms);
  const conditions = indexConditions(request);
  if (conditions.length === 0) return connection.get(countAll, { match })?.total ?? 0;
  const counted: Query<Record<never, never>, { total: number }> = dynamicQuery(() =>
    rawQuery(sql<{ total: number }>`
      SELECT count(*) AS total FROM entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq
      WHERE entry_text MATCH ${match} AND ${allOf(conditions)}`),
  );
  return connection.get(counted, {})?.total ?? 0;
}

function findIndexedHits(
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
      ? // FTS5 ranks, so that only the rows of the page are joined.
        sql`SELECT rowid, rank FROM entry_text WHERE entry_text MATCH ${match} ORDER BY rank, rowid DESC LIMIT ${limit} OFFSET ${offset}`
      : sql`SELECT entry_text.rowid, bm25(entry_text) AS rank
          FROM entry_text CROSS JOIN entry ON entry.seq = entry_text.rowid CROSS JOIN session ON session.seq = entry.session_seq
          WHERE entry_text MATCH ${match} AND ${allOf(conditions)} ORDER BY rank, entry.seq DESC LIMIT ${limit} OFFSET ${offset}`;
  const rows = connection.all(
    dynamicQuery<HitRow>(() =>
      rawQuery(sql<HitRow>`
        SELECT ${sql.raw(HIT_COLUMNS)} FROM (${ranked}) AS hit JOIN entry ON entry.seq = hit.rowid JOIN session ON session.seq = entry.session_seq ${sql.raw(PAYLOAD_JOIN)}
        ORDER BY hit.rank, entry.seq DESC`),
    ),
    {},
  );
  return rows.map((row) => toHit(connection, row, terms));
}

/** Whether titles can match: a title has no role, type or file. */
function includesTitles(request: SearchRequest): boolean {
  return request.roles === undefined && request.types === undefined && request.path === undefined;
}

interface TitleRow {
  readonly id: string;
  readonly title: string;
  readonly created_at_ms: number;
}

/** Returns the sessions whose title matches, best first. */
function findTitleHits(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): readonly SearchHit[] {
  const rows = connection.all(
    dynamicQuery<TitleRow>(() =>
      rawQuery(sql<TitleRow>`
        SELECT session.id, session.title, session.created_at_ms FROM session_text JOIN session ON session.seq = session_text.rowid
        WHERE session_text MATCH ${ftsExpression(terms)} AND session.title IS NOT NULL AND ${allOf(sessionConditions(request, sql.ref("session.created_at_ms")))}
        ORDER BY bm25(session_text), session.seq DESC`),
    ),
    {},
  );
  return rows.map((row) => ({
    sessionId: row.id,
    sessionTitle: row.title,
    entryId: null,
    seq: null,
    type: "title",
    role: null,
    createdAtMs: row.created_at_ms,
    ...createSnippet(row.title, terms),
  }));
}

/** How many entries are read by one query. */
const SCANNED_AT_ONCE = 500;

/** Returns the hits among the entries that are not indexed, newest first. Reads each of these entries. */
function findUnindexedHits(
  connection: Connection,
  terms: readonly SearchTerm[],
  conditions: readonly RawBuilder<boolean>[],
): readonly SearchHit[] {
  const hits: SearchHit[] = [];
  const patterns = terms.map((term) => new RegExp(termPattern(term), "u"));
  for (let after: number = lastIndexedSeq(connection); ; ) {
    const rows = connection.all(
      dynamicQuery<HitRow>(() =>
        rawQuery(sql<HitRow>`
          SELECT ${sql.raw(HIT_COLUMNS)}
          FROM entry JOIN session ON session.seq = entry.session_seq ${sql.raw(PAYLOAD_JOIN)}
          WHERE entry.seq > ${after} AND ${allOf(conditions)} ORDER BY entry.seq LIMIT ${SCANNED_AT_ONCE}`),
      ),
      {},
    );
    for (const row of rows) {
      const text = foldText(extractText(row.type, readableText(connection, row)));
      if (patterns.every((pattern) => pattern.test(text))) hits.push(toHit(connection, row, terms));
    }
    const last = rows.at(-1);
    if (last === undefined) return hits.reverse();
    after = last.seq;
  }
}

/** A row of a matching entry. */
interface HitRow extends PayloadRow, Pick<EntryTable, "id" | "type" | "role" | "created_at_ms"> {
  readonly session_id: string;
  readonly session_title: string | null;
}

/** The columns of a `HitRow`. */
const HIT_COLUMNS = `${PAYLOAD_COLUMNS}, entry.id, entry.type, entry.role, entry.created_at_ms, session.id AS session_id, session.title AS session_title`;

/** Converts a row to a hit. */
function toHit(connection: Connection, row: HitRow, terms: readonly SearchTerm[]): SearchHit {
  return {
    sessionId: row.session_id,
    sessionTitle: row.session_title,
    entryId: row.id,
    seq: row.seq,
    type: row.type,
    role: row.role,
    createdAtMs: row.created_at_ms,
    ...createSnippet(extractText(row.type, readableText(connection, row)), terms),
  };
}
