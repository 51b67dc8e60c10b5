import { sql } from "kysely";
import { toEntryKind } from "../../entry/kinds.js";
import { type EntrySeq, toEntrySeq } from "../../ids/ids.js";
import type { SearchPage, SearchRequest } from "../../port/search.js";
import { type CorrectedWords, correctWords, type Mistake, possibleMistakes, toMistakes } from "../../rules/search/asked-words.js";
import { toTitleHits } from "../../rules/search/hit-rows.js";
import { type AskedLabel, findInLabels, type LabelRow, placesWithLabel } from "../../rules/search/labels.js";
import { includesTitles, matchAll } from "../../rules/search/matching.js";
import { type AskedTerm, findForms, matchedBy, type QuestionTerm } from "../../rules/search/question.js";
import { probeOfQuestion, type QuestionPlaces } from "../../rules/search/question-probe.js";
import {
  type AskedEntry,
  groupByThemselves,
  listBelowOthers,
  MOST_RANKED,
  type RankedAnswer,
  REACH,
  rankAnswers,
  takeFirst,
  titlesWith,
  weightsOf,
} from "../../rules/search/rank-question.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import { EntryScan, type Reader, runSliced, type Tail } from "./entry-scan.js";
import { findTitles, readHits } from "./hits.js";
import { rowsToSearch } from "./index-hits.js";
import { findLabelled, readLabels } from "./label-hits.js";
import { type IndexedWord, knownWords, readIndexedWords, type SearchedRows, wordsStartingWith } from "./question-words.js";
import { readVarints } from "./rank.js";
import { lastEntrySeq, lastIndexedSeq, listNotIndexed } from "./search-index.js";
import { allOf, entryConditions, numberConditions } from "./search-query.js";

// The search for entries that answer a question: one look-up of the forms of its words and of their places in the index, one scan of what
// is not indexed, and one ranking of both.

const DEFAULT_LIMIT = 20;

/** Finds the entries that answer a question, the best first, after the titles and the labels that have all of its words. */
export async function searchQuestion(reader: Reader, request: SearchRequest, terms: readonly QuestionTerm[]): Promise<SearchPage> {
  const asked = await findForms(terms, (starts) => reader.read((connection) => wordsStartingWith(connection, starts)));
  const running = new QuestionSearch(request, asked);
  return runSliced(reader, (connection, isOver) => running.advance(connection, isOver));
}

/** An entry of the scan, and where its words are. */
type Scanned = QuestionPlaces & { readonly seq: EntrySeq };

/** Rows that were read for a question, apart from the index. */
interface FoundPlaces {
  readonly scanned: readonly Scanned[];
  readonly labels: readonly AskedLabel[];
}

/** The entries that answer a question, best first, and the labels with words of it. */
interface Answers {
  readonly ranked: readonly RankedAnswer<AnswerEntry>[];
  readonly labels: readonly AskedLabel[];
}

/** The rows of the index for a question. */
interface Indexed {
  /** Of each word of the question, then of each mistake. */
  readonly words: readonly IndexedWord[];
  /** Of the words that no entry in the index has which meets the other conditions. */
  readonly mistakes: readonly Mistake[];
  /** The numbers of `words` that such an entry has. */
  readonly met: ReadonlySet<number>;
}

class QuestionSearch {
  readonly #request: SearchRequest;
  readonly #asked: readonly AskedTerm[];
  readonly #offset: number;
  #tail: Tail | undefined;
  #indexed: Indexed = { words: [], mistakes: [], met: new Set() };
  #scan: EntryScan<QuestionPlaces> | undefined;
  #labels: readonly LabelRow[] = [];

  constructor(request: SearchRequest, asked: readonly AskedTerm[]) {
    this.#request = request;
    this.#asked = asked;
    const [offset = 0, from, to] = (request.cursor ?? "0").split(".").map(Number);
    this.#offset = rowLimit(offset);
    this.#tail = from === undefined || to === undefined ? undefined : { from, to };
  }

