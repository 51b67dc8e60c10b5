import type { SearchMatch, SearchRequest } from "../../port/search.js";
import { foldText } from "./fold.js";
import { readQuery, type StemTerm, type WordsTerm } from "./search-terms.js";
import { mistakesOf } from "./spelling.js";
import { isStopWord, languagesOf, shortestStarts, stemsOf } from "./stems.js";
import { startsOfForms, tokensOf } from "./term-pattern.js";

// A question is a query of more than three words, or of several with a question mark. An entry need not have all of its words: entries are
// ranked by rank-question.ts. Quotation marks, `word*` and `/expressions/` ask for an exact text, so a query with one is no question.

/** One word of a question in any of its forms, or a name of several words (`src/a.ts`), which is a phrase. */
export type QuestionTerm = StemTerm | WordsTerm;

/** A query of more words is a question. */
const MOST_WORDS = 3;
/** The most words of a question that count; further ones are ignored. */
const MOST_TERMS = 64;
const ENDS_AS_QUESTION = /[?？]\s*$/u;
/** A name in code has no other forms. */
const IDENTIFIER = /\p{Ll}\p{Lu}|\p{N}/u;
/** Divides `l'heure` and `don't`. */
const APOSTROPHE = /['’]/u;

/** The words of a question that count: stop words count only if there are no others. null: the query is no question. @throws {InvalidQueryError} */
export function readQuestion(query: string): readonly QuestionTerm[] | null {
  const { terms } = readQuery(query);
  const least = ENDS_AS_QUESTION.test(query) ? 2 : MOST_WORDS + 1;
  if (terms.length < least || query.includes('"')) return null;
  if (terms.some((term) => term.kind === "expression" || (term.kind === "words" && term.prefix))) return null;
  const parts = terms.flatMap(({ words }) => words.split(APOSTROPHE)).map((words) => ({ words, tokens: tokensOf(words) }));
  const named = parts.filter(({ tokens }) => tokens.length > 0);
  const languages = languagesOf(named.flatMap(({ tokens }) => tokens));
  const telling = named.filter(({ tokens }) => !tokens.every((token) => isStopWord(token, languages)));
  const asked = (telling.length > 0 ? telling : named).map(({ words, tokens: [word = "", ...more] }): QuestionTerm => {
    if (more.length > 0) return { kind: "words", words, prefix: false, reach: "whole" };
    const spoken = IDENTIFIER.test(words) ? [] : languages;
    return { kind: "stem", words, languages: spoken, stems: stemsOf(word, spoken), isMisspelt: false };
  });
  const different = new Map(
    asked.map((term) => [term.kind === "stem" && term.stems.length > 0 ? term.stems.join(" ") : foldText(term.words), term]),
  );
  return different.size === 0 ? null : [...different.values()].slice(0, MOST_TERMS);
}

/** The question of a request; null: it asks for entries with all of the words, or with a given number of them. */
export function questionOf({ query, relax, atLeast }: SearchRequest): readonly QuestionTerm[] | null {
  return relax === true && atLeast === undefined ? readQuestion(query) : null;
}

/** A word of a question, and its forms in the list of words; of a phrase, which is looked up as it is, none. */
export interface AskedTerm {
  readonly term: QuestionTerm;
  readonly forms: readonly string[];
}

/** Looks up the forms of the words of a question. `startingWith`, called once, lists the words of the store with one of these beginnings. */
export async function findForms(
  terms: readonly QuestionTerm[],
  startingWith: (starts: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly AskedTerm[]> {
  const starts = terms.map((term) => (term.kind === "stem" ? startsOfForms(term) : []));
  const all = shortestStarts(starts.flat());
  const listed = all.length === 0 ? [] : await startingWith(all);
  return terms.map((term) => {
    if (term.kind === "words") return { term, forms: [] };
    const isForm = stemTest(term);
    const forms = listed.filter(isForm);
    // Numbers and short words are not in the list.
    return { term, forms: [...new Set([...tokensOf(term.words), ...forms])].sort() };
  });
}

/** Returns a test for folded words that are forms of a word of a question. */
export function stemTest(term: StemTerm): (word: string) => boolean {
  const [typed = ""] = tokensOf(term.words);
  const stems = new Set(term.stems);
  const starts = startsOfForms(term);
  const mistakes = term.isMisspelt ? mistakesOf(term) : undefined;
  const known = new Map<string, boolean>();
  // Finding a stem costs far more than comparing a start.
  const hasStem = (word: string) =>
    starts.some((start) => word.startsWith(start)) && stemsOf(word, term.languages).some((stem) => stems.has(stem));
  const isForm = (word: string) => word === typed || hasStem(word) || mistakes?.has(word) === true;
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const is = isForm(word);
    known.set(word, is);
    return is;
  };
}

/** The rule by which the hits of a question match. */
export function matchedBy(asked: readonly AskedTerm[]): SearchMatch {
  return { kind: "ranked", misspelt: asked.flatMap(({ term }) => (term.kind === "stem" && term.isMisspelt ? [term.words] : [])) };
}
