import type { SearchRequest } from "@bough/session-core";
import {
  type EntrySeq,
  isIndexed,
  type Matching,
  probeOf,
  scoreOf,
  type TextHit,
  TextScan,
  tokensOf,
  type WordsTerm,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.js";
import { joinNamed } from "./entries.js";
import { pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { BY_AGE, BY_AGE_OF_ENTRY, byAge, type Candidate, type FoundEntry, scanEntries } from "./search-rows.js";
import {
  allOf,
  candidatesCondition,
  type FurtherRequest,
  matches,
  type SearchedEntries,
  searchedEntries,
  termsCondition,
  type WordParts,
  type WordsColumn,
  wholeQuery,
  wordQueries,
} from "./search-words.js";
import { POSITIONS_MISSING, toLexeme, WORDS_MISSING } from "./words.js";

// The entries that match: those that the index finds, and those that have to be read.

/** The number of newest whole-word matches that a search ranks; older ones follow by age. Ranking one takes about 15 µs. */
const RANKED = 500;

/** The entries that a search found, best first. */
export interface FoundEntries {
  readonly total: number;
  /** The age of the newest, in milliseconds since 1970; null: none was found. */
  readonly newestMs: number | null;
  readonly list: (offset: number, limit: number) => Promise<readonly (FoundEntry & { readonly score?: number })[]>;
}

/** Finds the entries of a search. `untilMs`: those created later are left out. @throws {SlowExpressionError} */
export async function findEntries(
  database: Database,
  matching: Matching,
  request: FurtherRequest,
  parts: WordParts,
  untilMs: number | null,
): Promise<FoundEntries> {
  const entries = searchedEntries(request, database.tenant, untilMs);
  const column = entryWords(database.tenant, request, parts, await isSecured(database));
  if (isIndexed(matching, request)) return findIndexed(database, matching, entries, column, request);
  const candidates = candidatesCondition(matching, column);
  const words = matching.terms.filter((term) => term.kind === "words");
  const condition = candidates === null ? null : sql<boolean>`(${candidates} OR ${unsureCondition(words, column)})`;
  return scanned(await scan(database, matching, request, entries, condition));
}

const rowSecurity = pgQuery<Record<never, never>, { active: boolean }>(({ sql: text, p }) =>
  pgRaw(text<{ active: boolean }>`SELECT row_security_active(format('%I.entry', ${p.schema}::text)) AS active`),
);
const secured = new WeakMap<Database, Promise<boolean>>();

/** True if row-level security applies to the role of a store. Asks the server once for each store. */
export function isSecured(database: Database): Promise<boolean> {
  const known = secured.get(database);
  if (known !== undefined) return known;
  const asked = database.get(rowSecurity, {}).then((row) => row?.active === true);
  secured.set(database, asked);
  asked.catch(() => secured.delete(database));
  return asked;
}

/** The words of entries. Under row-level security they are looked up by a function (search-schema.ts). */
export function entryWords(tenant: string, { sessionId }: SearchRequest, parts: WordParts, isByFunction: boolean): WordsColumn {
  const bounds = sessionId === undefined ? sql`` : sql`AND entry.session_id = ${sessionId}`;
  return {
    tenant,
    parts,
    has: (queries) =>
      isByFunction
        ? sql<boolean>`(entry.session_id, entry.seq) IN (SELECT session_id, seq FROM entries_with(${queries}::text[]::tsquery[]))`
        : matches(sql`entry.words`, queries),
    counted: (conditions, atLeast) => {
      const rows = conditions.map(
        (one) => sql`SELECT entry.session_id, entry.seq FROM entry WHERE entry.tenant = ${tenant} ${bounds} AND ${one}`,
      );
      return sql<boolean>`(entry.session_id, entry.seq) IN (
        SELECT session_id, seq FROM (${sql.join(rows, sql` UNION ALL `)}) AS found GROUP BY session_id, seq HAVING count(*) >= ${atLeast})`;
    },
  };
}

async function scan(
  database: Database,
  matching: Matching,
  request: FurtherRequest,
  { from, where }: SearchedEntries,
  condition: RawBuilder<boolean> | null,
): Promise<readonly TextHit<FoundEntry>[]> {
  const candidates = await database.all(
    pgDynamicQuery(sql<Candidate>`
        SELECT entry.session_id, entry.seq, entry.created_at_ms, entry.payload_bytes FROM ${from}
        WHERE ${where} AND ${condition ?? sql`TRUE`} ORDER BY entry.session_id, entry.seq`),
    {},
  );
  const scan = new TextScan<FoundEntry, Omit<TextHit<FoundEntry>, keyof FoundEntry>>(probeOf(matching), request);
  await scanEntries(database, candidates, scan);
  return scan.hits;
}

/** The hits of a scan: those with whole words by score, then the others by fit; of these the newest first. */
function scanned(hits: readonly TextHit<FoundEntry>[]): FoundEntries {
  const whole = byScore(hits.filter(({ fit }) => fit === 0));
  const sorted = [...whole, ...hits.filter(({ fit }) => fit > 0).sort((a, b) => a.fit - b.fit || byAge(a, b))];
  return {
    total: hits.length,
    newestMs: hits.length === 0 ? null : hits.reduce((newest, { created_at_ms }) => Math.max(newest, created_at_ms), 0),
    list: async (offset, limit) => sorted.slice(offset, offset + limit),
  };
}

/** BM25 without the frequency of words in the store, which the server does not know. */
function byScore<H extends Pick<TextHit<FoundEntry>, "occurrences" | "words"> & FoundEntry>(hits: readonly H[]): readonly H[] {
  const meanWords = hits.reduce((sum, { words }) => sum + words, 0) / Math.max(1, hits.length);
  const ones = (hits[0]?.occurrences ?? []).map(() => 1);
  const scored = hits.map((hit) => ({ hit, score: scoreOf(hit, ones, meanWords) }));
  return scored.sort((a, b) => b.score - a.score || byAge(a.hit, b.hit)).map(({ hit }) => hit);
}

interface IndexedRow {
  readonly whole: number;
  readonly total: number;
  readonly newest_ms: number | null;
  /** Of the entries whose words are not all in the index, whether there are any. */
  readonly has_unsure: boolean;
  /** JSON: rows of session, number, time and ranks. */
  readonly ranked: string | null;
}

async function findIndexed(
  database: Database,
  matching: Matching,
  { from, where }: SearchedEntries,
  column: WordsColumn,
  request: SearchRequest,
): Promise<FoundEntries> {
  const terms = matching.terms.filter((term) => term.kind === "words");
  const rows = (condition: RawBuilder<boolean>) =>
    sql`SELECT entry.session_id, entry.seq, entry.created_at_ms FROM ${from} WHERE ${where} AND ${condition}`;
  const whole = termsCondition(matching, "whole", column);
  const hasParts = terms.some(({ reach }) => reach !== "whole");
  const any = hasParts ? termsCondition(matching, "part", column) : whole;
  const unsure = unsureCondition(terms, column);
  const row = await database.get(
    pgDynamicQuery(sql<IndexedRow>`
        WITH whole AS MATERIALIZED (${rows(whole)}),
          newest AS (SELECT * FROM whole ORDER BY ${BY_AGE} LIMIT ${RANKED})
        SELECT counted.*, (SELECT count(*) FROM whole) AS whole, (SELECT count(*) FROM (${rows(unsure)}) AS unsure) > 0 AS has_unsure,
          (SELECT json_agg(json_build_array(newest.session_id, newest.seq, newest.created_at_ms, ${ranksOf(terms, database.tenant)}))::text
           FROM newest ${joinNamed(database.tenant, "newest")}
           CROSS JOIN LATERAL (SELECT entry.words || ''::tsvector AS words OFFSET 0) AS unpacked) AS ranked
        FROM (SELECT count(*) AS total, max(created_at_ms) AS newest_ms FROM ${hasParts ? sql`(${rows(any)}) AS any_part` : sql`whole`}) AS counted`),
    {},
  );
  const extra = row?.has_unsure ? await scan(database, matching, request, { from, where }, sql`${unsure} AND NOT ${any}`) : [];
  const ranked = byScore(readRanked(row?.ranked ?? null));
  const found = { whole: row?.whole ?? 0, total: row?.total ?? 0, ranked, extra: extra.toSorted(byAge) };
  const start = hasParts ? termsCondition(matching, "start", column) : whole;
  return {
    total: found.total + extra.length,
    newestMs: extra.reduce<number | null>((newest, one) => Math.max(newest ?? 0, one.created_at_ms), row?.newest_ms ?? null),
    list: (offset, limit) => listIndexed(database, found, { whole: rows(whole), start: rows(start), any: rows(any) }, offset, limit),
  };
}

/** The entries whose words or positions are not all in the index, and which may match. */
function unsureCondition(terms: readonly WordsTerm[], { tenant, has }: WordsColumn): RawBuilder<boolean> {
  const missing = `'${toLexeme(WORDS_MISSING, tenant)}'`;
  const phrases = terms.filter(({ words }) => tokensOf(words).length > 1);
  const unplaced = phrases.map(
    (term) =>
      `('${toLexeme(POSITIONS_MISSING, tenant)}' & ${wordQueries({ ...term, prefix: false }, tenant)
        .slice(0, -1)
        .join(" & ")})`,
  );
  return has([missing, ...unplaced]);
}

/** SQL of the ranks of an entry: two of all the words, from which its length follows, and one of each word. Its words are unpacked once. */
function ranksOf(terms: readonly WordsTerm[], tenant: string): RawBuilder<unknown> {
  const rank = (query: string, norm: number) => sql`ts_rank('{1,1,1,1}', unpacked.words, ${query}::tsquery, ${sql.lit(norm)})`;
  const all = terms.map((term) => wholeQuery(term, tenant).replaceAll("<->", "|")).join(" | ");
  // Arrays, because a call of a function has at most 100 arguments. The numbers of words differ.
  const words = terms.map((term) => sql`to_json(ARRAY[${sql.join(wordQueries(term, tenant).map((query) => rank(query, 0)))}])`);
  return sql.join([rank(all, 0), rank(all, 2), sql`to_json(ARRAY[${sql.join(words)}])`]);
}

type RankedRow = readonly [
  session: string,
  seq: EntrySeq,
  createdAtMs: number,
  all: number,
  byLength: number,
  words: readonly (readonly number[])[],
];

function readRanked(json: string | null) {
  const rows: readonly RankedRow[] = json === null ? [] : JSON.parse(json);
  return rows.map(([session_id, seq, created_at_ms, all, byLength, words]) => ({
    session_id,
    seq,
    created_at_ms,
    // Of a phrase at most as often as its rarest word.
    occurrences: words.map((ranks) => Math.min(...ranks.map(toOccurrences))),
    words: byLength > 0 ? Math.round(all / byLength) : 1,
  }));
}

const SUM_OF_SQUARES = Math.PI ** 2 / 6;

/** `ts_rank` of a word that occurs n times is the sum of 1/k² to k = n as a part of π²/6; what the sum lacks is close to 1/(n + ½). */
function toOccurrences(rank: number): number {
  const rest = SUM_OF_SQUARES * (1 - Math.min(rank, 0.9999));
  return Math.max(0, Math.round(1 / rest - 0.5));
}

interface FoundInIndex {
  readonly whole: number;
  readonly total: number;
  readonly ranked: readonly FoundEntry[];
  readonly extra: readonly FoundEntry[];
}

/** SQL of the entries with whole words, with words that start so, and with any part of words; each includes those before. */
interface IndexedRows {
  readonly whole: RawBuilder<unknown>;
  readonly start: RawBuilder<unknown>;
  readonly any: RawBuilder<unknown>;
}

/** A part of the hits: the ranked ones; the others by fit and age, which are read only for a page that has them; then those that were scanned. */
async function listIndexed(
  database: Database,
  { whole, total, ranked, extra }: FoundInIndex,
  rows: IndexedRows,
  offset: number,
  limit: number,
): Promise<readonly FoundEntry[]> {
  const first = ranked.slice(offset, offset + limit);
  const skipped = Math.max(0, offset - ranked.length);
  const wanted = Math.min(limit - first.length, total - ranked.length - skipped);
  if (wanted <= 0 && first.length === limit) return first;
  const others = wanted <= 0 ? [] : await listOthers(database, rows, { isRanked: whole > 0, skipped, limit: wanted });
  const rest = limit - first.length - others.length;
  return [...first, ...others, ...extra.slice(Math.max(0, offset - total), Math.max(0, offset - total) + rest)];
}

function listOthers(
  database: Database,
  { whole, start, any }: IndexedRows,
  { isRanked, skipped, limit }: { readonly isRanked: boolean; readonly skipped: number; readonly limit: number },
): Promise<readonly FoundEntry[]> {
  const isRankedBefore = isRanked ? sql`row_number() OVER (PARTITION BY fit ORDER BY ${BY_AGE}) <= ${RANKED} AND fit = 0` : sql`FALSE`;
  return database.all(
    pgDynamicQuery(sql<FoundEntry>`
        WITH whole AS MATERIALIZED (${whole}), starts AS MATERIALIZED (${start}), any_part AS MATERIALIZED (${any}),
          fitting AS (
            SELECT any_part.*, CASE WHEN whole.seq IS NOT NULL THEN 0 WHEN starts.seq IS NOT NULL THEN 1 ELSE 2 END AS fit FROM any_part
            LEFT JOIN whole ON whole.session_id = any_part.session_id AND whole.seq = any_part.seq
            LEFT JOIN starts ON starts.session_id = any_part.session_id AND starts.seq = any_part.seq),
          marked AS (SELECT *, ${isRankedBefore} AS is_ranked FROM fitting)
        SELECT session_id, seq, created_at_ms FROM marked WHERE NOT is_ranked
        ORDER BY fit, ${BY_AGE} OFFSET ${skipped} LIMIT ${limit}`),
    {},
  );
}

/** Finds the entries that meet the other conditions, for a search without words. */
export async function findByConditions(database: Database, request: SearchRequest, untilMs: number | null): Promise<FoundEntries> {
  const { from, where } = searchedEntries(request, database.tenant, untilMs);
  const counted = await database.get(
    pgDynamicQuery(sql<{ total: number; newest_ms: number | null }>`
        SELECT count(*) AS total, max(entry.created_at_ms) AS newest_ms FROM ${from} WHERE ${allOf([where])}`),
    {},
  );
  return {
    total: counted?.total ?? 0,
    newestMs: counted?.newest_ms ?? null,
    list: (offset, limit) =>
      database.all(
        pgDynamicQuery(sql<FoundEntry>`
            SELECT entry.session_id, entry.seq, entry.created_at_ms FROM ${from} WHERE ${where} ORDER BY ${BY_AGE_OF_ENTRY}
            OFFSET ${offset} LIMIT ${limit}`),
        {},
      ),
  };
}
