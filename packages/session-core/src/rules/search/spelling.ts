import { foldText, isUnspaced } from "./fold.js";
import type { SearchTerm, StemTerm } from "./search-terms.js";

// Words with one mistake: one letter changed, added or missing, or two neighbors exchanged. Every such word is looked up in the index,
// which has no other way to find them; the scan of entries that are not indexed uses a pattern. Both use the same letters.

const LATIN = "abcdefghijklmnopqrstuvwxyz";
const SCRIPTS: readonly (readonly [script: RegExp, letters: string])[] = [
  [/\p{Script=Cyrillic}/u, "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"],
  [/\p{Script=Greek}/u, "αβγδεζηθικλμνξοπρστυφχψω"],
];

/** Shorter words have too many neighbors that are other words. */
const SHORTEST = 4;
const LONGEST = 24;
const LETTERS = /^\p{L}+$/u;

/** True if a term is one word that may match with a mistake. A number or an id that differs in one digit is another one. */
export function canBeMisspelt(term: SearchTerm): boolean {
  if (term.kind !== "words") return false;
  const { words, prefix } = term;
  const letters = [...foldText(words)];
  return !prefix && letters.length >= SHORTEST && letters.length <= LONGEST && LETTERS.test(letters.join("")) && !letters.some(isUnspaced);
}

/** The letters that may be added or put in place of others: those of the scripts of the word, and its own. */
function lettersFor(word: string): readonly string[] {
  const scripts = SCRIPTS.filter(([script]) => script.test(word)).map(([, letters]) => letters);
  return [...new Set([...(scripts.length === 0 ? LATIN : scripts.join("")), ...word])];
}

/** Every word with exactly one mistake, each once. About 50 for each letter. */
export function listMisspellings(typed: string): readonly string[] {
  const word = [...foldText(typed)];
  const letters = lettersFor(word.join(""));
  const found = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const [head, tail] = [word.slice(0, at).join(""), word.slice(at)];
    for (const letter of letters) {
      found.add(`${head}${letter}${tail.join("")}`);
      if (tail.length > 0) found.add(`${head}${letter}${tail.slice(1).join("")}`);
    }
    if (tail.length > 0) found.add(`${head}${tail.slice(1).join("")}`);
    if (tail.length > 1) found.add(`${head}${tail[1]}${tail[0]}${tail.slice(2).join("")}`);
  }
  found.delete(word.join(""));
  return [...found];
}

const NONE: ReadonlySet<string> = new Set();
const known = new Map<string, ReadonlySet<string>>();
const MOST_KNOWN = 32;

/** The words that differ in one letter from a word of a question; none if it can have no mistake. A search asks for them several times. */
export function mistakesOf(term: StemTerm): ReadonlySet<string> {
  if (!canBeMisspelt({ ...term, kind: "words", prefix: false, reach: "whole" })) return NONE;
  const before = known.get(term.words);
  if (before !== undefined) return before;
  const mistakes = new Set(listMisspellings(term.words));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(term.words, mistakes);
  return mistakes;
}

/** The source of a pattern for folded text that matches the word and every word with one mistake. */
export function misspellingPattern(typed: string, joiner: string): string {
  const word = [...foldText(typed)];
  const letter = `[${lettersFor(word.join("")).join("")}]`;
  const forms = new Set([word.join(joiner)]);
  for (let at = 0; at <= word.length; at += 1) {
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    forms.add([...head, letter, ...tail].join(joiner));
    if (tail.length > 0) forms.add([...head, letter, ...tail.slice(1)].join(joiner));
    if (tail.length > 0) forms.add([...head, ...tail.slice(1)].join(joiner));
    if (tail.length > 1) forms.add([...head, tail[1], tail[0], ...tail.slice(2)].join(joiner));
  }
  return `(?:${[...forms].join("|")})`;
}
