import { sql } from "kysely";
import type { MessageRole } from "../../entry/message.js";
import type { EntrySeq } from "../../ids/ids.js";
import type { SearchPage, SearchRequest } from "../../port/search.js";
import { includesTitles, matchAll } from "../../rules/search/matching.js";
import { type AskedTerm, correctForms, findForms, matchedBy, type QuestionTerm, type WordLookUp } from "../../rules/search/question.js";
import { MOST_PLACES, probeOfQuestion, type QuestionPlaces } from "../../rules/search/question-probe.js";
import {
  type AskedEntry,
  bestByThemselves,
  MOST_RANKED,
  type RankedAnswer,
  rankAnswers,
  titlesWith,
  weightsOf,
} from "../../rules/search/rank-question.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import { EntryScan, type Reader, runSliced, type Tail } from "./entry-scan.js";
import { findTitleHits, readHits } from "./hits.js";
import { rowsToSearch } from "./index-hits.js";
import { readVarints } from "./rank.js";
import { lastEntrySeq, lastIndexedSeq, listNotIndexed } from "./search-index.js";
import { allOf, entryConditions, numberConditions, termExpression } from "./search-query.js";

// The search for entries that answer a question: one look-up of the forms of its words, of their places in the index, a scan of what is
// not indexed, and one ranking of both.

const DEFAULT_LIMIT = 20;
/** The most places of words that are read, from the rarest word on; the rarest is read whatever it has. About 0.4 µs each. */
const MOST_READ = 20_000;

/** Finds the entries that answer a question, the best first, after the titles that have all of its words. */
export async function searchQuestion(reader: Reader, request: SearchRequest, terms: readonly QuestionTerm[]): Promise<SearchPage> {
  const words = lookUpWords(reader);
  const asked = await findForms(terms, words);
  const running = new QuestionSearch(request, asked);
  const found = await runSliced(reader, (connection, isOver) => running.advance(connection, isOver));
  const corrected = found.missing.length === 0 ? null : await correctForms(asked, found.missing, words);
  if (corrected === null) return found.page;
  const again = new QuestionSearch(request, corrected);
  return (await runSliced(reader, (connection, isOver) => again.advance(connection, isOver))).page;
}

interface Outcome {
  readonly page: SearchPage;
  /** The numbers of the words that no entry has. */
  readonly missing: readonly number[];
}

const startingWith = query<{ starts: string; end: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`
    SELECT word.word FROM json_each(${p.starts}) AS asked CROSS JOIN word
    WHERE word.word >= asked.value AND word.word < asked.value || ${p.end}`),
);
const indexedOf = query<{ words: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`
    SELECT asked.value FROM json_each(${p.words}) AS asked
    WHERE EXISTS (SELECT 1 FROM entry_text WHERE entry_text MATCH '"' || asked.value || '"')`),
);
const listedOf = query<{ words: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`SELECT word.word FROM json_each(${p.words}) AS asked CROSS JOIN word ON word.word = asked.value`),
);
/** More words than one typed word has are looked up in the list: numbers and short ones, which are not in it, are not among them. */
const FEW = 2;
/** After all words with the same start. */
const LAST = "\u{10ffff}";

function lookUpWords(reader: Reader): WordLookUp {
  const wordsOf = (rows: readonly (readonly [word: string])[]) => rows.map(([word]) => word);
  return {
    startingWith: (starts) =>
      reader.read((connection) => wordsOf(connection.allAsArrays(startingWith, { starts: JSON.stringify(starts), end: LAST }))),
    indexed: (words) =>
      reader.read((connection) =>
        wordsOf(connection.allAsArrays(words.length > FEW ? listedOf : indexedOf, { words: JSON.stringify(words) })),
      ),
  };
}

/** A word of a question in the index. */
interface IndexedWord {
  /** Its places in the entries that are searched, by row number; none if the word is too common to be read. */
  readonly places: ReadonlyMap<number, readonly number[]>;
  /** The number of entries of the store that have it. */
  readonly having: number;
  /** It is too common to be read. */
  readonly isSkipped: boolean;
}

/** An entry that was found, and where its words are. */
type Found = QuestionPlaces & { readonly seq: EntrySeq };

class QuestionSearch {
  readonly #request: SearchRequest;
  readonly #asked: readonly AskedTerm[];
  readonly #offset: number;
  #tail: Tail | undefined;
  #indexed: readonly IndexedWord[] = [];
  #scan: EntryScan<QuestionPlaces> | undefined;

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
  advance(connection: Connection, isOver: () => boolean): Outcome | undefined {
    return connection.read(() => {
      const tail = this.#tail ?? { from: lastIndexedSeq(connection), to: lastEntrySeq(connection) };
      this.#tail = tail;
      this.#scan ??= this.#startScan(connection, tail);
      while (!this.#scan.isDone) {
        if (isOver()) return undefined;
        this.#scan.scanPage(connection);
      }
      return this.#rank(connection, tail, this.#withoutSkipped(this.#scan.hits));
    });
  }

