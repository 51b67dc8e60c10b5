import { createHash } from "node:crypto";
import type { EntryPayload } from "@bough/session-core";
import {
  ACCENTS,
  foldText,
  isAscii,
  piecesBetweenWords,
  type Query,
  searchableText,
  toIndexedText,
  type ValidatedWrite,
  WORD_CHARACTERS,
  WordCollector,
} from "@bough/session-core/engine";
import { isSummary } from "@bough/session-core/view";
import { decodeBytes } from "@bough/session-core/wire";
import type { PgDatabase } from "./database.js";
import { pgRaw, pgRepeatable } from "./query.js";

// The words of a text as a tsvector. They are divided and folded here, as in the index of a store on SQLite, not by a text search
// configuration of the server: both engines find the same.
//
// Each word starts with one character that marks its tenant, so that a look-up reads the entries of this tenant, and of few others.
// A tsvector has limits: 1 MB, positions up to 16,383, 256 positions of a word, 2,046 bytes of a word. A text beyond them
// has one more word, with a character that is in no word. A search reads such a text where that matters.

/** Marks texts some of whose positions are missing: phrases are looked up in the text. */
export const POSITIONS_MISSING = "+positions";
/** Marks texts some of whose words are missing. */
export const WORDS_MISSING = "+words";

const MOST_BYTES = 900_000;
const MOST_POSITION = 16_383;
const MOST_POSITIONS = 255;
/** In UTF-16 code units, at most 1,800 bytes. */
const LONGEST_WORD = 600;

const ASCII_WORD = /[a-z0-9]+/g;
const WORD = new RegExp(`[${WORD_CHARACTERS}]+`, "gu");
const ACCENT = new RegExp(`[${ACCENTS}]`, "gu");

/** The searchable text of a payload that was validated: bytes in it are encoded, and are no text. */
export function textToWrite(payload: EntryPayload): string {
  const hasDetails = isSummary(payload);
  return searchableText(hasDetails ? { ...payload, details: decodeBytes(payload.details) } : payload);
}

/** Returns the words of a payload's searchable text, as the text of a tsvector. */
export function wordsOf(payload: EntryPayload, tenant: string): string {
  return vectorOf(searchableText(payload), tenant);
}

/** Returns the words of a text, such as a title, as the text of a tsvector. */
export function vectorOf(text: string, tenant: string): string {
  return formatVector(splitIndexed(toIndexedText(text)), tenantMark(tenant));
}

/** A word as it is in a tsvector of this tenant. */
export function toLexeme(word: string, tenant: string): string {
  return `${tenantMark(tenant)}${cutWord(word)}`;
}

/** Divides a text that was converted for the index into words, in order. */
function splitIndexed(text: string): readonly string[] {
  return [...piecesBetweenWords(text)].flatMap(splitPiece);
}

function splitPiece(text: string): readonly string[] {
  if (isAscii(text)) return text.toLowerCase().match(ASCII_WORD) ?? [];
  return foldText(text).replace(ACCENT, "").match(WORD) ?? [];
}

/** The positions of each word. */
type Places = Map<string, number[]>;

/** With positions if these fit; else without them; of what does not fit even so, the first words. */
function formatVector(words: readonly string[], mark: string): string {
  const places: Places = new Map();
  let hasAllPositions = words.length <= MOST_POSITION;
  for (const [at, word] of words.entries()) {
    const known = places.get(word);
    if (known === undefined) places.set(word, at < MOST_POSITION ? [at + 1] : []);
    else if (known.length >= MOST_POSITIONS) hasAllPositions = false;
    else if (at < MOST_POSITION) known.push(at + 1);
  }
  let bytes = 0;
  for (const [word, positions] of places) bytes += bytesOf(word, mark) + 2 * positions.length + 3;
  if (bytes > MOST_BYTES) return formatWords(places, mark);
  return formatLexemes(places, mark, hasAllPositions ? [] : [POSITIONS_MISSING]);
}

function formatWords(places: Places, mark: string): string {
  let bytes = 0;
  const fitting = [...places.keys()].filter((word) => {
    bytes += bytesOf(word, mark);
    return bytes <= MOST_BYTES;
  });
  const isComplete = fitting.length === places.size;
  return formatLexemes(
    new Map(fitting.map((word) => [word, []])),
    mark,
    isComplete ? [POSITIONS_MISSING] : [POSITIONS_MISSING, WORDS_MISSING],
  );
}

