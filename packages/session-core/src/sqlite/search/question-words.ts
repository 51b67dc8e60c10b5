import { chooseRead } from "../../rules/search/asked-words.js";
import type { AskedTerm } from "../../rules/search/question.js";
import { MOST_PLACES, PLACED_WORDS, placesThatCount } from "../../rules/search/question-probe.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { termExpression } from "./search-query.js";

// The words of a question in the index: how many entries have each form, and where the words are.

const listStarting = query<{ starts: string; end: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`
    SELECT word.word FROM json_each(${p.starts}) AS asked CROSS JOIN word
    WHERE word.word >= asked.value AND word.word < asked.value || ${p.end}`),
);
const listKnown = query<{ words: string }, readonly [word: string]>(({ sql: text, p }) =>
  rawQuery(text<readonly [word: string]>`SELECT word.word FROM json_each(${p.words}) AS asked CROSS JOIN word ON word.word = asked.value`),
);
/** After all words with the same start. */
const LAST = "\u{10ffff}";

/** The listed words of a store that start with one of the texts. Cost: these words. */
export function wordsStartingWith(connection: Connection, starts: readonly string[]): readonly string[] {
  return connection.allAsArrays(listStarting, { starts: JSON.stringify(starts), end: LAST }).map(([word]) => word);
}

/** Those of some words that are listed. Cost: a look-up for each. */
export function knownWords(connection: Connection, words: readonly string[]): readonly string[] {
  return words.length === 0 ? [] : connection.allAsArrays(listKnown, { words: JSON.stringify(words) }).map(([word]) => word);
}

/** A word of a question in the index. */
export interface IndexedWord {
  /** The number of entries of the store that have it, counted again for each of its forms. */
  readonly having: number;
  /** It is too common to be read. */
  readonly isSkipped: boolean;
  /** The number of times that the searched entries have it, by row number; at most `MOST_PLACES`. */
  readonly counts: ReadonlyMap<number, number>;
  /** Its places in some entries, by row number. */
  readonly placesIn: (seqs: ReadonlySet<number>) => ReadonlyMap<number, readonly number[]>;
}

/** The rows that are searched. */
export interface SearchedRows {
  readonly from: number;
  readonly to: number;
  /** The last row that is in the index for this search: it may have grown since. */
  readonly last: number;
}

const countEntriesOf = query<{ forms: string }, readonly [form: string, entries: number]>(({ sql: text, p }) =>
  rawQuery(text<readonly [form: string, entries: number]>`
    SELECT found.term, found.doc FROM json_each(${p.forms}) AS asked CROSS JOIN entry_text_word AS found WHERE found.term = asked.value`),
);
const placesOf = query<{ forms: string }, { entries: string; places: string }>(({ sql: text, p }) =>
  rawQuery(text<{ entries: string; places: string }>`
    SELECT json_group_array(found.doc) AS entries, json_group_array(found."offset") AS places
    FROM json_each(${p.forms}) AS asked CROSS JOIN temp.entry_text_place AS found WHERE found.term = asked.value`),
);
const entriesWith = query<{ match: string }, { entries: string }>(({ sql: text, p }) =>
  rawQuery(text<{ entries: string }>`SELECT json_group_array(rowid) AS entries FROM entry_text WHERE entry_text MATCH ${p.match}`),
);

/** Reads the words of a question in the index: one statement that counts, and one for each word that is read. */
export function readIndexedWords(connection: Connection, asked: readonly AskedTerm[], rows: SearchedRows): readonly IndexedWord[] {
  const forms = JSON.stringify([...new Set(asked.flatMap((one) => one.forms))]);
  const entriesOf = new Map(connection.allAsArrays(countEntriesOf, { forms }));
  const phrases = new Map(
    asked.flatMap((one) => (one.term.kind === "words" ? [[one, readPhrase(connection, termExpression(one.term))]] : [])),
  );
  const counts = asked.map((one) => phrases.get(one)?.seqs.length ?? one.forms.reduce((sum, form) => sum + (entriesOf.get(form) ?? 0), 0));
  const chosen = chooseRead(counts);
  return asked.map((one, at) => {
    const having = counts[at] ?? 0;
    if (!chosen.has(at) || having === 0) return { having, isSkipped: having > 0, counts: new Map(), placesIn: () => new Map() };
    const { seqs, places } = phrases.get(one) ?? readPlaces(connection, one.forms);
    return { having, isSkipped: false, counts: countPlaces(seqs, places, rows), placesIn: (wanted) => collectPlaces(seqs, places, wanted) };
  });
}

/** Each place of a word: the entry, and the number of the word in it. */
interface Places {
  readonly seqs: readonly number[];
  readonly places: readonly number[];
}

function readPhrase(connection: Connection, match: string): Places {
  const seqs: readonly number[] = JSON.parse(connection.get(entriesWith, { match })?.entries ?? "[]");
  return { seqs, places: seqs.map(() => -1) };
}

function readPlaces(connection: Connection, forms: readonly string[]): Places {
  const row = connection.get(placesOf, { forms: JSON.stringify(forms) });
  const [seqs, places]: readonly (readonly number[])[] = [JSON.parse(row?.entries ?? "[]"), JSON.parse(row?.places ?? "[]")];
  return { seqs: seqs ?? [], places: places ?? [] };
}

function countPlaces(seqs: readonly number[], places: readonly number[], { from, to, last }: SearchedRows): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  const end = Math.min(to, last);
  for (let at = 0; at < seqs.length; at += 1) {
    const seq = seqs[at] ?? 0;
    if (seq < from || seq > end || (places[at] ?? 0) >= PLACED_WORDS) continue;
    const count = counts.get(seq) ?? 0;
    if (count < MOST_PLACES) counts.set(seq, count + 1);
  }
  return counts;
}

function collectPlaces(
  seqs: readonly number[],
  places: readonly number[],
  wanted: ReadonlySet<number>,
): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  for (let at = 0; at < seqs.length; at += 1) {
    const seq = seqs[at] ?? 0;
    if (!wanted.has(seq)) continue;
    const of = found.get(seq);
    if (of === undefined) found.set(seq, [places[at] ?? 0]);
    else of.push(places[at] ?? 0);
  }
  return new Map([...found].map(([seq, of]) => [seq, placesThatCount(of)]));
}
