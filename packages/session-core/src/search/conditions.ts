import { type RawBuilder, sql } from "kysely";
import type { SearchRequest } from "../port/search-records.js";

// What narrows a search, as SQL on the tables `session` and `entry`.

/** What a request says of the session; `time` is the column that its dates are about. */
export function sessionConditions(request: SearchRequest, time: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (request.sessionId !== undefined) conditions.push(sql`session.id = ${request.sessionId}`);
  if (request.cwd !== undefined) conditions.push(sql`session.cwd = ${request.cwd}`);
  if (request.sinceMs !== undefined) conditions.push(sql`${time} >= ${request.sinceMs}`);
  if (request.untilMs !== undefined) conditions.push(sql`${time} < ${request.untilMs}`);
  return conditions;
}

/** What a request says of the entry and its session. */
export function entryConditions(request: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions = [...sessionConditions(request, sql.ref("entry.created_at_ms"))];
  if (request.types !== undefined) conditions.push(sql`entry.type IN (SELECT value FROM json_each(${JSON.stringify(request.types)}))`);
  if (request.roles !== undefined) conditions.push(sql`entry.role IN (SELECT value FROM json_each(${JSON.stringify(request.roles)}))`);
  if (request.path !== undefined) conditions.push(touches(request.path));
  return conditions;
}

/** What narrows the rows of the index; nothing where every row of it counts. */
export function indexConditions(request: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions = entryConditions(request);
  return request.sessionId === undefined ? conditions : [...conditions, ownRows(request.sessionId)];
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

/** All of them; nothing narrows: true. */
export function all(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`TRUE` : (sql.join(conditions, sql` AND `) as RawBuilder<boolean>);
}
