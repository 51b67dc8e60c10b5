import type { SearchPage, SearchRequest } from "@bough/session-core";
import {
  type AskedEntry,
  type AskedTerm,
  bestByThemselves,
  correctForms,
  findForms,
  MOST_RANKED,
  matchedBy,
  probeOfQuestion,
  type QuestionPlaces,
  type QuestionTerm,
  type RankedAnswer,
  rankAnswers,
  TextScan,
  titlesWith,
  toEntryKind,
  tokensOf,
  type WordLookUp,
  weightsOf,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.js";
import { pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { entryWords, isSecured } from "./search-entries.js";
import { BY_AGE_OF_ENTRY, type Candidate, type FoundEntry, scanEntries } from "./search-rows.js";
import { searchedEntries, type WordsColumn, wholeQuery } from "./search-words.js";
import { toLexeme, WORDS_MISSING } from "./words.js";

// The search for entries that answer a question, by the ranking of session-core: the forms of its words, the number of entries that have
// each, and the places of the words in the newest of these entries.

/** The most entries with the rarest words that are looked at, the newest of them. Unpacking the words of one takes about 20 µs. */
const MOST_READ = 5_000;

/** The ranked answers to a question. */
export interface Answers {
  readonly asked: readonly AskedTerm[];
  readonly ranked: readonly RankedAnswer<AnswerEntry>[];
}

/** An entry that is ranked, and its key. */
type AnswerEntry = AskedEntry & FoundEntry;

/** Finds the entries that answer a question. `untilMs`: those created later are left out. Cost: six statements; with places or a tool, the payloads too. */
export async function findAnswers(
  database: Database,
  request: SearchRequest,
  terms: readonly QuestionTerm[],
  untilMs: number | null,
): Promise<Answers> {
  const words = lookUpWords(database);
  const asked = await findForms(terms, words);
  const first = await rank(database, request, asked, untilMs);
  const corrected = first.missing.length === 0 ? null : await correctForms(asked, first.missing, words);
  if (corrected === null) return { asked, ranked: first.ranked };
  return { asked: corrected, ranked: (await rank(database, request, corrected, untilMs)).ranked };
}

/** The rule by which the hits match. */
export function matchedAnswers({ asked }: Answers): SearchPage["matched"] {
  return matchedBy(asked);
}

interface WordsRow {
  readonly words: readonly string[] | null;
}

const startingWith = pgQuery<{ starts: readonly string[]; end: string }, WordsRow>(({ sql: text, p }) =>
  pgRaw(text<WordsRow>`
    SELECT array_agg(DISTINCT word.word) AS words FROM unnest(${p.starts}::text[]) AS asked (start)
    JOIN word ON word.tenant = ${p.tenant} AND word.word >= asked.start AND word.word < asked.start || ${p.end}::text`),
);
const indexedOf = pgQuery<{ words: readonly string[] }, WordsRow>(({ sql: text, p }) =>
  pgRaw(text<WordsRow>`
    SELECT array_agg(asked.word) AS words FROM unnest(${p.words}::text[]) AS asked (word)
    WHERE EXISTS (SELECT 1 FROM word WHERE word.tenant = ${p.tenant} AND word.word = asked.word)`),
);
/** After all words with the same start. */
const LAST = "\u{10ffff}";

function lookUpWords(database: Database): WordLookUp {
  return {
    startingWith: async (starts) => (await database.get(startingWith, { starts, end: LAST }))?.words ?? [],
    indexed: async (words) => {
      const listed = (await database.get(indexedOf, { words }))?.words ?? [];
      // Numbers and short words are in no list; that no entry has one shows when the entries are counted.
      return words.length > 2 ? listed : words;
    },
  };
}

/** The tsqueries of a word: an entry has to match one of them. */
function queriesOf({ term, forms }: AskedTerm, tenant: string): readonly string[] {
  return term.kind === "words" ? [wholeQuery(term, tenant)] : forms.map((form) => `'${toLexeme(form, tenant)}'`);
}

async function columnOf(database: Database, request: SearchRequest): Promise<WordsColumn> {
  return entryWords(database.tenant, request, new Map(), await isSecured(database));
}

/** The number of entries of the store that have each word. */
async function countEntries(database: Database, asked: readonly AskedTerm[]): Promise<readonly number[]> {
  const { has } = await columnOf(database, { query: "" });
  const counts = asked.map((one) => {
    const queries = queriesOf(one, database.tenant);
    return queries.length === 0 ? sql`0` : sql`(SELECT count(*) FROM entry WHERE entry.tenant = ${database.tenant} AND ${has(queries)})`;
  });
  const row = await database.get(
    pgDynamicQuery<{ counts: readonly (string | number)[] }>(() =>
      pgRaw(sql<{ counts: readonly (string | number)[] }>`SELECT ARRAY[${sql.join(counts)}]::integer[] AS counts`),
    ),
    {},
  );
  return (row?.counts ?? []).map(Number);
}

const entryTotal = pgQuery<Record<never, never>, { total: number }>(({ sql: text, p }) =>
  pgRaw(text<{ total: number }>`SELECT coalesce(sum(entry_count), 0)::integer AS total FROM session WHERE tenant = ${p.tenant}`),
);

interface Ranked {
  readonly ranked: Answers["ranked"];
  /** The numbers of the words that no entry has which is searched. */
  readonly missing: readonly number[];
}

async function rank(database: Database, request: SearchRequest, asked: readonly AskedTerm[], untilMs: number | null): Promise<Ranked> {
  const having = await countEntries(database, asked);
  const looked = rarest(asked, having);
  const total = (await database.get(entryTotal, {}))?.total ?? 0;
  const isPlaced = request.places !== undefined || request.tool !== undefined;
  const rows = await readAnswers(database, request, looked, asked, untilMs);
  const scanned = await scanAnswers(
    database,
    request,
    asked,
    rows.filter(({ is_unsure }) => isPlaced || is_unsure),
  );
  const indexed = isPlaced
    ? []
    : rows.filter(({ is_unsure }) => !is_unsure).map((row) => toEntry(row, placesIn(row, asked, database.tenant), row.words));
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const read = scanned.flatMap(({ places, words, ...entry }) => {
    const row = byKey.get(keyOf(entry));
    return row === undefined ? [] : [toEntry(row, places, words)];
  });
  const all = [...indexed, ...read].filter(({ places }) => places.some(({ length }) => length > 0));
  const counts = isPlaced ? having.map((_, term) => all.filter(({ places }) => (places[term]?.length ?? 0) > 0).length) : having;
  const weights = weightsOf(counts, total);
  const entries = chooseBest(all, weights);
  const titles = titlesWith(asked, await readTitles(database, [...new Set(entries.map(({ session_id }) => session_id))]));
  const isMissing = (one: AskedTerm, term: number) => looked.includes(one) && all.every(({ places }) => places[term]?.length === 0);
  return {
    ranked: rankAnswers(entries, weights, titles),
    missing: asked.flatMap((one, term) => (isMissing(one, term) ? [term] : [])),
  };
}

/** The entries that are ranked: those that are best by themselves. */
function chooseBest(newestFirst: readonly AnswerEntry[], weights: readonly number[]): readonly AnswerEntry[] {
  if (newestFirst.length <= MOST_RANKED) return newestFirst;
  // Of equal ones the largest number counts, which is to be the newest.
  const entries = newestFirst.toReversed();
  const places = weights.map((_, term) => new Map(entries.map((entry, at) => [at, entry.places[term] ?? []])));
  const best = bestByThemselves(places, weights).slice(0, MOST_RANKED);
  return best.flatMap((at) => entries[at] ?? []);
}

/** The rarest words, whose entries are looked at: as many as there is room for. */
function rarest(asked: readonly AskedTerm[], having: readonly number[]): readonly AskedTerm[] {
  const sorted = asked.map((one, at) => ({ one, count: having[at] ?? 0 })).sort((a, b) => a.count - b.count);
  let read = 0;
  return sorted
    .filter(({ count }) => {
      const fits = read === 0 || read + count <= MOST_READ;
      read += count;
      return fits;
    })
    .map(({ one }) => one);
}

interface AnswerRow extends Candidate {
  readonly depth: number;
  readonly kind: number;
  /** JSON: pairs of a word and its places, from 1. */
  readonly found: string | null;
  /** The length of the text in words. */
  readonly words: number;
  readonly is_unsure: boolean;
}

async function readAnswers(
  database: Database,
  request: SearchRequest,
  looked: readonly AskedTerm[],
  asked: readonly AskedTerm[],
  untilMs: number | null,
): Promise<readonly AnswerRow[]> {
  const { tenant } = database;
  const { from, where } = searchedEntries(request, tenant, untilMs);
  const missing = `'${toLexeme(WORDS_MISSING, tenant)}'`;
  const { has } = await columnOf(database, request);
  const lexemes = asked
    .flatMap(({ term, forms }) => (term.kind === "words" ? tokensOf(term.words) : forms))
    .map((word) => toLexeme(word, tenant));
  const unpacked: RawBuilder<unknown> = sql`LATERAL (SELECT
      json_agg(json_build_array(one.lexeme, one.positions)) FILTER (WHERE one.lexeme = ANY (${lexemes}::text[]))::text AS found,
      coalesce(sum(coalesce(array_length(one.positions, 1), 1)), 0)::integer AS words,
      coalesce(bool_or(one.lexeme = ${toLexeme(WORDS_MISSING, tenant)}), FALSE) AS is_unsure
    FROM unnest(entry.words) AS one) AS unpacked`;
  return database.all(
    pgDynamicQuery<AnswerRow>(() =>
      pgRaw(sql<AnswerRow>`
        SELECT chosen.*, unpacked.found, unpacked.words, unpacked.is_unsure FROM (
          SELECT entry.session_id, entry.seq, entry.created_at_ms, entry.payload_bytes, entry.depth, entry.kind FROM ${from}
          WHERE ${where} AND ${has([...looked.flatMap((one) => queriesOf(one, tenant)), missing])}
          ORDER BY ${BY_AGE_OF_ENTRY} LIMIT ${sql.lit(MOST_READ)}) AS chosen
        JOIN entry ON entry.tenant = ${tenant} AND entry.session_id = chosen.session_id AND entry.seq = chosen.seq
        CROSS JOIN ${unpacked}`),
    ),
    {},
  );
}

async function scanAnswers(
  database: Database,
  request: SearchRequest,
  asked: readonly AskedTerm[],
  rows: readonly AnswerRow[],
): Promise<readonly (FoundEntry & QuestionPlaces)[]> {
  const scan = new TextScan<FoundEntry, QuestionPlaces>(probeOfQuestion(asked), request);
  await scanEntries(database, rows, scan);
  return scan.hits;
}

/** Where the words of a question are in an entry, as the index of a store on SQLite counts. */
function placesIn({ found }: AnswerRow, asked: readonly AskedTerm[], tenant: string): readonly (readonly number[])[] {
  const pairs: readonly (readonly [word: string, places: readonly number[] | null])[] = found === null ? [] : JSON.parse(found);
  const known = new Map(pairs.map(([word, places]) => [word, places ?? [1]]));
  const placesOf = (word: string) => known.get(toLexeme(word, tenant)) ?? [];
  return asked.map(({ term, forms }) => {
    if (term.kind === "stem") return forms.flatMap(placesOf).map((place) => place - 1);
    const [first = "", ...others] = tokensOf(term.words);
    const isPhrase = placesOf(first).some((place) => others.every((word, at) => placesOf(word).includes(place + at + 1)));
    return isPhrase ? [-1] : [];
  });
}

function toEntry(row: AnswerRow, places: readonly (readonly number[])[], words: number): AnswerEntry {
  const { session_id, seq, created_at_ms, depth, kind } = row;
  return {
    session_id,
    seq,
    created_at_ms,
    session: session_id,
    depth,
    role: toEntryKind(kind).role,
    createdAtMs: created_at_ms,
    words,
    places,
  };
}

const titlesOf = pgQuery<{ sessions: readonly string[] }, { session_id: string; title: string }>(({ sql: text, p }) =>
  pgRaw(text<{ session_id: string; title: string }>`
    SELECT session_id, title FROM session WHERE tenant = ${p.tenant} AND session_id = ANY (${p.sessions}::text[]) AND title IS NOT NULL`),
);

async function readTitles(database: Database, sessions: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  if (sessions.length === 0) return [];
  return (await database.all(titlesOf, { sessions })).map(({ session_id, title }) => [session_id, title]);
}

function keyOf({ session_id, seq }: FoundEntry): string {
  return `${seq} ${session_id}`;
}
