import { ACCENTS, foldText, isAscii, patternOnUse, piecesBetweenWords, UNSPACED_CHARACTERS, WORD_CHARACTERS } from "./fold.js";

// Which words of a text are listed, so that parts of them are found. Numbers, very long words and base64 are nearly all different, and would
// make the list as large as the text; the index finds them whole and by their beginning.

/** Shorter words have no part that is looked up. */
const SHORTEST = 3;
/** Longer words are hashes, keys and other data. */
const LONGEST = 40;
/** A run of the characters of base64, which `+` and `/` divide into words of any length. */
const LONG_RUN = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}/g;
const DIGIT_BESIDE_LETTER = /[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])/g;
/** Of random characters every fourth, on average, is a letter before a digit or a digit before a letter; of a path hardly any. */
const RANDOM_SHARE = 1 / 8;

const ASCII_WORD = /[a-z0-9]{3,}/g;
const runs = patternOnUse(`(?:(?![${UNSPACED_CHARACTERS}])[${WORD_CHARACTERS}])+`, "gu");
const ACCENT = new RegExp(`[${ACCENTS}]`, "gu");

const ONLY_DIGITS = /^[0-9]+$/;

/** The different words of several texts. */
export class WordCollector {
  readonly #words = new Set<string>();

  /** Adds the words of a text, as the index gets it. */
  add(indexedText: string): void {
    for (const piece of piecesBetweenWords(indexedText)) this.#addPiece(piece);
  }

  #addPiece(indexedText: string): void {
    const found = splitWords(indexedText);
    // A text without long words has hardly any base64; looking for it in every text takes half as long as finding the words.
    const isData = found.some((word) => word.length > LONGEST);
    const listed = isData ? splitWords(indexedText.replace(LONG_RUN, (run) => (isRandom(run) ? " " : run))) : found;
    for (const word of listed) if (word.length >= SHORTEST && word.length <= LONGEST) this.#words.add(word);
  }

  /** The words that are listed, sorted. */
  list(): readonly string[] {
    return [...this.#words].filter((word) => !ONLY_DIGITS.test(word)).sort();
  }
}

function splitWords(text: string): readonly string[] {
  const found = isAscii(text) ? text.toLowerCase().match(ASCII_WORD) : foldText(text).replace(ACCENT, "").match(runs());
  return found ?? [];
}

function isRandom(run: string): boolean {
  return (run.match(DIGIT_BESIDE_LETTER)?.length ?? 0) >= run.length * RANDOM_SHARE;
}
