import type { SearchPage, SearchRequest } from "@bough/session-core";
import {
  type AskedEntry,
  type AskedLabel,
  type AskedTerm,
  chooseRead,
  correctWords,
  findForms,
  findInLabels,
  groupBy,
  groupByThemselves,
  type Mistake,
  MOST_RANKED,
  MOST_READ,
  matchedBy,
  placesThatCount,
  placesWithLabel,
  possibleMistakes,
  probeOfQuestion,
  type QuestionPlaces,
  type QuestionTerm,
  type RankedAnswer,
  rankAnswers,
  TextScan,
  takeFirst,
  titlesWith,
  toEntryKind,
  tokensOf,
  toMistakes,
  weightsOf,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.js";
import { joinNamed } from "./entries.js";
import type { RunFact } from "./facts.js";
import { pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { runAt } from "./runs.js";
import { entryWords, isSecured } from "./search-entries.js";
import { readLabels } from "./search-labels.js";
import { BY_AGE_OF_ENTRY, type Candidate, type FoundEntry, keyOf, scanEntries } from "./search-rows.js";
import { isOneOf, searchedEntries, wholeQuery } from "./search-words.js";
import { POSITIONS_MISSING, toLexeme, WORDS_MISSING } from "./words.js";

// The search for entries that answer a question, by the ranking of session-core: the forms of its words, the number of entries that have
// each, and the places of the words in these entries.

/** The ranked answers to a question. */
export interface Answers {
  readonly asked: readonly AskedTerm[];
  readonly ranked: readonly RankedAnswer<AnswerEntry>[];
  /** The labels with words of it. */
  readonly labels: readonly AskedLabel[];
}

/** An entry that is ranked, and its key. */
type AnswerEntry = AskedEntry & FoundEntry;

/**
 * Finds the entries that answer a question. `untilMs`: those created later are left out. Cost: seven statements, two more if a word may be a
 * mistake; with places or a tool, the payloads too. Of words that more than 10,000 entries have, the newest of these are looked at.
 */
export async function findAnswers(
  database: Database,
  request: SearchRequest,
  terms: readonly QuestionTerm[],
  untilMs: number | null,
): Promise<Answers> {
  const asked = await findForms(terms, async (starts) => (await database.get(startingWith, { starts, end: LAST }))?.words ?? []);
  return new QuestionSearch(database, request, asked, untilMs).answers();
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
const listedOf = pgQuery<{ words: readonly string[] }, WordsRow>(({ sql: text, p }) =>
  pgRaw(text<WordsRow>`
    SELECT array_agg(asked.word) AS words FROM unnest(${p.words}::text[]) AS asked (word)
    WHERE EXISTS (SELECT 1 FROM word WHERE word.tenant = ${p.tenant} AND word.word = asked.word)`),
);
/** After all words with the same start. */
const LAST = "\u{10ffff}";

/** The tsqueries of a word: an entry has to match one of them. */
function queriesOf({ term, forms }: AskedTerm, tenant: string): readonly string[] {
  return term.kind === "words" ? [wholeQuery(term, tenant)] : forms.map((form) => `'${toLexeme(form, tenant)}'`);
}

/** The number of entries of the store that have each word, counted again for each of its forms. Cost: one statement. */
async function countEntries(database: Database, asked: readonly AskedTerm[]): Promise<readonly number[]> {
  const queries = [...new Set(asked.flatMap((one) => queriesOf(one, database.tenant)))];
  const has = (await isSecured(database))
    ? sql`(entry.session_id, entry.seq) IN (SELECT session_id, seq FROM entries_with(ARRAY[asked.query]::tsquery[]))`
    : sql`entry.words @@ asked.query`;
  const rows = await database.all(
    pgDynamicQuery(sql<{ at: number; total: number }>`
        SELECT (asked.at - 1)::integer AS at, counted.total FROM unnest(${queries}::text[]::tsquery[]) WITH ORDINALITY AS asked (query, at)
        CROSS JOIN LATERAL (SELECT count(*)::integer AS total FROM entry WHERE entry.tenant = ${database.tenant} AND ${has}) AS counted`),
    {},
  );
  const totals = new Map(rows.map(({ at, total }) => [queries[at], total]));
  return asked.map((one) => queriesOf(one, database.tenant).reduce((sum, query) => sum + (totals.get(query) ?? 0), 0));
}

const entryTotal = pgQuery<Record<never, never>, { total: number }>(({ sql: text, p }) =>
  pgRaw(text<{ total: number }>`SELECT coalesce(sum(entry_count), 0)::integer AS total FROM session WHERE tenant = ${p.tenant}`),
);

/** A word of a question, or a mistake for one. */
interface Column {
  readonly asked: AskedTerm;
  /** The number of entries that have it. */
  readonly having: number;
  readonly isRead: boolean;
}

class QuestionSearch {
  readonly #database: Database;
  readonly #request: SearchRequest;
  readonly #asked: readonly AskedTerm[];
  readonly #untilMs: number | null;
  readonly #mistakes: Mistake[] = [];
  /** Of each word, then of each mistake. */
  readonly #columns: Column[] = [];
  readonly #rows = new Map<string, AnswerRow>();

  constructor(database: Database, request: SearchRequest, asked: readonly AskedTerm[], untilMs: number | null) {
    this.#database = database;
    this.#request = request;
    this.#asked = asked;
    this.#untilMs = untilMs;
  }

  /** It depends on where in an entry the words are, so every entry is scanned. */
  get #isPlaced(): boolean {
    return this.#request.places !== undefined || this.#request.tool !== undefined;
  }

  async answers(): Promise<Answers> {
    await this.#readIndex();
    const allLabels = await this.#readLabels();
    const labels = allLabels.filter(({ row }) => this.#rows.has(keyOf(row)));
    const total = (await this.#database.get(entryTotal, {}))?.total ?? 0;
    const unsure = [...this.#rows.values()].filter(({ is_unsure }) => is_unsure);
    const chosen = this.#isPlaced
      ? this.#choose(
          this.#entries(),
          this.#columns.map(({ having }) => having),
          total,
        )
      : [];
    const scanned = await this.#scan([...unsure, ...chosen.flatMap((entry) => this.#rows.get(keyOf(entry)) ?? [])]);
    const isUnsure = new Set(unsure.map(keyOf));
    const found = this.#isPlaced ? scanned : [...this.#entries().filter((entry) => !isUnsure.has(keyOf(entry))), ...scanned];
    const having = this.#columns.map((column, at) =>
      this.#isPlaced ? scanned.reduce((sum, { forms }) => sum + (forms[at] ?? 0), 0) : column.having,
    );
    const isFound = (at: number) =>
      this.#columns[at]?.isRead === false || [...found, ...labels].some(({ places }) => (places[at]?.length ?? 0) > 0);
    const corrected = correctWords(this.#asked, this.#mistakes, having, isFound);
    const isCounted = (at: number) => this.#isPlaced || this.#columns[at]?.isRead === true;
    const correct = <E extends AnswerEntry>(entry: E): E => ({
      ...entry,
      places: corrected.columns.map((at) => (isCounted(at) ? (entry.places[at] ?? []) : [])),
    });
    const labelOf = new Map(labels.map(({ row, places }) => [keyOf(row), places]));
    const withLabel = <E extends AnswerEntry>(entry: E): E =>
      correct({ ...entry, places: placesWithLabel(entry.places, entry.words, labelOf.get(keyOf(entry))) });
    const best = this.#choose(found.map(withLabel), corrected.having, total);
    const entries = await this.#complete(best, withLabel);
    const sessions = [...new Set(entries.map(({ session }) => session))];
    const titles = titlesWith(corrected.asked, await readTitles(this.#database, sessions));
    const isAbove = await readPaths(this.#database, sessions);
    return {
      asked: corrected.asked,
      ranked: rankAnswers({ entries, weights: weightsOf(corrected.having, total), titles, isAbove }),
      labels: allLabels,
    };
  }

  /** Reads the entries with the words, and with mistakes for the words that none has. With places, each word may be a mistake. */
  async #readIndex(): Promise<void> {
    const numbers = [...this.#asked.keys()];
    await this.#addColumns(this.#asked);
    await this.#addMistakes(numbers.filter((at) => this.#isPlaced || this.#columns[at]?.having === 0));
    await this.#readRows(this.#columns);
    if (this.#isPlaced) return;
    const entries = this.#entries();
    const isUnmet = (at: number) =>
      this.#columns[at]?.isRead === true && this.#columns[at].having > 0 && entries.every(({ places }) => places[at]?.length === 0);
    const from = this.#columns.length;
    await this.#addMistakes(numbers.filter(isUnmet));
    if (this.#columns.length > from) await this.#readRows(this.#columns.slice(from));
  }

  async #addColumns(asked: readonly AskedTerm[]): Promise<void> {
    const having = await countEntries(this.#database, asked);
    const read = chooseRead(having);
    this.#columns.push(...asked.map((one, at) => ({ asked: one, having: having[at] ?? 0, isRead: read.has(at) })));
  }

  async #addMistakes(numbers: readonly number[]): Promise<void> {
    const possible = possibleMistakes(this.#asked, numbers);
    if (possible.length === 0) return;
    const listed = (await this.#database.get(listedOf, { words: possible }))?.words ?? [];
    const added = toMistakes(this.#asked, numbers, listed);
    this.#mistakes.push(...added);
    await this.#addColumns(added.map(({ asked }) => asked));
  }

  /** Reads the entries that meet the conditions and have one of some words. */
  async #readRows(columns: readonly Column[]): Promise<void> {
    const looked = columns.flatMap(({ asked, isRead }) => (isRead ? [asked] : []));
    const asked = this.#columns.map((column) => column.asked);
    const condition = await hasOneOf(this.#database, this.#request, looked);
    for (const row of await readAnswers(this.#database, this.#request, condition, asked, this.#untilMs)) this.#rows.set(keyOf(row), row);
  }

  /** Reads the labels with words, and their entries. */
  async #readLabels(): Promise<readonly AskedLabel[]> {
    if (this.#isPlaced) return [];
    const asked = this.#columns.map((column) => column.asked);
    const labels = findInLabels(await readLabels(this.#database, this.#request, this.#untilMs), asked);
    if (labels.length === 0) return [];
    const condition = isOneOf(labels.map(({ row }) => row));
    for (const row of await readAnswers(this.#database, this.#request, condition, asked, this.#untilMs)) this.#rows.set(keyOf(row), row);
    return labels;
  }

  /** The entries that were read, with their places in the index. */
  #entries(): readonly AnswerEntry[] {
    const asked = this.#columns.map((column) => column.asked);
    return [...this.#rows.values()].map((row) => toEntry(row, placesIn(row, asked, this.#database.tenant), row.words));
  }

  /** The entries that are ranked: those that are best by themselves. */
  #choose<E extends AnswerEntry>(entries: readonly E[], having: readonly number[], total: number): readonly E[] {
    const counts = having.map((_, term) => [
      new Map(entries.flatMap((entry) => (entry.places[term]?.length ? [[entry, entry.places[term].length] as const] : []))),
    ]);
    return takeFirst(groupByThemselves(counts, weightsOf(having, total)), MOST_RANKED);
  }

  /** Replaces entries of whose positions some are missing in the index by what their payloads have. */
  async #complete(entries: readonly AnswerEntry[], correct: (entry: AnswerEntry) => AnswerEntry): Promise<readonly AnswerEntry[]> {
    const partial = this.#isPlaced ? [] : entries.flatMap((entry) => this.#rows.get(keyOf(entry)) ?? []).filter((row) => row.is_partial);
    if (partial.length === 0) return entries;
    const scanned = new Map((await this.#scan(partial)).map((entry) => [keyOf(entry), correct(entry)]));
    const isPartial = new Set(partial.map(keyOf));
    return entries.flatMap((entry) => (isPartial.has(keyOf(entry)) ? (scanned.get(keyOf(entry)) ?? []) : [entry]));
  }

  async #scan(rows: readonly AnswerRow[]): Promise<readonly (AnswerEntry & Pick<QuestionPlaces, "forms">)[]> {
    const scan = new TextScan<FoundEntry, QuestionPlaces>(probeOfQuestion(this.#columns.map(({ asked }) => asked)), this.#request);
    await scanEntries(this.#database, rows, scan);
    return scan.hits.flatMap(({ places, words, forms, ...key }) => {
      const row = this.#rows.get(keyOf(key));
      return row === undefined ? [] : [{ ...toEntry(row, places, words), forms }];
    });
  }
}

interface AnswerRow extends Candidate {
  readonly depth: number;
  readonly kind: number;
  /** JSON: pairs of a word and its places, from 1. */
  readonly found: string | null;
  /** The length of the text in words. */
  readonly words: number;
  /** Some of its words are not in the index. */
  readonly is_unsure: boolean;
  /** Some of its positions are not. */
  readonly is_partial: boolean;
}

/** The condition that an entry has one of some words, or a word that is not in the index. */
async function hasOneOf(database: Database, request: SearchRequest, words: readonly AskedTerm[]): Promise<RawBuilder<boolean>> {
  const { tenant } = database;
  const { has } = entryWords(tenant, request, new Map(), await isSecured(database));
  return has([...words.flatMap((one) => queriesOf(one, tenant)), `'${toLexeme(WORDS_MISSING, tenant)}'`]);
}

async function readAnswers(
  database: Database,
  request: SearchRequest,
  condition: RawBuilder<boolean>,
  asked: readonly AskedTerm[],
  untilMs: number | null,
): Promise<readonly AnswerRow[]> {
  const { tenant } = database;
  const { from, where } = searchedEntries(request, tenant, untilMs);
  const lexemes = asked
    .flatMap(({ term, forms }) => (term.kind === "words" ? tokensOf(term.words) : forms))
    .map((word) => toLexeme(word, tenant));
  const unpacked: RawBuilder<unknown> = sql`LATERAL (SELECT
      json_agg(json_build_array(one.lexeme, one.positions)) FILTER (WHERE one.lexeme = ANY (${lexemes}::text[]))::text AS found,
      coalesce(sum(coalesce(array_length(one.positions, 1), 1)), 0)::integer AS words,
      coalesce(bool_or(one.lexeme = ${toLexeme(WORDS_MISSING, tenant)}), FALSE) AS is_unsure,
      coalesce(bool_or(one.lexeme = ${toLexeme(POSITIONS_MISSING, tenant)}), FALSE) AS is_partial
    FROM unnest(entry.words) AS one) AS unpacked`;
  return database.all(
    pgDynamicQuery(sql<AnswerRow>`
        SELECT chosen.*, unpacked.found, unpacked.words, unpacked.is_unsure, unpacked.is_partial FROM (
          SELECT entry.session_id, entry.seq, entry.created_at_ms, entry.payload_bytes, entry.depth, entry.kind FROM ${from}
          WHERE ${where} AND ${condition}
          ORDER BY ${BY_AGE_OF_ENTRY} LIMIT ${sql.lit(MOST_READ)}) AS chosen
        ${joinNamed(tenant, "chosen")}
        CROSS JOIN ${unpacked}`),
    {},
  );
}

/** Where the words of a question are in an entry, as the index of a store on SQLite counts. */
function placesIn({ found }: AnswerRow, asked: readonly AskedTerm[], tenant: string): readonly (readonly number[])[] {
  const pairs: readonly (readonly [word: string, places: readonly number[] | null])[] = found === null ? [] : JSON.parse(found);
  const known = new Map(pairs.map(([word, places]) => [word, places ?? []]));
  const placesOf = (word: string) => known.get(toLexeme(word, tenant)) ?? [];
  return asked.map(({ term, forms }) => {
    if (term.kind === "stem") return placesThatCount(forms.flatMap(placesOf).map((place) => place - 1));
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

type PathRun = RunFact & { readonly session_id: string };

const runsOf = pgQuery<{ sessions: readonly string[] }, PathRun>(({ sql: text, p }) =>
  pgRaw(text<PathRun>`
    SELECT session_id, start_seq AS start, parent_seq AS parent FROM run WHERE tenant = ${p.tenant} AND session_id = ANY (${p.sessions}::text[])
    ORDER BY session_id, start_seq`),
);

/** Reads which entries of sessions are on the paths of others. Cost: one statement, their runs. */
async function readPaths(database: Database, sessions: readonly string[]): Promise<(above: AskedEntry, below: AskedEntry) => boolean> {
  const runs = groupBy(sessions.length === 0 ? [] : await database.all(runsOf, { sessions }), ({ session_id }) => session_id);
  return (above, below) => {
    const ofSession = runs.get(below.session) ?? [];
    // An entry above is no deeper, so a climb on another path ends after as many entries as they are apart.
    for (let [at, depth]: [number | null, number] = [below.seq, below.depth]; at !== null && at >= above.seq && depth >= above.depth; ) {
      const run: PathRun | undefined = runAt(ofSession, at);
      if (run === undefined || above.seq >= run.start) return true;
      depth -= at - run.start + 1;
      at = run.parent;
    }
    return false;
  };
}
