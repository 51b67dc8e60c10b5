import { type RawBuilder, sql } from "kysely";
import { InvalidQueryError } from "../errors/session-errors.js";
import type { SearchRequest } from "../port/session-storage.js";
import { shorten } from "../text/cut.js";
import { foldText, toIndexedText, WORD_CHARACTERS } from "./fold.js";

/** One part of a search: a phrase of one or more words. `prefix`: its last word is a prefix. All parts must occur in an entry. */
export interface SearchTerm {
  readonly words: string;
  readonly prefix: boolean;
}

/** The longest query. The time of FTS5 grows with the square of the length. */
const MOST_CHARACTERS = 2000;

const PART = /"([^"]*)"(\*?)|(\S+)/g;
const WORD = new RegExp(`[${WORD_CHARACTERS}]`, "u");

/**
 * Parses a query: words, `"phrases"` and `prefix*`. All other characters are literal, so no text is a syntax error. Parts
 * without a letter or digit are ignored.
 *
 * @throws {InvalidQueryError} no part has a letter or digit, or it is longer than 2,000 characters.
 */
export function parseQuery(typed: string): readonly SearchTerm[] {
  if (typed.length > MOST_CHARACTERS) throw new InvalidQueryError(shorten(typed, 61), `it is longer than ${MOST_CHARACTERS} characters`);
  const terms = [...typed.matchAll(PART)].map(term).filter(({ words }) => WORD.test(foldText(words)));
  if (terms.length === 0) throw new InvalidQueryError(typed, "it has no letter or digit");
  // Removes repeated parts.
  return [...new Map(terms.map((one) => [`${one.prefix} ${one.words}`, one])).values()];
}

function term([, phrase, star, bare]: RegExpMatchArray): SearchTerm {
  if (phrase !== undefined) return { words: phrase, prefix: star === "*" };
  const word = (bare ?? "").replaceAll('"', " ");
  return { words: word.replace(/\*$/, ""), prefix: word.endsWith("*") };
}

/** Returns the query in the syntax of FTS5, each part quoted, so that nothing in it is an operator. */
export function ftsExpression(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, prefix }) => `"${toIndexedText(words).replaceAll('"', " ")}"${prefix ? " *" : ""}`).join(" AND ");
}

// The conditions of a search, as SQL on the tables `session` and `entry`.

/** Returns the conditions on the session. `time` is the column for the dates of the request. */
export function sessionConditions(request: SearchRequest, time: RawBuilder<unknown>): readonly RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (request.sessionId !== undefined) conditions.push(sql`session.id = ${request.sessionId}`);
  if (request.cwd !== undefined) conditions.push(sql`session.cwd = ${request.cwd}`);
  if (request.sinceMs !== undefined) conditions.push(sql`${time} >= ${request.sinceMs}`);
  if (request.untilMs !== undefined) conditions.push(sql`${time} < ${request.untilMs}`);
  return conditions;
}

/** Returns the conditions on the entry and its session. */
export function entryConditions(request: SearchRequest): readonly RawBuilder<boolean>[] {
  const conditions = [...sessionConditions(request, sql.ref("entry.created_at_ms"))];
  if (request.types !== undefined) conditions.push(sql`entry.type IN (SELECT value FROM json_each(${JSON.stringify(request.types)}))`);
  if (request.roles !== undefined) conditions.push(sql`entry.role IN (SELECT value FROM json_each(${JSON.stringify(request.roles)}))`);
  if (request.path !== undefined) conditions.push(touches(request.path));
  return conditions;
}

/** The entry calls a tool on this file, or on one whose path ends with it. */
function touches(path: string): RawBuilder<boolean> {
  const tail = `/${path.replace(/^\.?\//, "")}`;
  return sql`EXISTS (SELECT 1 FROM file_operation WHERE entry_seq = entry.seq
    AND (path = ${path} OR substr('/' || path, -length(${tail})) = ${tail}))`;
}

/** Combines conditions with AND; TRUE for none. */
export function allOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`TRUE` : sql<boolean>`${sql.join(conditions, sql` AND `)}`;
}
