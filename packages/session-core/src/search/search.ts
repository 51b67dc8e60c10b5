import { type RawBuilder, sql } from "kysely";
import type { SearchHit, SearchPage, SearchRequest } from "../port/search-records.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery, plain, type Query, query } from "../storage/query.js";
import type { EntryTable } from "../storage/schema.js";
import { textOfRow } from "./index-batch.js";
import { ftsExpression, parseQuery, type SearchTerm } from "./query-syntax.js";
import { snippetOf } from "./snippet.js";

const DEFAULT_LIMIT = 20;

interface HitRow extends Pick<EntryTable, "seq" | "id" | "type" | "role" | "created_at_ms" | "payload_json"> {
  readonly session_id: string;
  readonly session_title: string | null;
}

/** What fits, best first. The index must have been brought up to date before. */
export function search(connection: Connection, request: SearchRequest): SearchPage {
  const terms = parseQuery(request.query);
  const limit = request.limit ?? DEFAULT_LIMIT;
  const offset = Number(request.cursor ?? 0);
  return connection.read(() => {
    const titles = asksForTitles(request) ? titleHits(connection, terms, request) : [];
    const total = titles.length + count(connection, terms, request);
    const shown = titles.slice(offset, offset + limit);
    const rest = limit - shown.length;
    const entries = rest === 0 ? [] : entryHits(connection, terms, request, rest, Math.max(0, offset - titles.length));
    const hits = [...shown, ...entries];
    return { hits, total, next: offset + hits.length < total ? String(offset + hits.length) : null };
  });
}

// A title has no role, type or file.
function asksForTitles(request: SearchRequest): boolean {
  return request.roles === undefined && request.types === undefined && request.path === undefined;
}

interface TitleRow {
  readonly id: string;
  readonly title: string;
  readonly created_at_ms: number;
}

function titleHits(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): readonly SearchHit[] {
  const rows = connection.all(
    onceQuery<TitleRow>(() =>
      plain(sql<TitleRow>`
        SELECT session.id, session.title, session.created_at_ms FROM session_text JOIN session ON session.seq = session_text.rowid
        WHERE session_text MATCH ${ftsExpression(terms)} AND session.title IS NOT NULL AND ${all(sessionConditions(request, sql.ref("session.created_at_ms")))}
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
    ...snippetOf(row.title, terms),
  }));
}

function sessionConditions(request: SearchRequest, time: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (request.sessionId !== undefined) conditions.push(sql`session.id = ${request.sessionId}`);
  if (request.cwd !== undefined) conditions.push(sql`session.cwd = ${request.cwd}`);
  if (request.sinceMs !== undefined) conditions.push(sql`${time} >= ${request.sinceMs}`);
  if (request.untilMs !== undefined) conditions.push(sql`${time} < ${request.untilMs}`);
  return conditions;
}

function entryConditions(request: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions = [...sessionConditions(request, sql.ref("entry.created_at_ms"))];
  if (request.types !== undefined) conditions.push(sql`entry.type IN (SELECT value FROM json_each(${JSON.stringify(request.types)}))`);
  if (request.roles !== undefined) conditions.push(sql`entry.role IN (SELECT value FROM json_each(${JSON.stringify(request.roles)}))`);
  if (request.path !== undefined) conditions.push(touches(request.path));
  if (request.sessionId !== undefined) conditions.push(ownRows(request.sessionId));
  return conditions;
}

// The index is ordered by row, so the first and last row of a session bound what it has to look at.
function ownRows(sessionId: string): RawBuilder<boolean> {
  const rows = (end: "min" | "max") =>
    sql`(SELECT ${sql.raw(end)}(seq) FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${sessionId}))`;
  return sql`entry_text.rowid BETWEEN ${rows("min")} AND ${rows("max")}`;
}

/** The entry calls a tool on this file, or on one whose path ends in it. */
function touches(path: string): RawBuilder<boolean> {
  const tail = `/${path.replace(/^\.?\//, "")}`;
  return sql`EXISTS (SELECT 1 FROM file_operation WHERE entry_seq = entry.seq
    AND (path = ${path} OR substr('/' || path, -length(${tail})) = ${tail}))`;
}

function all(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`TRUE` : (sql.join(conditions, sql` AND `) as RawBuilder<boolean>);
}

const countAll = query<{ match: string }, { total: number }>(({ sql: text, p }) =>
  plain(text<{ total: number }>`SELECT count(*) AS total FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

function count(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): number {
  const match = ftsExpression(terms);
  const conditions = entryConditions(request);
  if (conditions.length === 0) return connection.get(countAll, { match })?.total ?? 0;
  const counted: Query<Record<never, never>, { total: number }> = onceQuery(() =>
    plain(sql<{ total: number }>`
      SELECT count(*) AS total FROM entry_text JOIN entry ON entry.seq = entry_text.rowid JOIN session ON session.seq = entry.session_seq
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
  const conditions = entryConditions(request);
  const columns = sql.raw(
    "entry.seq, entry.id, entry.type, entry.role, entry.created_at_ms, entry.payload_json, session.id AS session_id, session.title AS session_title",
  );
  const ranked =
    conditions.length === 0
      ? // Ranked inside FTS5, so that only the rows that are shown are looked up.
        sql`SELECT rowid, rank FROM entry_text WHERE entry_text MATCH ${match} ORDER BY rank, rowid DESC LIMIT ${limit} OFFSET ${offset}`
      : sql`SELECT entry_text.rowid, bm25(entry_text) AS rank
          FROM entry_text JOIN entry ON entry.seq = entry_text.rowid JOIN session ON session.seq = entry.session_seq
          WHERE entry_text MATCH ${match} AND ${all(conditions)} ORDER BY rank, entry.seq DESC LIMIT ${limit} OFFSET ${offset}`;
  const rows = connection.all(
    onceQuery<HitRow>(() =>
      plain(sql<HitRow>`
        SELECT ${columns} FROM (${ranked}) AS hit JOIN entry ON entry.seq = hit.rowid JOIN session ON session.seq = entry.session_seq
        ORDER BY hit.rank, entry.seq DESC`),
    ),
    {},
  );
  return rows.map((row) => hitOf(row, terms));
}

function hitOf(row: HitRow, terms: readonly SearchTerm[]): SearchHit {
  return {
    sessionId: row.session_id,
    sessionTitle: row.session_title,
    entryId: row.id,
    seq: row.seq,
    type: row.type,
    role: row.role,
    createdAtMs: row.created_at_ms,
    ...snippetOf(textOfRow(row), terms),
  };
}
