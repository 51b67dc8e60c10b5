import { type RawBuilder, sql } from "kysely";
import type { SearchRequest } from "../../port/search.js";
import { toIndexedText } from "../../rules/search/fold.js";
import { type Matching, needsAll, showsCopies } from "../../rules/search/matching.js";
import type { WordsTerm } from "../../rules/search/search-terms.js";

/**
 * Returns the words of a query in the syntax of FTS5, each part quoted, so that nothing in it is an operator. If not all terms are needed, it
 * matches entries with any of them.
 */
export function ftsExpression(matching: Matching): string {
  const words = matching.terms.flatMap((term) => (term.kind === "words" ? [termExpression(term)] : []));
  return words.join(needsAll(matching) ? " AND " : " OR ");
}

/** Returns one term in the syntax of FTS5. */
export function termExpression({ words, prefix, misspelt }: WordsTerm): string {
  if (misspelt !== undefined && misspelt.inIndex.length > 0) return `(${misspelt.inIndex.map(quote).join(" OR ")})`;
  return `${quote(words)}${prefix ? " *" : ""}`;
}

function quote(words: string): string {
  return `"${toIndexedText(words).replaceAll('"', " ")}"`;
}

// The conditions of a search, as SQL on the tables `session` and `entry`.

/** Returns the conditions on the session. `time` is the column for the dates of the request. */
export function sessionConditions(request: SearchRequest, time: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (request.sessionId !== undefined) conditions.push(sql`session.id = ${request.sessionId}`);
  conditions.push(...placeConditions(request));
  if (request.sinceMs !== undefined) conditions.push(sql`${time} >= ${request.sinceMs}`);
  if (request.untilMs !== undefined) conditions.push(sql`${time} < ${request.untilMs}`);
  return conditions;
}

/** Returns the conditions by which sessions are searched, of all. */
function placeConditions({ cwd, agents, sessionIds }: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (cwd !== undefined) conditions.push(sql`session.cwd = ${cwd}`);
  if (agents !== undefined) conditions.push(isMadeBy(agents));
  if (sessionIds !== undefined) conditions.push(sql`session.id IN (SELECT value FROM json_each(${JSON.stringify(sessionIds)}))`);
  return conditions;
}

/** The format of an import, or `bough` for a session that was made here. */
function isMadeBy(agents: readonly string[]): RawBuilder<boolean> {
  return sql`coalesce(session.source_format, 'bough') IN (SELECT value FROM json_each(${JSON.stringify(agents)}))`;
}

/** Returns the conditions on the entry and its session. */
export function entryConditions(request: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions = [...sessionConditions(request, sql.ref("entry.created_at_ms"))];
  if (request.types !== undefined) conditions.push(sql`entry.type IN (SELECT value FROM json_each(${JSON.stringify(request.types)}))`);
  if (request.roles !== undefined) conditions.push(sql`entry.role IN (SELECT value FROM json_each(${JSON.stringify(request.roles)}))`);
  if (request.path !== undefined) conditions.push(touches(request.path));
  return conditions;
}

/** A request without the entries that the search has found already. */
export interface FurtherRequest extends SearchRequest {
  readonly exceptSeqs?: readonly number[];
}

/**
 * Returns the conditions on the row number of an entry: the request names it, the entry is not private unless the request includes
 * private entries, and it is the copy that is shown. `seq` is the column of row numbers.
 */
export function numberConditions(request: FurtherRequest, seq: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const { exceptSeqs = [] } = request;
  const conditions = [...copyConditions(request, seq)];
  if (!showsCopies(request)) conditions.push(isFirstCopy(request, seq));
  if (exceptSeqs.length > 0) conditions.push(sql`${seq} NOT IN (SELECT value FROM json_each(${JSON.stringify(exceptSeqs)}))`);
  return conditions;
}

/** The conditions of `numberConditions` that the copies of an entry meet too. */
export function copyConditions({ seqs, includePrivate }: SearchRequest, seq: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (seqs !== undefined) conditions.push(isOneOf(seqs, seq));
  if (includePrivate !== true) conditions.push(sql`${seq} NOT IN (SELECT entry_seq FROM private_entry)`);
  return conditions;
}

/** The entry is the original; or the original is not in the searched sessions, and it is the copy in the one that was stored first. */
function isFirstCopy(request: SearchRequest, seq: RawBuilder<unknown>): RawBuilder<boolean> {
  const places = placeConditions(request);
  const copy = sql`SELECT 1 FROM entry AS copy WHERE copy.seq = ${seq} AND copy.inherited = 1`;
  if (places.length === 0) return sql`NOT EXISTS (${copy})`;
  return sql`NOT EXISTS (${copy} AND (
    EXISTS (
      SELECT 1 FROM entry AS other CROSS JOIN session ON session.seq = other.session_seq
      WHERE other.origin = copy.origin AND other.session_seq <> copy.session_seq AND (other.inherited = 0 OR other.session_seq < copy.session_seq) AND ${allOf(places)})
    OR EXISTS (
      SELECT 1 FROM session CROSS JOIN entry AS other ON other.session_seq = session.seq AND other.id = substr(copy.origin, instr(copy.origin, ' ') + 1)
      WHERE session.id = substr(copy.origin, 1, instr(copy.origin, ' ') - 1) AND other.origin IS NULL AND ${allOf(places)})))`;
}

/** The results of a call are among this many entries after it: calls of one reply run side by side. */
const RESULT_REACH = 200;

/** The entry calls a tool on this file, or on one whose path ends with it; or it is the result of such a call. */
function touches(path: string): RawBuilder<boolean> {
  const tail = `/${path.replace(/^\.?\//, "")}`;
  const isOnFile = sql`(path = ${path} OR substr('/' || path, -length(${tail})) = ${tail})`;
  return sql`(EXISTS (SELECT 1 FROM file_operation WHERE entry_seq = entry.seq AND ${isOnFile})
    OR entry.call_id IS NOT NULL AND EXISTS (
      SELECT 1 FROM file_operation CROSS JOIN entry AS call ON call.seq = file_operation.entry_seq
      WHERE file_operation.entry_seq BETWEEN entry.seq - ${sql.lit(RESULT_REACH)} AND entry.seq AND file_operation.tool_call_id = entry.call_id
        AND call.session_seq = entry.session_seq AND ${isOnFile}))`;
}

/** With at most this many runs of consecutive numbers, each run is one comparison. */
const MOST_RUNS = 20;

// The plus sign keeps SQLite from looking up each number in the index of words, which is far slower than a look-up of the words.
function isOneOf(seqs: readonly number[], seq: RawBuilder<unknown>): RawBuilder<boolean> {
  const runs: [from: number, to: number][] = [];
  for (const number of seqs) {
    const last = runs.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else if (runs.push([number, number]) > MOST_RUNS) return sql`+${seq} IN (SELECT value FROM json_each(${JSON.stringify(seqs)}))`;
  }
  if (runs.length === 0) return sql`FALSE`;
  return sql`(${sql.join(
    runs.map(([from, to]) => sql`+${seq} BETWEEN ${from} AND ${to}`),
    sql` OR `,
  )})`;
}

/** Combines conditions with AND; TRUE for none. */
export function allOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`TRUE` : sql<boolean>`${sql.join(conditions, sql` AND `)}`;
}
