import { type RawBuilder, sql } from "kysely";
import type { Matching } from "../../rules/search/matching.js";
import type { AskedTerm } from "../../rules/search/question.js";
import type { SearchTerm, WordsTerm } from "../../rules/search/search-terms.js";
import { listMisspellings } from "../../rules/search/spelling.js";
import type { Fit } from "../../rules/search/term-matcher.js";
import { tokensOf } from "../../rules/search/term-pattern.js";
import { listPieces, type Piece, type Place } from "../../rules/search/term-pieces.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import { termExpression } from "./search-query.js";

// Which rows of an index of words contain a term, and how closely. The index finds whole words and beginnings of words. Another part of a
// word is looked up in the list of different words (the table `word`) first, and then each word that contains it in the index.

/** An index, and the first and last row number to look for in it. */
export interface IndexRange {
  readonly table: "entry_text" | "session_text";
  readonly from: number;
  readonly to: number;
}

/** For each row from `from` on: 0: it does not contain the term; else the fit + 1. */
type RowMarks = Uint8Array;

/** The rows that contain enough terms, by row number, each with its fit. */
export interface FittingRow {
  readonly seq: number;
  readonly fit: Fit;
}

const containing = query<{ part: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`SELECT word FROM word WHERE instr(word, ${p.part})`),
);

/** The rows with a word that starts with a text. */
function findStarts(connection: Connection, range: IndexRange, part: string): readonly number[] {
  return matchRows(connection, range, termExpression({ kind: "words", words: part, prefix: true, reach: "whole" }));
}

/** The rows with a listed word that contains a text after its beginning. Cost: the list, about 0.1 µs for each word. */
function findInside(connection: Connection, range: IndexRange, part: string, isAtEnd: boolean): readonly number[] {
  const words = connection.allAsArrays(containing, { part }).map(([word]) => word);
  return findRows(
    connection,
    range,
    words.filter((word) => (isAtEnd ? word.endsWith(part) : !word.startsWith(part))),
  );
}

/**
 * Finds the rows of an index that contain enough terms. Those with only expressions or literal texts that no index finds are all in it,
 * if enough of them are missing otherwise: they have to be read. null: any row may match. `asked`: the forms of the words of a question.
 */
export function findFittingRows(
  connection: Connection,
  { terms, atLeast }: Matching,
  range: IndexRange,
  asked: readonly AskedTerm[] = [],
): readonly FittingRow[] | null {
  const marks = terms.map((term, at) => markRows(connection, term, range, asked[at]?.forms));
  const known = marks.filter((one) => one !== null);
  // A term that no index finds counts as found.
  const wanted = atLeast - (terms.length - known.length);
  if (wanted <= 0) return null;
  const rows: FittingRow[] = [];
  for (let at = 0; at <= range.to - range.from; at += 1) {
    const fit = fitOf(known, at, wanted);
    if (fit !== undefined) rows.push({ seq: range.from + at, fit });
  }
  return rows;
}

/** Returns the least close match among the `wanted` closest terms of a row; undefined if the row has fewer terms. */
function fitOf(marks: readonly RowMarks[], at: number, wanted: number): Fit | undefined {
  let [whole, starts, parts] = [0, 0, 0];
  for (const mark of marks) {
    const fit = mark[at];
    if (fit === 1) whole += 1;
    else if (fit === 2) starts += 1;
    else if (fit === 3) parts += 1;
  }
  if (whole >= wanted) return 0;
  if (whole + starts >= wanted) return 1;
  return whole + starts + parts >= wanted ? 2 : undefined;
}

/** Marks the rows that contain a term; null if the index cannot decide it. */
function markRows(connection: Connection, term: SearchTerm, range: IndexRange, forms: readonly string[] = []): RowMarks | null {
  const marks = new Uint8Array(Math.max(0, range.to - range.from + 1));
  switch (term.kind) {
    case "words":
      markWords(connection, term, range, marks);
      return marks;
    case "stem":
      mark(marks, range, findRows(connection, range, forms), 0);
      return marks;
    case "literal":
    case "expression":
      return markAll(connection, listPieces(term), range, marks);
  }
}

