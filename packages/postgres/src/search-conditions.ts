import type { SearchRequest } from "@bough/session-core";
import { ENTRY_TYPES, MESSAGE_ROLES, showsCopies, toEntryKind } from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import { possibleSeqs, wholeMs } from "./entries.js";
import { startsAndIs } from "./schema.js";
import { allOf } from "./search-words.js";

// The conditions of a search that are not on words, as SQL on the tables `entry` and `session`.

/** The entries of a search as SQL: the tables, and the conditions on them. */
export interface SearchedEntries {
  readonly from: RawBuilder<unknown>;
  readonly where: RawBuilder<boolean>;
}

const JOIN_SESSION = sql`JOIN session ON session.tenant = entry.tenant AND session.session_id = entry.session_id`;

/** The entries that a request allows. `untilMs`: those that a later page must not have. */
export function searchedEntries(request: SearchRequest, tenant: string, untilMs: number | null): SearchedEntries {
  const ofSession = sessionConditions(request);
  const conditions: RawBuilder<boolean>[] = [sql`entry.tenant = ${tenant}`, ...ofSession];
  const { sessionId, types, roles, seqs, sinceMs, path, includePrivate } = request;
  if (sessionId !== undefined) conditions.push(sql`entry.session_id = ${sessionId}`);
  if (types !== undefined || roles !== undefined) conditions.push(sql`entry.kind = ANY (${kindsOf(request)}::smallint[])`);
  if (seqs !== undefined) conditions.push(sql`entry.seq = ANY (${possibleSeqs(seqs)}::integer[])`);
  if (sinceMs !== undefined) conditions.push(sql`entry.created_at_ms >= ${wholeMs(sinceMs)}`);
  if (request.untilMs !== undefined) conditions.push(sql`entry.created_at_ms < ${wholeMs(request.untilMs)}`);
  if (untilMs !== null) conditions.push(sql`entry.created_at_ms <= ${untilMs}`);
  if (includePrivate !== true) conditions.push(sql`NOT entry.is_private`);
  if (!showsCopies(request)) conditions.push(isFirstCopy(request));
  if (path !== undefined) conditions.push(touches(path));
  return { from: ofSession.length === 0 ? sql`entry` : sql`entry ${JOIN_SESSION}`, where: allOf(conditions) };
}

/** The entry is no copy; or it is the first copy in the searched sessions, in the order in which these came into the store, and the original is in none of them. */
function isFirstCopy(request: SearchRequest): RawBuilder<boolean> {
  const places = sessionConditions(request);
  if (places.length === 0) return sql`NOT entry.inherited`;
  return sql`(NOT entry.inherited OR NOT EXISTS (
      SELECT 1 FROM entry AS other JOIN session ON session.tenant = other.tenant AND session.session_id = other.session_id
      WHERE other.tenant = entry.tenant AND other.origin = entry.origin AND other.session_id <> entry.session_id
        AND (NOT other.inherited OR (session.seq, session.session_id) < (
          SELECT own.seq, own.session_id FROM session AS own WHERE own.tenant = entry.tenant AND own.session_id = entry.session_id)) AND ${allOf(places)})
    AND NOT EXISTS (
      SELECT 1 FROM session JOIN entry AS other ON other.tenant = session.tenant AND other.session_id = session.session_id
      WHERE session.tenant = entry.tenant AND session.session_id = split_part(entry.origin, ' ', 1)
        AND other.id = split_part(entry.origin, ' ', 2) AND other.origin IS NULL AND ${allOf(places)}))`;
}

/** The sessions whose titles a request allows. */
export function searchedSessions(request: SearchRequest, tenant: string): RawBuilder<boolean> {
  const conditions: RawBuilder<boolean>[] = [sql`session.tenant = ${tenant}`, ...sessionConditions(request)];
  if (request.sessionId !== undefined) conditions.push(sql`session.session_id = ${request.sessionId}`);
  if (request.sinceMs !== undefined) conditions.push(sql`session.created_at_ms >= ${wholeMs(request.sinceMs)}`);
  if (request.untilMs !== undefined) conditions.push(sql`session.created_at_ms < ${wholeMs(request.untilMs)}`);
  return allOf(conditions);
}

/** The format of an import is `bough` for a session that was made here. */
function sessionConditions({ cwd, agents }: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (cwd !== undefined) conditions.push(startsAndIs(sql`session.cwd`, cwd));
  if (agents !== undefined) conditions.push(sql`coalesce(session.source_format, 'bough') = ANY (${agents}::text[])`);
  return conditions;
}

const KINDS = Array.from({ length: MESSAGE_ROLES.length + ENTRY_TYPES.length - 1 }, (_, at) => at + 1);

/** The numbers of the kinds with one of the types and one of the roles. */
function kindsOf({ types, roles }: SearchRequest): readonly number[] {
  return KINDS.filter((number) => {
    const { type, role } = toEntryKind(number);
    return (types === undefined || types.includes(type)) && (roles === undefined || (role !== null && roles.includes(role)));
  });
}

/** The member `path` of a JSON text, as it is written there. In another text its quotation marks would have backslashes. */
const PATH_MEMBER = String.raw`"path":("(?:[^"\\]|\\.)*")`;

/**
 * The entry calls a tool on this file, or on one whose path ends with it. Paths are compared as JSON texts: the server cannot
 * parse one with the character U+0000. Few entries have the end of the path anywhere.
 */
function touches(path: string): RawBuilder<boolean> {
  const tail = `/${path.replace(/^\.?\//, "")}`;
  const end = JSON.stringify(tail).slice(1);
  const name = JSON.stringify(tail.slice(tail.lastIndexOf("/") + 1)).slice(1, -1);
  return sql`(strpos(entry.file_operations, ${name}) > 0 AND EXISTS (
    SELECT 1 FROM json_array_elements(entry.file_operations::json) AS operation,
      LATERAL (SELECT substring(operation::text FROM ${PATH_MEMBER}) AS path) AS touched
    WHERE touched.path IN (${JSON.stringify(path)}, ${JSON.stringify(tail.slice(1))}) OR right(touched.path, ${[...end].length}::integer) = ${end}))`;
}