  /** Looks up the words, and starts a scan of what is not indexed; of all that was found, if it depends on where in an entry the words are. */
  #startScan(connection: Connection, tail: Tail): EntryScan<QuestionPlaces> {
    const rows = rowsToSearch(connection, this.#request, tail.from);
    const indexed = readWords(connection, this.#asked, { ...rows, last: tail.from });
    const candidates = new Set<number>(listNotIndexed(connection, rows));
    if (this.#isPlaced) for (const { seq } of this.#chooseFrom(connection, indexed)) candidates.add(seq);
    this.#indexed = this.#isPlaced ? indexed.map((word) => ({ ...word, having: 0, places: new Map() })) : indexed;
    return new EntryScan(
      tail,
      probeOfQuestion(this.#asked),
      this.#request,
      [...candidates].sort((a, b) => a - b),
    );
  }

  /** The entries in the index that are best by themselves and meet the other conditions. */
  #chooseFrom(connection: Connection, indexed: readonly IndexedWord[]): readonly AnswerRow[] {
    const weights = weightsOf(
      indexed.map(({ having }) => having),
      countEntries(connection),
    );
    const best = bestByThemselves(
      indexed.map(({ places }) => places),
      weights,
    );
    const chosen: AnswerRow[] = [];
    for (let at = 0; at < best.length && chosen.length < MOST_RANKED; at += MOST_RANKED)
      chosen.push(...readAnswers(connection, best.slice(at, at + MOST_RANKED), this.#request));
    return chosen;
  }

  /** Without the words that were not read in the index: an entry must not rank higher because it is not indexed yet. */
  #withoutSkipped(scanned: readonly Found[]): readonly Found[] {
    if (this.#isPlaced || !this.#indexed.some(({ isSkipped }) => isSkipped)) return scanned;
    const counted = scanned.map((one) => ({
      ...one,
      places: one.places.map((of, term) => (this.#indexed[term]?.isSkipped === true ? [] : of)),
    }));
    return counted.filter(({ places }) => places.some(({ length }) => length > 0));
  }

  #rank(connection: Connection, tail: Tail, scanned: readonly Found[]): Outcome {
    const having = this.#indexed.map((word, term) => word.having + scanned.filter(({ places }) => (places[term]?.length ?? 0) > 0).length);
    const weights = weightsOf(having, countEntries(connection));
    const inIndex = this.#chooseFrom(connection, this.#indexed).map((row) =>
      toEntry(
        row,
        this.#indexed.map(({ places }) => places.get(row.seq) ?? []),
      ),
    );
    const bySeq = new Map(scanned.map((one) => [one.seq, one]));
    const inScan = readAnswers(connection, [...bySeq.keys()], this.#request).map((row) => {
      const { places = [], words = 0 } = bySeq.get(row.seq) ?? {};
      return { ...toEntry(row, places), words };
    });
    const entries = [...inIndex, ...inScan];
    const titles = titlesWith(this.#asked, readTitles(connection, new Set(entries.map(({ session }) => session))));
    const isMissing = ({ isSkipped }: IndexedWord, term: number) => !isSkipped && entries.every(({ places }) => places[term]?.length === 0);
    const missing = this.#indexed.flatMap((word, term) => (isMissing(word, term) ? [term] : []));
    return { page: this.#toPage(connection, tail, rankAnswers(entries, weights, titles)), missing };
  }

  #toPage(connection: Connection, tail: Tail, ranked: readonly RankedAnswer<AnswerEntry>[]): SearchPage {
    const limit = rowLimit(this.#request.limit ?? DEFAULT_LIMIT);
    const matching = matchAll(this.#asked.map(({ term }) => term));
    const titles = includesTitles(this.#request, matching) ? findTitleHits(connection, matching, this.#request, this.#asked) : [];
    const onPage = titles.slice(this.#offset, this.#offset + limit);
    const from = Math.max(0, this.#offset - titles.length);
    const answers = ranked.slice(from, from + limit - onPage.length).map(({ entry, score }) => ({ seq: entry.seq, score }));
    const total = titles.length + ranked.length;
    const end = this.#offset + limit;
    return {
      hits: [...onPage, ...readHits(connection, answers, matching, this.#request)],
      total,
      matched: matchedBy(this.#asked),
      unclosedQuote: null,
      next: limit > 0 && end < total ? `${end}.${tail.from}.${tail.to}` : null,
    };
  }
}

const entryTotal = query<Record<never, never>, { total: number | null }>(({ sql: text }) =>
  rawQuery(text<{ total: number | null }>`SELECT sum(entry_count) AS total FROM session`),
);

function countEntries(connection: Connection): number {
  return connection.get(entryTotal, {})?.total ?? 0;
}

const countPlaces = query<{ forms: string }, { total: number | null }>(({ sql: text, p }) =>
  rawQuery(text<{ total: number | null }>`
    SELECT sum(found.cnt) AS total FROM json_each(${p.forms}) AS asked CROSS JOIN entry_text_word AS found WHERE found.term = asked.value`),
);
const placesOf = query<{ forms: string }, { entries: string; places: string }>(({ sql: text, p }) =>
  rawQuery(text<{ entries: string; places: string }>`
    SELECT json_group_array(found.doc) AS entries, json_group_array(found."offset") AS places
    FROM json_each(${p.forms}) AS asked CROSS JOIN temp.entry_text_place AS found WHERE found.term = asked.value`),
);
const entriesWith = query<{ match: string }, { entries: string }>(({ sql: text, p }) =>
  rawQuery(text<{ entries: string }>`SELECT json_group_array(rowid) AS entries FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

interface Rows {
  readonly from: number;
  readonly to: number;
  /** The last entry whose words count. */
  readonly last: number;
}

/** Reads where the words of a question are, the rarest first, until there are too many places; of the words after that none. */
function readWords(connection: Connection, asked: readonly AskedTerm[], rows: Rows): readonly IndexedWord[] {
  const counted = asked.map(({ forms }, at) => {
    const total = forms.length === 0 ? 0 : (connection.get(countPlaces, { forms: JSON.stringify(forms) })?.total ?? 0);
    return { at, total };
  });
  const found: IndexedWord[] = counted.map(({ total }) => ({ places: new Map(), having: total, isSkipped: true }));
  let read = 0;
  for (const { at, total } of counted.sort((a, b) => a.total - b.total)) {
    if (read > 0 && read + total > MOST_READ) break;
    const one = asked[at];
    if (one !== undefined) found[at] = readWord(connection, one, rows);
    read += total;
  }
  return found;
}

function readWord(connection: Connection, { term, forms }: AskedTerm, { from, to, last }: Rows): IndexedWord {
  const found = new Map<number, number[]>();
  const entries = new Set<number>();
  const add = (seq: number, place: number) => {
    if (seq > last) return;
    entries.add(seq);
    if (seq < from || seq > to) return;
    const places = found.get(seq);
    if (places === undefined) found.set(seq, [place]);
    else if (places.length < MOST_PLACES) places.push(place);
  };
  if (term.kind === "words") {
    const seqs: readonly number[] = JSON.parse(connection.get(entriesWith, { match: termExpression(term) })?.entries ?? "[]");
    for (const seq of seqs) add(seq, -1);
  } else if (forms.length > 0) {
    const row = connection.get(placesOf, { forms: JSON.stringify(forms) });
    const [seqs, places]: readonly (readonly number[])[] = [JSON.parse(row?.entries ?? "[]"), JSON.parse(row?.places ?? "[]")];
    for (const [at, seq] of (seqs ?? []).entries()) add(seq, places?.[at] ?? 0);
  }
  return { places: found, having: entries.size, isSkipped: false };
}

type AnswerRow = {
  readonly seq: EntrySeq;
  readonly session_seq: number;
  readonly depth: number;
  readonly role: MessageRole | null;
  readonly created_at_ms: number;
  /** The record of FTS5 of the length of the text in words. */
  readonly size: Buffer | null;
};

/** Reads those of some entries that meet the conditions of a request. */
function readAnswers(connection: Connection, seqs: readonly number[], request: SearchRequest): readonly AnswerRow[] {
  if (seqs.length === 0) return [];
  const conditions = [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
  return connection.all(
    dynamicQuery<AnswerRow>(() =>
      rawQuery(sql<AnswerRow>`
        SELECT entry.seq, entry.session_seq, entry.depth, entry.role, entry.created_at_ms, length.sz AS size
        FROM json_each(${JSON.stringify(seqs)}) AS asked CROSS JOIN entry ON entry.seq = asked.value
          CROSS JOIN session ON session.seq = entry.session_seq LEFT JOIN entry_text_docsize AS length ON length.id = entry.seq
        WHERE ${allOf(conditions)}`),
    ),
    {},
  );
}

type AnswerEntry = AskedEntry & { readonly seq: EntrySeq };

function toEntry({ seq, session_seq, depth, role, created_at_ms, size }: AnswerRow, places: readonly (readonly number[])[]): AnswerEntry {
  const [words = 0] = size === null ? [] : readVarints(size);
  return { seq, session: session_seq, depth, role, createdAtMs: created_at_ms, words, places };
}

const titlesOf = query<{ sessions: string }, readonly [seq: number, title: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [seq: number, title: string]>`
    SELECT session.seq, session.title FROM json_each(${p.sessions}) AS asked CROSS JOIN session ON session.seq = asked.value
    WHERE session.title IS NOT NULL`),
);

function readTitles(connection: Connection, sessions: ReadonlySet<number | string>): readonly (readonly [number, string])[] {
  return connection.allAsArrays(titlesOf, { sessions: JSON.stringify([...sessions]) });
}