  /** It depends on where in an entry the words are, so every entry is scanned. */
  get #isPlaced(): boolean {
    return this.#request.places !== undefined || this.#request.tool !== undefined;
  }

  /** Searches until the time is over, in one read transaction. Returns the page, or undefined if the scan is not complete. */
  advance(connection: Connection, isOver: () => boolean): SearchPage | undefined {
    return connection.read(() => {
      const tail = this.#tail ?? { from: lastIndexedSeq(connection), to: lastEntrySeq(connection) };
      this.#tail = tail;
      if (this.#scan === undefined && !this.#isPlaced) this.#labels = readLabels(connection, this.#request);
      this.#scan ??= this.#startScan(connection, tail);
      while (!this.#scan.isDone) {
        if (isOver()) return undefined;
        this.#scan.scanPage(connection);
      }
      return this.#rank(connection, tail, this.#scan.hits);
    });
  }

  /** Reads the index, and starts a scan of what is not in it; of the best of all, if it depends on where in an entry the words are. */
  #startScan(connection: Connection, tail: Tail): EntryScan<QuestionPlaces> {
    const rows = { ...rowsToSearch(connection, this.#request, tail.from), last: tail.from };
    this.#indexed = this.#readIndex(connection, rows);
    const { words, mistakes } = this.#indexed;
    const candidates = new Set<number>(listNotIndexed(connection, rows));
    if (this.#isPlaced) {
      const weights = weightsOf(
        words.map(({ having }) => having),
        countEntries(connection),
      );
      const best = this.#chooseBest(
        connection,
        words.map(({ counts }) => [counts]),
        weights,
        new Map(),
      );
      for (const { seq } of best) candidates.add(seq);
    }
    const probe = probeOfQuestion([...this.#asked, ...mistakes.map(({ asked }) => asked)]);
    const sorted = [...candidates].sort((a, b) => a - b);
    // Elsewhere, how many entries have a word does not depend on the other conditions, as in the index.
    return new EntryScan(tail, probe, this.#request, { candidates: sorted, ignoresConditions: !this.#isPlaced });
  }

  /**
   * Looks up the words, and the mistakes for those that no entry has. Which words no entry has in the right places shows only in the scan: then
   * each word may be a mistake.
   */
  #readIndex(connection: Connection, rows: SearchedRows): Indexed {
    const words = readIndexedWords(connection, this.#asked, rows);
    const met = findMet(connection, words, this.#request);
    const missing = [...words.keys()].filter((at) => this.#isPlaced || !met.has(at));
    const similar = knownWords(connection, possibleMistakes(this.#asked, missing));
    const mistakes = toMistakes(this.#asked, missing, similar);
    if (mistakes.length === 0) return { words, mistakes, met };
    const others = readIndexedWords(
      connection,
      mistakes.map(({ asked }) => asked),
      rows,
    );
    const metByMistake = findMet(connection, others, this.#request);
    return { words: [...words, ...others], mistakes, met: new Set([...met, ...[...metByMistake].map((at) => words.length + at)]) };
  }

  /** The best entries that meet the other conditions. `counts`: of each word, how often entries have it. `known`: rows that meet them. */
  #chooseBest(
    connection: Connection,
    counts: readonly (readonly ReadonlyMap<number, number>[])[],
    weights: readonly number[],
    known: ReadonlyMap<number, AnswerRow>,
  ): readonly AnswerRow[] {
    const best: AnswerRow[] = [];
    let pending: number[] = [];
    const take = (seqs: readonly number[]) => {
      const room = MOST_RANKED - best.length;
      const unknown = seqs.filter((seq) => !known.has(seq));
      const rows = readAnswers(connection, unknown, this.#request, seqs.length <= room ? undefined : room);
      best.push(...takeFirst([[...seqs.flatMap((seq) => known.get(seq) ?? []), ...rows]], room));
    };
    for (const group of groupByThemselves(counts, weights)) {
      if (best.length >= MOST_RANKED) break;
      if (best.length + pending.length + group.length < MOST_RANKED) {
        pending.push(...group);
        continue;
      }
      take(pending);
      pending = [];
      take(group);
    }
    take(pending);
    return best;
  }

  #rank(connection: Connection, tail: Tail, hits: readonly Scanned[]): SearchPage {
    const labels = findInLabels(this.#labels, [...this.#asked, ...this.#indexed.mistakes.map(({ asked }) => asked)]);
    const seqs = [...hits.map(({ seq }) => seq), ...labels.map(({ row }) => row.seq)];
    const rows = readAnswers(connection, [...new Set(seqs)], this.#request);
    const known = new Map<number, AnswerRow>(rows.map((row) => [row.seq, row]));
    const found = { scanned: hits.filter(({ seq }) => known.has(seq)), labels: labels.filter(({ row }) => known.has(row.seq)) };
    const corrected = this.#correct(hits, found);
    const weights = weightsOf(corrected.having, countEntries(connection));
    const entries = this.#collect(connection, corrected.columns, weights, found, known);
    const sessions = [...new Set(entries.map(({ sessionSeq }) => sessionSeq))];
    const titles = titlesWith(corrected.asked, readTitles(connection, sessions));
    const ranked = rankAnswers({ entries, weights, titles, isAbove: readPaths(connection, entries, sessions) });
    return this.#toPage(connection, tail, { ranked, labels: found.labels }, corrected);
  }

  /** Which words stand for others, and how many entries have each. `found`: what meets the other conditions. */
  #correct(hits: readonly Scanned[], { scanned, labels }: FoundPlaces): CorrectedWords {
    const { words, mistakes, met } = this.#indexed;
    const counted = this.#isPlaced ? scanned : hits;
    const having = words.map((word, at) => counted.reduce((sum, { forms }) => sum + (forms[at] ?? 0), this.#isPlaced ? 0 : word.having));
    const isRead = (at: number) => [...scanned, ...labels].some(({ places }) => (places[at]?.length ?? 0) > 0);
    return correctWords(this.#asked, mistakes, having, (at) => (!this.#isPlaced && met.has(at)) || isRead(at));
  }

  /** The best entries of the index, of the scan and of the labels, with the places of the words in these columns. */
  #collect(
    connection: Connection,
    columns: readonly number[],
    weights: readonly number[],
    found: FoundPlaces,
    known: ReadonlyMap<number, AnswerRow>,
  ): readonly AnswerEntry[] {
    const words = columns.map((at) => this.#indexed.words[at]);
    // An entry must not rank higher because it is not indexed yet.
    const isRead = (at: number) => this.#isPlaced || words[at]?.isSkipped !== true;
    const inColumns = (places: QuestionPlaces["places"]) => columns.map((column, at) => (isRead(at) ? (places[column] ?? []) : []));
    const scanned = new Map(found.scanned.map(({ seq, places }) => [seq, inColumns(places)]));
    const labels = new Map(found.labels.map(({ row, places }) => [row.seq, inColumns(places)]));
    const lengths = new Map(found.scanned.map(({ seq, words: length }) => [seq, length]));
    const counts = words.map((word, at) => {
      const read = [countPlaces(scanned, at), countPlaces(labels, at)];
      return this.#isPlaced || word === undefined ? read : [word.counts, ...read];
    });
    const best = this.#chooseBest(connection, counts, weights, known);
    const seqs = new Set<number>(best.map(({ seq }) => seq));
    const inIndex = words.map((word) => word?.placesIn(seqs));
    return best.map((row) => {
      const places = scanned.get(row.seq) ?? inIndex.map((column) => column?.get(row.seq) ?? []);
      const entry = toEntry(row, places, lengths.get(row.seq));
      return { ...entry, places: placesWithLabel(places, entry.words, labels.get(row.seq)) };
    });
  }

  #toPage(connection: Connection, tail: Tail, { ranked, labels }: Answers, { asked }: CorrectedWords): SearchPage {
    const limit = rowLimit(this.#request.limit ?? DEFAULT_LIMIT);
    const matching = matchAll(asked.map(({ term }) => term));
    const titles = includesTitles(this.#request, matching) ? findTitles(connection, matching, this.#request, asked) : [];
    const onPage = titles.slice(this.#offset, this.#offset + limit);
    const labelled = findLabelled(connection, this.#labels, matching, this.#request);
    const labelOf = new Map<number, string>(labels.map(({ row }) => [row.seq, row.label]));
    const scored = ranked.map(({ entry: { seq }, score }) => ({ seq, score, label: labelOf.get(seq) }));
    const scoreOf = new Map<number, number>(scored.map(({ seq, score }) => [seq, score]));
    const byLabel = labelled.entries.map(({ seq, label }) => ({ seq, label, score: scoreOf.get(seq) }));
    const isLabelled = new Set(labelled.seqs);
    const found = [...byLabel, ...scored.filter(({ seq }) => !isLabelled.has(seq))];
    const from = Math.max(0, this.#offset - titles.length);
    const answers = found.slice(from, from + limit - onPage.length);
    const total = titles.length + found.length;
    const end = this.#offset + limit;
    return {
      hits: [...toTitleHits(onPage, matching, this.#request), ...readHits(connection, answers, matching, this.#request)],
      total,
      matched: matchedBy(asked),
      unclosedQuote: null,
      next: limit > 0 && end < total ? `${end}.${tail.from}.${tail.to}` : null,
    };
  }
}

/** The number of times that entries have the word of a column. */
function countPlaces(entries: ReadonlyMap<number, QuestionPlaces["places"]>, at: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const [seq, places] of entries) if (places[at]?.length) counts.set(seq, places[at].length);
  return counts;
}

const entryTotal = query<Record<never, never>, { total: number | null }>(({ sql: text }) =>
  rawQuery(text<{ total: number | null }>`SELECT sum(entry_count) AS total FROM session`),
);

function countEntries(connection: Connection): number {
  return connection.get(entryTotal, {})?.total ?? 0;
}

type AnswerRow = Pick<AskedEntry, "session" | "depth" | "role" | "createdAtMs"> & {
  readonly seq: EntrySeq;
  readonly sessionSeq: number;
  /** The record of FTS5 of the length of the text in words, as hexadecimal digits; null: the text is not in the index. */
  readonly size: string | null;
};

/** A row as JSON. */
type AnswerValues = readonly [
  seq: number,
  session: string,
  sessionSeq: number,
  depth: number,
  kind: number,
  createdAtMs: number,
  size: string | null,
];

/**
 * Reads those of some entries that meet the conditions of a request, at most `most`, the newest: as one JSON text, which takes a third of the
 * time of as many rows.
 */
function readAnswers(connection: Connection, seqs: readonly number[], request: SearchRequest, most?: number): readonly AnswerRow[] {
  if (seqs.length === 0) return [];
  const conditions = [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
  const all = sql`json_each(${JSON.stringify(seqs)})`;
  // Thousands of entries can be equally good. Reading a whole row of each would cost three times as much as finding the newest.
  const asked =
    most === undefined
      ? all
      : sql`(SELECT entry.seq AS value FROM ${all} AS asked CROSS JOIN entry ON entry.seq = asked.value
          CROSS JOIN session ON session.seq = entry.session_seq WHERE ${allOf(conditions)}
          ORDER BY entry.created_at_ms DESC, session.id DESC, entry.seq DESC LIMIT ${sql.lit(most)})`;
  const found = dynamicQuery(sql<{ rows: string }>`
      SELECT json_group_array(json_array(
        entry.seq, session.id, entry.session_seq, entry.depth, entry.kind, entry.created_at_ms, hex(length.sz))) AS rows
      FROM ${asked} AS asked CROSS JOIN entry ON entry.seq = asked.value
        CROSS JOIN session ON session.seq = entry.session_seq LEFT JOIN entry_text_docsize AS length ON length.id = entry.seq
      WHERE ${allOf(conditions)}`);
  const rows: readonly AnswerValues[] = JSON.parse(connection.get(found, {})?.rows ?? "[]");
  return rows.map(([seq, session, sessionSeq, depth, kind, createdAtMs, size]) => ({
    seq: toEntrySeq(seq),
    session,
    sessionSeq,
    depth,
    role: toEntryKind(kind).role,
    createdAtMs,
    size,
  }));
}

/** The entries of a word that are tried first. */
const FIRST_TRIED = 50;

/** The numbers of the words that an entry has which meets the conditions of a request, or that are too common to be looked up. */
function findMet(connection: Connection, words: readonly IndexedWord[], request: SearchRequest): ReadonlySet<number> {
  const met = new Set(words.flatMap(({ isSkipped }, at) => (isSkipped ? [at] : [])));
  for (const most of [FIRST_TRIED, Number.POSITIVE_INFINITY]) {
    const open = words.flatMap(({ counts }, at) =>
      met.has(at) || counts.size === 0 ? [] : [{ at, seqs: [...counts.keys()].slice(0, most) }],
    );
    if (open.length === 0) break;
    for (const at of filterMet(connection, open, request)) met.add(at);
  }
  return met;
}

function filterMet(
  connection: Connection,
  words: readonly { readonly at: number; readonly seqs: readonly number[] }[],
  request: SearchRequest,
): readonly number[] {
  const conditions = [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
  const found = dynamicQuery(sql<{ at: number }>`
      SELECT word.value ->> 'at' AS at FROM json_each(${JSON.stringify(words)}) AS word WHERE EXISTS (
        SELECT 1 FROM json_each(word.value, '$.seqs') AS asked CROSS JOIN entry ON entry.seq = asked.value
          CROSS JOIN session ON session.seq = entry.session_seq
        WHERE ${allOf(conditions)})`);
  return connection.all(found, {}).map(({ at }) => at);
}

type AnswerEntry = AskedEntry & { readonly seq: EntrySeq; readonly sessionSeq: number };

/** `length`: in words; default: as the index has it. */
function toEntry(row: AnswerRow, places: AskedEntry["places"], length?: number): AnswerEntry {
  const { seq, session, sessionSeq, depth, role, createdAtMs, size } = row;
  const [words = 0] = size === null ? [] : readVarints(Buffer.from(size, "hex"));
  return { seq, session, sessionSeq, depth, role, createdAtMs, words: length ?? words, places };
}

const titlesOf = query<{ sessions: string }, readonly [session: string, title: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [session: string, title: string]>`
    SELECT session.id, session.title FROM json_each(${p.sessions}) AS asked CROSS JOIN session ON session.seq = asked.value
    WHERE session.title IS NOT NULL`),
);

function readTitles(connection: Connection, sessions: readonly number[]): readonly (readonly [string, string])[] {
  return connection.allAsArrays(titlesOf, { sessions: JSON.stringify(sessions) });
}

const branchedOf = query<{ sessions: string }, readonly [session: number]>(({ sql: text, p }) =>
  rawQuery(text<readonly [session: number]>`
    SELECT asked.value FROM json_each(${p.sessions}) AS asked
    WHERE (SELECT count(*) FROM (SELECT 1 FROM tip WHERE tip.session_seq = asked.value LIMIT 2)) > 1`),
);
// Parents have lower row numbers, so the climb ends even if a damaged file has a cycle. Climbs from entries near each other end at one depth, so that
// UNION leaves out the part that they share.
const parentsOf = query<{ seqs: string; reach: number }, { parents: string }>(({ sql: text, p }) =>
  rawQuery(text<{ parents: string }>`
    WITH RECURSIVE up (seq, parent_seq, depth, goal) AS (
      SELECT entry.seq, entry.parent_seq, entry.depth, (entry.depth - ${p.reach}) / ${p.reach} * ${p.reach}
      FROM json_each(${p.seqs}) AS asked CROSS JOIN entry ON entry.seq = asked.value
      UNION
      SELECT entry.seq, entry.parent_seq, entry.depth, up.goal FROM up CROSS JOIN entry ON entry.seq = up.parent_seq AND entry.seq < up.seq
      WHERE up.depth > up.goal)
    SELECT json_group_array(json_array(seq, parent_seq)) AS parents FROM up`),
);

/**
 * Reads the parents above the entries of sessions with branches that have others near above them; in other sessions, every higher entry is
 * above. Cost: up to twice `REACH` look-ups for each.
 */
function readPaths(
  connection: Connection,
  entries: readonly AnswerEntry[],
  sessions: readonly number[],
): (above: AnswerEntry, below: AnswerEntry) => boolean {
  const branched = new Set(connection.allAsArrays(branchedOf, { sessions: JSON.stringify(sessions) }).map(([session]) => session));
  const climbing = listBelowOthers(entries.filter(({ sessionSeq }) => branched.has(sessionSeq)));
  const seqs = climbing.map(({ seq }) => seq);
  if (seqs.length === 0) return () => true;
  const pairs: readonly (readonly [seq: number, parent: number | null])[] = JSON.parse(
    connection.get(parentsOf, { seqs: JSON.stringify(seqs), reach: REACH })?.parents ?? "[]",
  );
  const parents = new Map(pairs);
  return (above, below) => {
    if (!branched.has(below.sessionSeq)) return true;
    let at: number | null = below.seq;
    for (let depth = below.depth; at !== null && depth > above.depth; depth -= 1) at = parents.get(at) ?? null;
    return at === above.seq;
  };
}
