import type { SearchHit, SearchMatch, SearchPage, SearchRequest } from "../../port/search.js";
import { foldText } from "./fold.js";
import { type Matching, matchAll } from "./matching.js";
import { readQuery, type SearchTerm, toPlain, type WordsTerm } from "./search-terms.js";
import { canBeMisspelt } from "./spelling.js";
import { termPattern } from "./term-pattern.js";

// The attempts of a search with `relax`, in this order, until one finds something: all of the query; the words of its literal texts,
// whatever is between them; most of the words, that is more than half; all of them with one spelling mistake in one; some of them. The
// number of the attempt is part of the cursor.

/** One attempt of a search. */
export type Attempt =
  | { readonly kind: "all" }
  | { readonly kind: "words" }
  | { readonly kind: "some"; readonly words: number }
  /** `at`: the index of the term with the mistake. */
  | { readonly kind: "spelling"; readonly at: number };

/** The attempts for the terms of a query. Without `relax` only one. */
export function listAttempts(terms: readonly SearchTerm[], { relax = false, atLeast }: SearchRequest): readonly Attempt[] {
  const all: Attempt = { kind: "all" };
  if (!relax && atLeast !== undefined && atLeast < terms.length) return [{ kind: "some", words: Math.max(1, Math.ceil(atLeast)) }];
  if (!relax) return [all];
  const some = (from: number, to: number): readonly Attempt[] =>
    Array.from({ length: Math.max(0, from - to + 1) }, (_, at) => ({ kind: "some", words: from - at }));
  const half = Math.floor(terms.length / 2);
  const words: readonly Attempt[] = terms.some((term) => toPlain(term) !== term) ? [{ kind: "words" }] : [];
  const spelling = terms.map(toPlain).flatMap((term, at): readonly Attempt[] => (canBeMisspelt(term) ? [{ kind: "spelling", at }] : []));
  return [all, ...words, ...some(terms.length - 1, half + 1), ...spelling, ...some(Math.min(half, terms.length - 1), 1)];
}

/** Returns the terms that an entry must contain in an attempt. `allowMistake` extends a term by the words of the store with one mistake. */
export function toMatching(terms: readonly SearchTerm[], attempt: Attempt, allowMistake: (term: WordsTerm) => WordsTerm): Matching {
  if (attempt.kind === "all") return matchAll(terms);
  const plain = terms.map(toPlain);
  if (attempt.kind === "words") return matchAll(plain);
  if (attempt.kind === "some") return { terms: plain, atLeast: attempt.words };
  return matchAll(plain.map((term, at) => (at === attempt.at && term.kind === "words" ? allowMistake(term) : term)));
}

/** The words of a hit that are named at most. */
const NAMED = 5;

/** Returns the value of `SearchPage.matched` for the hits of an attempt. */
function toSearchMatch(attempt: Attempt, { terms }: Matching, hits: readonly SearchHit[]): SearchMatch {
  if (attempt.kind === "all" || attempt.kind === "words") return attempt;
  if (attempt.kind === "some") return { kind: "some", words: attempt.words, of: terms.length };
  const term = terms[attempt.at];
  if (term?.kind !== "words") return { kind: "all" };
  const typed = foldText(term.words);
  // Only words of the hits: the index has those of private entries too.
  const found = new Set<string>();
  for (const { snippet } of hits) {
    for (const [word] of foldText(snippet).matchAll(new RegExp(termPattern(term), "gu"))) found.add(word);
  }
  found.delete(typed);
  return { kind: "spelling", typed: term.words, found: [...found].slice(0, NAMED) };
}

/** The request of an attempt: the words with a mistake are read in the snippets. */
export function snippetsFor(request: SearchRequest, attempt: Attempt): SearchRequest {
  return attempt.kind === "spelling" ? { ...request, snippets: true } : request;
}

/** A page of hits without the fields that `finishPage` adds. */
export type UnmatchedPage = Omit<SearchPage, "matched" | "unclosedQuote">;

/** The page of the attempt that found something, or of the last one. */
export function finishPage({ query, snippets }: SearchRequest, page: UnmatchedPage, attempt: Attempt, matching: Matching): SearchPage {
  const matched: SearchMatch = page.total === 0 ? { kind: "all" } : toSearchMatch(attempt, matching, page.hits);
  // Of a spelling mistake, the snippets were read for the words.
  const isBare = snippets === false && matched.kind === "spelling";
  const hits = isBare ? page.hits.map((hit) => ({ ...hit, snippet: "", matches: [] })) : page.hits;
  return { ...page, hits, matched, unclosedQuote: readQuery(query).unclosed };
}
