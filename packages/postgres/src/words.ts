import { createHash } from "node:crypto";
import type { EntryPayload } from "@bough/session-core";
import { ACCENTS, foldText, isAscii, piecesBetweenWords, searchableText, toIndexedText, WORD_CHARACTERS } from "@bough/session-core/engine";
import { isSummary } from "@bough/session-core/view";
import { decodeBytes } from "@bough/session-core/wire";

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
