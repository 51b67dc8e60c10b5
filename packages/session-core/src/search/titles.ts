import { sql } from "kysely";
import type { SearchHit, SearchRequest } from "../port/search-records.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery, plain } from "../storage/query.js";
import { all, sessionConditions } from "./conditions.js";
import { ftsExpression, type SearchTerm } from "./query-syntax.js";
import { snippetOf } from "./snippet.js";

/** Whether titles can fit: a title has no role, type or file. */
export function asksForTitles(request: SearchRequest): boolean {
  return request.roles === undefined && request.types === undefined && request.path === undefined;
}

interface TitleRow {
  readonly id: string;
  readonly title: string;
  readonly created_at_ms: number;
}

/** Sessions whose title fits, best first. */
export function titleHits(connection: Connection, terms: readonly SearchTerm[], request: SearchRequest): readonly SearchHit[] {
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
