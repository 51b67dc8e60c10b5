import { foldText, indexedWords, toIndexedText } from "./fold.js";
import { type AskedTerm, stemTest } from "./question.js";
import { createAnyPrefilter, tokensOf } from "./term-pattern.js";
import type { TextProbe } from "./text-scan.js";

/** The words of a question in a text. */
export interface QuestionPlaces {
  /** Of each word of the question: the numbers of the words of the text that are its forms. A phrase occurs once, at -1. */
  readonly places: readonly (readonly number[])[];
  /** The number of different forms of each word of the question in the text. */
  readonly forms: readonly number[];
  /** The length of the text in words. */
  readonly words: number;
}

/** The most places of a word in a text that count: the first ones. */
export const MOST_PLACES = 255;
/** Words of a text from this number on have no place. */
export const PLACED_WORDS = 16_383;

/** The places that count, in order, of all places of a word in a text. */
export function placesThatCount(places: readonly number[]): readonly number[] {
  return places
    .filter((place) => place < PLACED_WORDS)
    .sort((a, b) => a - b)
    .slice(0, MOST_PLACES);
}

/** The probe for texts with any word of a question. It finds what the index finds. */
export function probeOfQuestion(asked: readonly AskedTerm[]): TextProbe<QuestionPlaces> {
  const read = createReader(asked);
  return {
    canMatch: createAnyPrefilter(asked.map(({ term }) => term)),
    read: ({ original }) => read(indexedWords(toIndexedText(original))),
  };
}

/** Finds the words of a question among the words of a text; undefined: there are none. */
export function createReader(asked: readonly AskedTerm[]): (words: readonly string[]) => QuestionPlaces | undefined {
  const tests = asked.map(({ term }) => (term.kind === "stem" ? stemTest(term) : null));
  const phrases = asked.map(({ term }) => (term.kind === "stem" ? [] : tokensOf(foldText(term.words))));
  const termsOf = new Map<string, readonly number[]>();
  const find = (word: string) => {
    const known = termsOf.get(word);
    if (known !== undefined) return known;
    const terms = tests.flatMap((test, at) => (test?.(word) === true || phrases[at]?.[0] === word ? [at] : []));
    termsOf.set(word, terms);
    return terms;
  };
  return (words) => {
    const found = asked.map((_, at) => new TermPlaces(phrases[at] ?? []));
    for (const [at, word] of words.entries()) for (const term of find(word)) found[term]?.add(words, at);
    const places = found.map((one) => one.places);
    if (places.every(({ length }) => length === 0)) return undefined;
    return { places, forms: found.map((one) => one.forms.size), words: words.length };
  };
}

/** The places of one word of a question, or of a phrase, in a text. */
class TermPlaces {
  readonly places: number[] = [];
  readonly forms = new Set<string>();
  readonly #phrase: readonly string[];

  /** `phrase`: its words; none for a word with several forms. */
  constructor(phrase: readonly string[]) {
    this.#phrase = phrase;
  }

  /** Adds the form, or the first word of a phrase, at a place; a phrase has one place. */
  add(words: readonly string[], at: number): void {
    const [word = ""] = this.#phrase.length === 0 ? [words[at]] : this.#phrase;
    if (this.#phrase.length > 0) {
      if (this.places.length > 0 || !this.#phrase.every((one, next) => words[at + next] === one)) return;
      this.places.push(-1);
    } else if (at < PLACED_WORDS && this.places.length < MOST_PLACES) this.places.push(at);
    this.forms.add(word);
  }
}
