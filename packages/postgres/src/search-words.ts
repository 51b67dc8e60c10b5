import type { SearchRequest } from "@bough/session-core";
import {
  ENTRY_TYPES,
  listPieces,
  type Matching,
  MESSAGE_ROLES,
  needsAll,
  type Piece,
  type SearchTerm,
  type StemTerm,
  showsCopies,
  toEntryKind,
  tokensOf,
  type WordsTerm,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.js";
import { possibleSeqs, wholeMs } from "./entries.js";
import { pgQuery, pgRaw } from "./query.js";
import { startsAndIs } from "./schema.js";
import { toLexeme } from "./words.js";

/** The listed words that match a pattern, by the pattern. */
export type WordParts = ReadonlyMap<string, readonly string[]>;

/** The pattern of words in which a piece is not at the start; undefined: the index itself finds the words with this piece. */
function partPattern({ text, place }: Piece): string | undefined {
  if (place === "end") return `%_${text}`;
  return place === "anywhere" ? `%_${text}%` : undefined;
}

const wordsLike = pgQuery<{ pattern: string }, { words: readonly string[] | null }>(({ sql, p }) =>
  pgRaw(sql<{ words: readonly string[] | null }>`
    SELECT array_agg(DISTINCT word) AS words FROM word WHERE tenant = ${p.tenant} AND word LIKE ${p.pattern}`),
);

/** Looks up the words with these pieces. Cost: with `pg_trgm` those words, without it the list of the tenant (about 0.1 µs a word). */
export async function readWordParts(database: Database, pieces: readonly Piece[]): Promise<WordParts> {
  const patterns = new Set(pieces.flatMap((piece) => partPattern(piece) ?? []));
  const found = new Map<string, readonly string[]>();
  for (const pattern of patterns) found.set(pattern, (await database.get(wordsLike, { pattern }))?.words ?? []);
  return found;
}

// The conditions of a search as SQL on the tsvector of a text. The index finds whole words and beginnings of words. Other parts of words
// were looked up in the list of words before; here they are lists of words.
//
// Each query is the result of a subquery, so that the planner does not estimate it: the planner ignores the cost of reading a large
// tsvector, and would scan the table for a frequent word.

/** tsqueries. A text has to match one of them. */
type Alternatives = readonly string[];

/** The column of words that is searched. */
export interface WordsColumn {
  readonly tenant: string;
  readonly parts: WordParts;
  /** The rows whose words match one of the queries. */
  readonly has: (queries: Alternatives) => RawBuilder<boolean>;
  /** The rows that meet at least `atLeast` of the conditions, each of which is one of `has`. */
  readonly counted: (conditions: readonly RawBuilder<boolean>[], atLeast: number) => RawBuilder<boolean>;
}

/** The most queries that a condition lists one by one, so that the planner knows their number. It assumes ten for any other array. */
const COUNTED = 10;

/** SQL of the condition that the words of a column match one of the queries. */
export function matches(column: RawBuilder<unknown>, queries: Alternatives): RawBuilder<boolean> {
  if (queries.length <= COUNTED)
    return sql<boolean>`${column} @@ ANY (ARRAY[${sql.join(queries.map((one) => sql`(SELECT ${one}::tsquery)`))}]::tsquery[])`;
  return sql<boolean>`${column} @@ ANY ((SELECT ${queries}::text[])::tsquery[])`;
}

/** Whole words only, also the start of a word, or also any part of it. */
type Reach = WordsTerm["reach"];

/** The condition that a row has enough of the terms, which are all words, with this reach or the smaller one of the term. */
export function termsCondition(matching: Matching, reach: Reach, column: WordsColumn): RawBuilder<boolean> {
  const terms = matching.terms.filter((term) => term.kind === "words");
  return atLeastOf(
    terms.map((term) => alternativesOf(term, reach, column)),
    matching.atLeast,
    column,
  );
}

/** The condition that a row can match, as far as the index knows; null: any row can. */
export function candidatesCondition(matching: Matching, column: WordsColumn): RawBuilder<boolean> | null {
  const { terms, atLeast } = matching;
  const known = terms.map((term) => neededFor(term, column)).filter((needed) => needed.length > 0);
  // A term that the index does not find counts as found.
  const wanted = atLeast - (terms.length - known.length);
  if (wanted <= 0) return null;
  if (!needsAll(matching))
    return atLeastOf(
      known.flatMap((needed) => needed.slice(0, 1)),
      wanted,
      column,
    );
  // Rows that have the rarer pieces are read anyway.
  const needed = known.flat();
  const few = needed.filter(isFew);
  return atLeastOf(few.length > 0 ? few : needed, few.length > 0 ? few.length : needed.length, column);
}

/** Returns the conditions that a row must all meet to match a term; empty if the index has none for this term. */
function neededFor(term: SearchTerm, column: WordsColumn): readonly Alternatives[] {
  if (term.kind === "words") return [alternativesOf(term, "part", column)];
  if (term.kind === "stem") return [(column.parts.get(formsKey(term)) ?? []).map((form) => wordQuery(form, column.tenant))];
  return listPieces(term).map((piece) => alternativesOfPiece(piece, column));
}

function alternativesOf(term: WordsTerm, reach: Reach, column: WordsColumn): Alternatives {
  if (reach === "whole" || term.reach === "whole") return [wholeQuery(term, column.tenant)];
  const text = tokensOf(term.words).join("");
  return alternativesOfPiece({ text, place: reach === "start" || term.reach === "start" ? "start" : "anywhere" }, column);
}

function alternativesOfPiece({ text, place }: Piece, { tenant, parts }: WordsColumn): Alternatives {
  const words = (parts.get(partPattern({ text, place }) ?? "") ?? []).map((word) => wordQuery(word, tenant));
  const isStart = place === "start" || place === "anywhere";
  return [isStart ? `${wordQuery(text, tenant)}:*` : wordQuery(text, tenant), ...words];
}

/** The key in `WordsColumn.parts` of the forms of a word of a question. */
export function formsKey({ words }: Pick<StemTerm, "words">): string {
  return `forms of ${words}`;
}

/** The pieces of words that have to be looked up in the list of words, for all that can match. */
export function piecesToLookUp({ terms }: Matching): readonly Piece[] {
  return terms.flatMap((term): readonly Piece[] => {
    if (term.kind === "stem") return [];
    if (term.kind !== "words") return listPieces(term);
    return term.reach === "part" ? [{ text: tokensOf(term.words).join(""), place: "anywhere" }] : [];
  });
}

/** A tsquery of the whole words of a term. */
export function wholeQuery({ words, prefix, misspelt }: WordsTerm, tenant: string): string {
  if (misspelt !== undefined && misspelt.inIndex.length > 0)
    return `(${misspelt.inIndex.map((word) => wordQuery(tokensOf(word).join(""), tenant)).join(" | ")})`;
  const tokens = tokensOf(words).map((token) => wordQuery(token, tenant));
  return `(${tokens.join(" <-> ")}${prefix ? ":*" : ""})`;
}

/** A tsquery of each word of a term; of several words, each has to occur. */
export function wordQueries(term: WordsTerm, tenant: string): readonly string[] {
  if (term.misspelt !== undefined || term.prefix) return [wholeQuery(term, tenant)];
  return tokensOf(term.words).map((token) => wordQuery(token, tenant));
}

/** A tsquery of one word. */
function wordQuery(word: string, tenant: string): string {
  return `'${toLexeme(word, tenant)}'`;
}

/** With more alternatives, a text is not compared with all of them: the index looks up each, and the rows are counted. */
const FEW = 50;
/** With more combinations, the rows of each term are counted. */
const MOST_COMBINATIONS = 6;

function isFew(alternatives: Alternatives): boolean {
  return alternatives.length <= FEW;
}

function atLeastOf(terms: readonly Alternatives[], atLeast: number, column: WordsColumn): RawBuilder<boolean> {
  if (atLeast === 1) return column.has(terms.flat());
  const combined = terms.every(isFew) ? combinations(terms, atLeast, MOST_COMBINATIONS + 1) : [];
  const isCombined = combined.length > 0 && combined.length <= MOST_COMBINATIONS;
  return isCombined ? column.has(combined.map(allOfThem)) : column.counted(terms.map(column.has), atLeast);
}

function allOfThem(terms: readonly Alternatives[]): string {
  return terms.map((alternatives) => `(${alternatives.join(" | ")})`).join(" & ");
}

/** Lists the combinations of `size` items; at most `most`. */
function combinations<T>(items: readonly T[], size: number, most: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  // Without this, each of the items would be tried: the cost would double with each.
  if (size > items.length) return [];
  const found: (readonly T[])[] = [];
  for (const [at, item] of items.entries()) {
    for (const rest of combinations(items.slice(at + 1), size - 1, most - found.length)) found.push([item, ...rest]);
    if (found.length >= most) break;
  }
  return found;
}

/** Combines conditions with AND; TRUE for none. */
export function allOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`TRUE` : sql<boolean>`(${sql.join(conditions, sql` AND `)})`;
}

