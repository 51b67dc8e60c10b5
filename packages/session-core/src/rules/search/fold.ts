// The comparison of characters in a search. The index (FTS5, tokenizer unicode61 with remove_diacritics 2) and the scan of entries that are
// not indexed must agree on every character; test/search/fold.property.test.ts compares both for all of them.

/** Letters, digits and private characters make up words; all others separate them. The content of a character class. */
export const WORD_CHARACTERS = "\\p{L}\\p{N}\\p{Co}";

/** Combining accents, which FTS5 ignores inside a word: `e` and U+0301 are the letter `e`. The content of a character class. */
export const ACCENTS = "\\u0300-\\u0304\\u0306-\\u030c\\u030f\\u0311\\u031b\\u0323-\\u0328\\u032d\\u032e\\u0330\\u0331";

/**
 * The scripts that are written without spaces. The tokenizer treats a run of their characters as one word, so that no part of it would
 * be found. The content of a character class.
 */
export const UNSPACED_CHARACTERS = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{Script=${script}}`)
  .join("");

/**
 * A pattern that is made at its first use. A class of Unicode such as `\p{L}` or a script takes V8 0.1 to 0.6 ms when the pattern is made;
 * as a constant of a module it takes them at every start. A literal in the body of a function is also made at its first use.
 */
export function patternOnUse(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

const startsUnspaced = patternOnUse(`^[${UNSPACED_CHARACTERS}]`, "u");
const wordCharacter = patternOnUse(`^[${WORD_CHARACTERS}]`, "u");
const ACCENT = new RegExp(`^[${ACCENTS}]$`, "u");
/** The only word in the index of a text that is not indexed. A private character, which separates words in any text, so that no text has it. */
export const NOT_INDEXED = "\uf8fe";
/** Letters in the Unicode version of JavaScript, but separators in that of FTS5; and `NOT_INDEXED`. */
const SEPARATORS = /[\u19b0-\u19c9\u1cf2\u1cf3\uf8fe]/;

const ANY_NON_ASCII = /[^\0-\x7f]/;
const NON_ASCII = /[^\0-\x7f]/gu;

/** True if the text contains only ASCII characters. */
export function isAscii(text: string): boolean {
  return !ANY_NON_ASCII.test(text);
}

/** True if the text starts with a character of a script written without spaces. Each of these characters is a word. */
export function isUnspaced(text: string): boolean {
  return text > "\u0e00" && startsUnspaced().test(text);
}

/** Folds text as the index does: lower case, Latin letters without accents. Keeps the position of every code unit. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).replace(NON_ASCII, foldCharacter);
}

/**
 * Converts text for the search index: folds it, replaces separators by spaces (FTS5 treats characters that are newer than its
 * Unicode version, such as recent emoji, as letters), and puts spaces around characters of scripts written without spaces, so
 * that each is a word and any part of a sentence is found as a phrase.
 */
export function toIndexedText(text: string): string {
  if (isAscii(text)) return text.replaceAll("\0", " ");
  return text.toWellFormed().replaceAll("\0", " ").replace(NON_ASCII, toIndexedCharacter);
}

const foldCharacter = rememberResults(fold);
const toIndexedCharacter = rememberResults(toIndexed);

/** Keeps the results of a function of one character. Bounded by the number of Unicode characters. */
function rememberResults(convert: (character: string) => string): (character: string) => string {
  const results = new Map<string, string>();
  return (character) => {
    const known = results.get(character);
    if (known !== undefined) return known;
    const result = convert(character);
    results.set(character, result);
    return result;
  };
}

function toIndexed(character: string): string {
  if (isUnspaced(character)) return ` ${foldCharacter(character)} `;
  if (ACCENT.test(character)) return character;
  return wordCharacter().test(character) ? foldCharacter(character) : " ";
}

/** In UTF-16 code units. */
const PIECE = 65_536;
const betweenWords = patternOnUse(`[^${WORD_CHARACTERS}${ACCENTS}]`, "gu");

/**
 * Divides a text between its words, for patterns that match words: V8 keeps a stack of the characters of a match where a pattern has
 * alternatives, which includes every class of characters with the flag `u`, and throws a `RangeError` in a word of some millions. Of a word of
 * more than 65,536 code units, a part at its end may be left out.
 */
export function* piecesBetweenWords(text: string): Generator<string, void, void> {
  const separator = betweenWords();
  for (let start = 0; start < text.length; ) {
    separator.lastIndex = start + PIECE;
    const end = text.length - start <= PIECE ? text.length : (separator.exec(text)?.index ?? text.length);
    yield text.slice(start, Math.min(end, start + 2 * PIECE));
    start = end;
  }
}

const ASCII_WORDS = /[a-z0-9]+/g;
const words = patternOnUse(`[${WORD_CHARACTERS}]+`, "gu");
const ACCENTS_OF_WORDS = new RegExp(`[${ACCENTS}]`, "gu");

/** Divides a text that was converted by `toIndexedText` into its words, folded, in order, as the index numbers them. */
export function indexedWords(indexedText: string): readonly string[] {
  return [...piecesBetweenWords(indexedText)].flatMap((piece) => {
    if (isAscii(piece)) return piece.toLowerCase().match(ASCII_WORDS) ?? [];
    return foldText(piece).replace(ACCENTS_OF_WORDS, "").match(words()) ?? [];
  });
}

function fold(character: string): string {
  if (!wordCharacter().test(character)) return character;
  if (SEPARATORS.test(character)) return " ";
  // FTS5 keeps the Turkish dotless i apart from i; its upper case is I.
  if (character === "\u0131") return character;
  // First to upper case: ſ, ς and ϐ have the same upper case as s, σ and β.
  const upper = sameLength(character, character.toUpperCase());
  const base = /^([A-Za-z])\p{M}+$/u.exec(upper.normalize("NFD"))?.[1];
  return base === undefined ? sameLength(upper, upper.toLowerCase()) : base.toLowerCase();
}

/** Returns `changed`, or the character itself if `changed` is of another length. */
function sameLength(character: string, changed: string): string {
  return changed.length === character.length ? changed : character;
}
