import { foldText, indexedWords, toIndexedText } from "./fold.js";
import { type AskedTerm, stemTest } from "./question.js";
import { createAnyPrefilter, tokensOf } from "./term-pattern.js";
import type { TextProbe } from "./text-scan.js";

/** The words of a question in a text. */
export interface QuestionPlaces {
  /** Of each word of the question: the numbers of the words of the text that are its forms. A phrase occurs once, at -1. */
  readonly places: readonly (readonly number[])[];
  /** The length of the text in words. */
  readonly words: number;
}

/** The most places of a word in a text that count, and the number of the last word that does. */
export const MOST_PLACES = 255;
const LAST_PLACE = 16_383;

/** The probe for texts with any word of a question. It finds what the index finds. */
export function probeOfQuestion(asked: readonly AskedTerm[]): TextProbe<QuestionPlaces> {
  const read = createReader(asked);
  return {
    canMatch: createAnyPrefilter(asked.map(({ term }) => term)),
    read: ({ original }) => read(indexedWords(toIndexedText(original))),
    hasExpression: false,
  };
}

/** Finds the words of a question among the words of a text; undefined: there are none. */
function createReader(asked: readonly AskedTerm[]): (words: readonly string[]) => QuestionPlaces | undefined {
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
  const addPlace = (of: number[], term: number, words: readonly string[], at: number) => {
    const phrase = phrases[term] ?? [];
    if (phrase.length === 0) {
      if (at < LAST_PLACE && of.length < MOST_PLACES) of.push(at);
    } else if (of.length === 0 && phrase.every((one, next) => words[at + next] === one)) of.push(-1);
  };
  return (words) => {
    const places: number[][] = asked.map(() => []);
    for (const [at, word] of words.entries()) {
      for (const term of find(word)) addPlace(places[term] ?? [], term, words, at);
    }
    return places.every(({ length }) => length === 0) ? undefined : { places, words: words.length };
  };
}