function markWords(connection: Connection, term: WordsTerm, range: IndexRange, marks: RowMarks): void {
  if (term.reach !== "whole") {
    const part = tokensOf(term.words).join("");
    // The closest last: it replaces the others.
    if (term.reach === "part") mark(marks, range, findInside(connection, range, part, false), 2);
    mark(marks, range, findStarts(connection, range, part), 1);
  }
  mark(marks, range, matchRows(connection, range, termExpression(term)), 0);
}

/** Marks the rows that contain all pieces; null: no piece can be looked up. */
function markAll(connection: Connection, pieces: readonly Piece[], range: IndexRange, marks: RowMarks): RowMarks | null {
  if (pieces.length === 0) return null;
  const counts = new Uint8Array(marks.length);
  for (const [at, { text, place }] of pieces.entries()) {
    // Each piece counts once.
    for (const seq of findPiece(connection, range, text, place)) if (counts[seq - range.from] === at) counts[seq - range.from] = at + 1;
  }
  for (const [at, count] of counts.entries()) if (count === pieces.length) marks[at] = 1;
  return marks;
}

function findPiece(connection: Connection, range: IndexRange, text: string, place: Place | undefined): readonly number[] {
  const starts = place === "start" || place === "anywhere" ? findStarts(connection, range, text) : findRows(connection, range, [text]);
  return place === "end" || place === "anywhere" ? [...starts, ...findInside(connection, range, text, place === "end")] : starts;
}

function mark(marks: RowMarks, range: IndexRange, seqs: readonly number[], fit: Fit): void {
  for (const seq of seqs) marks[seq - range.from] = fit + 1;
}

/** Rows as one JSON text, which takes a third of the time of as many rows. */
function readSeqs(connection: Connection, source: RawBuilder<unknown>): readonly number[] {
  const asked = dynamicQuery(sql<{ seqs: string }>`SELECT json_group_array(found.rowid) AS seqs ${source}`);
  const seqs: readonly number[] = JSON.parse(connection.get(asked, {})?.seqs ?? "[]");
  return seqs;
}

/** The rows that match an expression of FTS5. */
function matchRows(connection: Connection, { table, from, to }: IndexRange, match: string): readonly number[] {
  const index = sql.raw(table);
  return readSeqs(connection, sql`FROM ${index} AS found WHERE ${index} MATCH ${match} AND found.rowid BETWEEN ${from} AND ${to}`);
}

// CROSS JOIN: each word is looked up. As one expression with OR, 800 words took four times as long.
function findRows(connection: Connection, { table, from, to }: IndexRange, words: readonly string[]): readonly number[] {
  if (words.length === 0) return [];
  const index = sql.raw(table);
  const quoted = JSON.stringify([...new Set(words)].map((word) => `"${word}"`));
  return readSeqs(
    connection,
    sql`FROM json_each(${quoted}) AS asked CROSS JOIN ${index} AS found WHERE ${index} MATCH asked.value AND found.rowid BETWEEN ${from} AND ${to}`,
  );
}

const anyRow = query<{ match: string }, { found: number }>(({ sql, p }) =>
  rawQuery(sql<{ found: number }>`SELECT 1 AS found FROM entry_text WHERE entry_text MATCH ${p.match} LIMIT 1`),
);

/** The term, which now also matches words with one mistake. Cost: about 50 look-ups in the index for each letter of the word. */
export function allowMistake(connection: Connection, term: WordsTerm): WordsTerm {
  const isInIndex = (words: string) => connection.get(anyRow, { match: `"${words}"` }) !== undefined;
  return { ...term, reach: "whole", misspelt: { inIndex: [term.words, ...listMisspellings(term.words)].filter(isInIndex) } };
}