function bytesOf(word: string, mark: string): number {
  return Buffer.byteLength(mark) + Buffer.byteLength(cutWord(word));
}

function formatLexemes(places: Places, mark: string, more: readonly string[]): string {
  const lexemes = Array.from(places, ([word, positions]) => formatLexeme(`${mark}${cutWord(word)}`, positions));
  return [...lexemes, ...more.map((word) => formatLexeme(`${mark}${word}`, []))].join(" ");
}

function formatLexeme(lexeme: string, positions: readonly number[]): string {
  return positions.length === 0 ? `'${lexeme}'` : `'${lexeme}':${positions.join(",")}`;
}

function cutWord(word: string): string {
  return word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD).toWellFormed() : word;
}

const FIRST_MARK = 0x4e00;
const MARKS = 20_000;
const marks = new Map<string, string>();

/** Returns the character that marks a tenant, derived from its hash; empty for the store without tenants. */
function tenantMark(tenant: string): string {
  if (tenant === "") return "";
  const known = marks.get(tenant);
  if (known !== undefined) return known;
  const hash = createHash("sha256").update(tenant).digest().readUInt32BE(0);
  const mark = String.fromCharCode(FIRST_MARK + (hash % MARKS));
  marks.set(tenant, mark);
  return mark;
}

// The table `word` has every different word of a tenant's texts, so that parts of words are found: the index finds whole words and their
// beginnings. A statement of its own lists the words of a text before the text is written: writers of different sessions do not wait for
// each other, and a text that is then not written leaves some words that no text has.
//
// Each word is looked up by the index, also in a new table, of which the planner does not know yet how large it has become: NOT EXISTS would
// read all of it. The statement does not wait for the disk: the later commit of the text does, and makes earlier commits durable too.

const insertWords = pgRepeatable<{ words: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO word (tenant, word) SELECT ${p.tenant}, given.word FROM unnest(${p.words}::text[]) AS given (word)
    WHERE (SELECT known.word FROM word AS known WHERE known.tenant = ${p.tenant} AND known.word = given.word LIMIT 1) IS NULL
      AND (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL`),
);

/** The words that a store has listed, so that it does not send them again. */
const listed = new WeakMap<PgDatabase, Set<string>>();
const MOST_KNOWN = 200_000;

/** Lists the words of texts that are about to be written. Cost: one statement, if there are words that this store has not listed yet. */
export async function listWords(database: PgDatabase, texts: Iterable<string>): Promise<void> {
  await listCollected(database, wordsToList(texts));
}

/** The words of texts that are to be listed. */
export function wordsToList(texts: Iterable<string>): readonly string[] {
  const collector = new WordCollector();
  for (const text of texts) collector.add(toIndexedText(text));
  return collector.list();
}

/** The same for words that were collected. */
export async function listCollected(database: PgDatabase, collected: readonly string[]): Promise<void> {
  const words = unlisted(database, collected);
  if (words.length === 0) return;
  // A statement that was sent twice lists a word twice at most.
  await database.run(insertWords, { words }).catch(() => database.run(insertWords, { words }));
  remember(database, words);
}

/** The words that this store has not listed yet. */
function unlisted(database: PgDatabase, words: readonly string[]): readonly string[] {
  const known = listed.get(database);
  return known === undefined ? words : words.filter((word) => !known.has(word));
}

function remember(database: PgDatabase, words: readonly string[]): void {
  const known = listed.get(database) ?? new Set();
  if (known.size + words.length > MOST_KNOWN) known.clear();
  for (const word of words) known.add(word);
  listed.set(database, known);
}

/** Like `database.get`, for a statement that writes texts: lists their words in the same round trip. */
export async function getWithWords<P extends object, R>(
  database: PgDatabase,
  collected: readonly string[],
  query: Query<P, R>,
  parameters: P,
): Promise<R | undefined> {
  const words = unlisted(database, collected);
  if (words.length === 0) return database.get(query, parameters);
  const { row, isOtherDone } = await database.getAfter(insertWords, { words }, query, parameters);
  if (isOtherDone) remember(database, words);
  // The texts are written, and are found by whole words. What cannot be listed now is listed with the next text that has it.
  else await listCollected(database, words).catch(() => undefined);
  return row;
}

/** The texts of the entries of a batch. */
export function textsOf(writes: readonly ValidatedWrite[]): readonly string[] {
  return writes.flatMap((write) => (write.kind === "entry" ? [textToWrite(write.entry.payload)] : []));
}