// The conditions of a search that are not on words, as SQL on the tables `entry` and `session`.

/** The entries of a search as SQL: the tables, and the conditions on them. */
export interface SearchedEntries {
  readonly from: RawBuilder<unknown>;
  readonly where: RawBuilder<boolean>;
}

const JOIN_SESSION = sql`JOIN session ON session.tenant = entry.tenant AND session.session_id = entry.session_id`;

/** The key of an entry. */
interface EntryKey {
  readonly session_id: string;
  readonly seq: number;
}

/** The condition that an entry is one of these. */
export function isOneOf(entries: readonly EntryKey[]): RawBuilder<boolean> {
  const sessions = entries.map(({ session_id }) => session_id);
  const seqs = entries.map(({ seq }) => seq);
  return sql`(entry.session_id, entry.seq) IN (SELECT * FROM unnest(${sessions}::text[], ${seqs}::integer[]))`;
}

/** A request without the entries that the search has found already. */
export interface FurtherRequest extends SearchRequest {
  readonly except?: readonly EntryKey[];
}

/** The entries that a request allows; of several copies the one that is shown. `untilMs`: those that a later page must not have. */
export function searchedEntries(request: FurtherRequest, tenant: string, untilMs: number | null): SearchedEntries {
  const { from, where } = searchedCopies(request, tenant, untilMs);
  const { except = [] } = request;
  const conditions = [where];
  if (!showsCopies(request)) conditions.push(isFirstCopy(request));
  if (except.length > 0) conditions.push(sql`NOT ${isOneOf(except)}`);
  return { from, where: allOf(conditions) };
}

