import { type RawBuilder, sql } from "kysely";
import { type Matching, needsAll } from "../search/search-query.js";
import type { SearchTerm, WordsTerm } from "../search/search-terms.js";
import { tokensOf } from "../search/term-pattern.js";
import { listPieces, type Piece } from "../search/term-pieces.js";
import { toLexeme } from "./words.js";

// What a text must have for a search, as SQL on its tsvector. The index finds whole words and beginnings of words; another part of a word
// is looked up in the list of different words (the table `word`) first.
//
// A query is given to the server as the result of a subquery, so that the planner does not estimate it: it takes no account of what reading
// a large tsvector costs, and would read the table for a frequent word.

/** SQL of an array of tsqueries. A text has to match one of them. */
type Asked = RawBuilder<unknown>;

/** The column of words that is searched. */
export interface WordsColumn {
  readonly tenant: string;
  /** The rows whose words match one of the queries. */
  readonly has: (asked: Asked) => RawBuilder<boolean>;
  /** The rows that meet at least so many of the conditions. */
  readonly counted: (conditions: readonly RawBuilder<boolean>[], atLeast: number) => RawBuilder<boolean>;
}

/** Whole words only, also the start of a word, or also any part of it. */
type Reach = WordsTerm["reach"];

/** The condition that a row has enough of the terms, which are all words, with this reach or the smaller one of the term. */
export function termsCondition(matching: Matching, reach: Reach, column: WordsColumn): RawBuilder<boolean> {
  const terms = matching.terms.filter((term) => term.kind === "words");
  if (reach === "whole" && needsAll(matching)) return column.has(asked(terms.map((term) => wholeQuery(term, column.tenant)).join(" & ")));
  return atLeastOf(
    terms.map((term) => termCondition(term, reach, column)),
    matching.atLeast,
    column,
  );
}

/** The condition that a row can match, as far as the index knows; null: any row can. */
export function candidatesCondition({ terms, atLeast }: Matching, column: WordsColumn): RawBuilder<boolean> | null {
  const conditions = terms.map((term) => candidateCondition(term, column));
  const known = conditions.filter((one) => one !== null);
  // A term that the index does not find counts as found.
  const wanted = atLeast - (conditions.length - known.length);
  return wanted <= 0 ? null : atLeastOf(known, wanted, column);
}

function candidateCondition(term: SearchTerm, column: WordsColumn): RawBuilder<boolean> | null {
  if (term.kind === "words") return termCondition(term, "part", column);
  const pieces = listPieces(term);
  return pieces.length === 0 ? null : allOf(pieces.map((piece) => column.has(pieceQueries(piece, column.tenant))));
}

function termCondition(term: WordsTerm, reach: Reach, { tenant, has }: WordsColumn): RawBuilder<boolean> {
  if (reach === "whole" || term.reach === "whole") return has(asked(wholeQuery(term, tenant)));
  const part = tokensOf(term.words).join("");
  return reach === "start" || term.reach === "start"
    ? has(asked(startQuery(part, tenant)))
    : has(pieceQueries({ text: part, place: "anywhere" }, tenant));
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

function startQuery(start: string, tenant: string): string {
  return `${wordQuery(start, tenant)}:*`;
}

function pieceQueries({ text, place }: Piece, tenant: string): Asked {
  switch (place) {
    case undefined:
      return asked(wordQuery(text, tenant));
    case "start":
      return asked(startQuery(text, tenant));
    case "end":
      return sql`${asked(wordQuery(text, tenant))} || ${listed(`%_${text}`, tenant)}`;
    case "anywhere":
      return sql`${asked(startQuery(text, tenant))} || ${listed(`%_${text}%`, tenant)}`;
  }
}

/** One tsquery for each listed word that matches a pattern. */
function listed(pattern: string, tenant: string): Asked {
  return sql`ARRAY(SELECT DISTINCT ('''' || ${toLexeme("", tenant)} || word || '''')::tsquery FROM word
    WHERE tenant = ${tenant} AND word LIKE ${pattern})`;
}

function asked(query: string): Asked {
  return sql`ARRAY[(SELECT ${query}::tsquery)]`;
}

/** With more combinations, the rows of each condition are counted. */
const MOST_COMBINATIONS = 6;

function atLeastOf(conditions: readonly RawBuilder<boolean>[], atLeast: number, column: WordsColumn): RawBuilder<boolean> {
  if (atLeast >= conditions.length) return allOf(conditions);
  if (atLeast === 1) return anyOf(conditions);
  const combined = combinations(conditions, atLeast, MOST_COMBINATIONS + 1);
  return combined.length > MOST_COMBINATIONS ? column.counted(conditions, atLeast) : anyOf(combined.map(allOf));
}

/** The choices of so many of the items; at most `most`. */
function combinations<T>(items: readonly T[], size: number, most: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
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

function anyOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`FALSE` : sql<boolean>`(${sql.join(conditions, sql` OR `)})`;
}
