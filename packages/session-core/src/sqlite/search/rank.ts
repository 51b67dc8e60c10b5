import type { EntrySeq } from "../../ids/ids.js";
import { scoreOf } from "../../rules/search/score.js";
import type { SearchTerm } from "../../rules/search/search-terms.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { ScanHit } from "./entry-scan.js";
import { termExpression } from "./search-query.js";

/** An entry and its BM25 rank; lower is better. */
export interface RankedEntry {
  readonly seq: EntrySeq;
  readonly rank: number;
}

/** As in bm25() of FTS5. */
const LEAST_IDF = 1e-6;

const averages = query<Record<never, never>, { block: Buffer }>(({ sql }) =>
  rawQuery(sql<{ block: Buffer }>`SELECT block FROM entry_text_data WHERE id = 1`),
);
const countRows = query<{ match: string }, { total: number }>(({ sql, p }) =>
  rawQuery(sql<{ total: number }>`SELECT count(*) AS total FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

/** Returns the number of rows of the index that contain the term; for a term that is not indexed, the number of hits that do. */
function countMatches(connection: Connection, term: SearchTerm, at: number, hits: readonly ScanHit[]): number {
  if (term.kind !== "words") return hits.filter(({ occurrences }) => (occurrences[at] ?? 0) > 0).length;
  return connection.get(countRows, { match: termExpression(term) })?.total ?? 0;
}

/**
 * Ranks hits of the scan as FTS5 ranks those of the index, with the word frequencies of the index, so that both can be merged.
 * Best first; of equal ranks the newest first.
 */
export function rankHits(connection: Connection, terms: readonly SearchTerm[], hits: readonly ScanHit[]): readonly RankedEntry[] {
  const { rows, words } = readTotals(connection);
  const meanWords = rows > 0 ? words / rows : hits.reduce((sum, hit) => sum + hit.words, 0) / hits.length;
  const weights = terms.map((term, at) => inverseFrequency(rows, rows > 0 ? countMatches(connection, term, at, hits) : 0));
  return hits.map((hit) => ({ seq: hit.seq, rank: -scoreOf(hit, weights, meanWords) })).sort(byRank);
}

function inverseFrequency(rows: number, matching: number): number {
  return Math.max(Math.log((rows - matching + 0.5) / (matching + 0.5)), LEAST_IDF);
}

/** Compares by rank, then newest first. The logarithms of JavaScript and C differ in the last digits, so these do not count. */
function byRank(a: RankedEntry, b: RankedEntry): number {
  const difference = a.rank - b.rank;
  return Math.abs(difference) > Math.abs(a.rank) * 1e-12 ? difference : b.seq - a.seq;
}

/** Reads the number of rows of the index and of the words in them: the "averages record" of FTS5, which bm25() uses too. */
function readTotals(connection: Connection): { readonly rows: number; readonly words: number } {
  const block = connection.get(averages, {})?.block ?? Buffer.alloc(0);
  const [rows = 0, words = 0] = readVarints(block);
  return { rows, words };
}

/** Reads the big-endian variable-length integers of SQLite, of at most eight bytes. */
export function readVarints(bytes: Buffer): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  return numbers;
}

/** Merges two lists that are sorted by rank; returns the entries from `offset` on, at most `limit`. */
export function mergeByRank(a: readonly RankedEntry[], b: readonly RankedEntry[], offset: number, limit: number): readonly RankedEntry[] {
  const merged: RankedEntry[] = [];
  for (let [i, j] = [0, 0]; merged.length < offset + limit; ) {
    const [left, right] = [a[i], b[j]];
    if (left === undefined && right === undefined) break;
    const takesLeft = right === undefined || (left !== undefined && byRank(left, right) <= 0);
    const next = takesLeft ? left : right;
    if (next !== undefined) merged.push(next);
    if (takesLeft) i += 1;
    else j += 1;
  }
  return merged.slice(offset);
}