/** The entries that a request allows, with all copies. */
export function searchedCopies(request: SearchRequest, tenant: string, untilMs: number | null): SearchedEntries {
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
  if (path !== undefined) conditions.push(touches(path));
  return { from: ofSession.length === 0 ? sql`entry` : sql`entry ${JOIN_SESSION}`, where: allOf(conditions) };
}

/** The entry is the original; or the original is not in the searched sessions, and it is the copy in the one that was stored first. */
function isFirstCopy(request: SearchRequest): RawBuilder<boolean> {
  const places = sessionConditions(request);
  if (places.length === 0) return sql`NOT entry.inherited`;
  return sql`(NOT entry.inherited OR NOT EXISTS (
      SELECT 1 FROM entry AS other JOIN session ON session.tenant = other.tenant AND session.session_id = other.session_id
      WHERE other.tenant = entry.tenant AND other.origin = entry.origin AND other.session_id <> entry.session_id
        AND (NOT other.inherited OR (session.seq, session.session_id) < (
          SELECT own.seq, own.session_id FROM session AS own WHERE own.tenant = entry.tenant AND own.session_id = entry.session_id)) AND ${allOf(places)})
    AND NOT EXISTS (
      SELECT 1 FROM session CROSS JOIN LATERAL (
        SELECT other.origin FROM entry AS other WHERE other.tenant = session.tenant AND other.session_id = session.session_id
          AND other.id >= split_part(entry.origin, ' ', 2) AND other.id <= split_part(entry.origin, ' ', 2) ORDER BY other.id OFFSET 0) AS other
      WHERE session.tenant = entry.tenant AND session.session_id = split_part(entry.origin, ' ', 1) AND other.origin IS NULL AND ${allOf(places)}))`;
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
function sessionConditions({ cwd, agents, sessionIds }: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (cwd !== undefined) conditions.push(startsAndIs(sql`session.cwd`, cwd));
  if (agents !== undefined) conditions.push(sql`coalesce(session.source_format, 'bough') = ANY (${agents}::text[])`);
  if (sessionIds !== undefined) conditions.push(sql`session.session_id = ANY (${sessionIds}::text[])`);
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

/** The results of a call are among this many entries after it: calls of one reply run side by side. */
const RESULT_REACH = 200;

/**
 * The entry calls a tool on this file, or on one whose path ends with it; or it is the result of such a call. Paths are compared as JSON texts:
 * the server cannot parse one with the character U+0000. Few entries have the end of the path anywhere.
 */
function touches(path: string): RawBuilder<boolean> {
  return sql`(${callsOn(path, sql`entry.file_operations`, sql`TRUE`)} OR (entry.call_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM (
      SELECT call.file_operations FROM entry AS call WHERE call.tenant = entry.tenant AND call.session_id = entry.session_id
        AND call.seq BETWEEN entry.seq - ${sql.lit(RESULT_REACH)} AND entry.seq ORDER BY call.seq OFFSET 0) AS call
      WHERE ${callsOn(path, sql`call.file_operations`, sql`strpos(operation::text, to_json(entry.call_id)::text) > 0`)})))`;
}

function callsOn(path: string, operations: RawBuilder<unknown>, which: RawBuilder<unknown>): RawBuilder<boolean> {
  const tail = `/${path.replace(/^\.?\//, "")}`;
  const end = JSON.stringify(tail).slice(1);
  const name = JSON.stringify(tail.slice(tail.lastIndexOf("/") + 1)).slice(1, -1);
  return sql`(strpos(${operations}, ${name}) > 0 AND EXISTS (
    SELECT 1 FROM json_array_elements(${operations}::json) AS operation,
      LATERAL (SELECT substring(operation::text FROM ${PATH_MEMBER}) AS path) AS touched
    WHERE ${which} AND (touched.path IN (${JSON.stringify(path)}, ${JSON.stringify(tail.slice(1))}) OR right(touched.path, ${[...end].length}::integer) = ${end})))`;
}
