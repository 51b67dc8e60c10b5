import type { SearchMatch } from "../../port/search.js";
import { readQuestion } from "./question.js";
import { readQuery, type SearchTerm, toPlain } from "./search-terms.js";
import { createMatcher, FoldedText, type TermMatcher } from "./term-matcher.js";

/** A place where a term of a query occurs in a text, in UTF-16 code units. */
export interface QueryMatch {
  readonly start: number;
  readonly end: number;
  /** The index of the term in the query. */
  readonly term: number;
}

/** Finds the terms of a query in texts, as a search does. */
export interface QueryFinder {
  /** The number of terms of the query. */
  readonly terms: number;
  /**
   * The places of the terms, in order; of each term at most the first `most`. They may overlap. A `FoldedText` is folded once for any number
   * of finders.
   */
  readonly find: (text: string | FoldedText, most: number) => readonly QueryMatch[];
}

/**
 * Creates a finder of words and their parts, phrases, literal texts and expressions. `matched`: the `matched` of the page of
 * the search; words with a spelling mistake are found too. An expression that takes longer than 0.25 s for a text finds nothing in it.
 *
 * @throws {InvalidQueryError} as a search.
 * @example
 * createQueryFinder("kipped", { kind: "all" }).find("src/skipped.ts", 10); // [{ start: 5, end: 11, term: 0 }]
 */
export function createQueryFinder(query: string, matched: SearchMatch): QueryFinder {
  const asked = matched.kind === "ranked" ? readQuestion(query) : null;
  const matchers = (asked ?? readQuery(query).terms).map((term) => createMatcher(asMatched(term, matched)));
  const find = (text: string | FoldedText, most: number) => {
    const folded = typeof text === "string" ? new FoldedText(text) : text;
    const found = matchers.flatMap((matcher, term) => findTerm(folded, matcher, term, most));
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  };
  return { terms: matchers.length, find };
}

/** The term as it was looked for. */
function asMatched(term: SearchTerm, matched: SearchMatch): SearchTerm {
  if (term.kind === "stem") return { ...term, isMisspelt: matched.kind === "ranked" && matched.misspelt.includes(term.words) };
  if (matched.kind === "spelling" && term.kind === "words" && matched.typed === term.words)
    return { ...term, reach: "whole", misspelt: { inIndex: [] } };
  return matched.kind === "all" ? term : toPlain(term);
}

function findTerm(text: FoldedText, matcher: TermMatcher, term: number, most: number): readonly QueryMatch[] {
  const found: QueryMatch[] = [];
  if (most <= 0) return found;
  matcher.visit(text, ({ start, end }) => found.push({ start, end, term }) < most);
  return found;
}
