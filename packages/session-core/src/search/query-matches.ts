import type { SearchMatch } from "../port/session-storage.js";
import { foldText } from "./fold.js";
import { listTerms } from "./search-query.js";
import { termPattern } from "./term-pattern.js";

/** A place where a term of a query occurs in a text, in UTF-16 code units. */
export interface QueryMatch {
  readonly start: number;
  readonly end: number;
  /** The index of the term in the query. */
  readonly term: number;
}

/** Finds the terms of a query in texts, as a search does. */
export interface QueryFinder {
  /** How many terms the query has. */
  readonly terms: number;
  /** The places of the terms, in order; of each term at most the first `most`. */
  readonly find: (text: string, most: number) => readonly QueryMatch[];
}

/** `matched`: what the page of the search says; words with a spelling mistake are found too. */
export function createQueryFinder(query: string, matched: SearchMatch): QueryFinder {
  const terms = listTerms(query);
  const patterns = terms.map((term) => {
    const isMisspelt = matched.kind === "spelling" && matched.typed === term.words;
    return new RegExp(termPattern(isMisspelt ? { ...term, misspelt: { inIndex: [] } } : term), "gu");
  });
  const find = (text: string, most: number) => {
    const folded = foldText(text);
    const found = patterns.flatMap((pattern, term) => findTerm(folded, pattern, term, most));
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  };
  return { terms: terms.length, find };
}

function findTerm(text: string, pattern: RegExp, term: number, most: number): readonly QueryMatch[] {
  const found: QueryMatch[] = [];
  for (const match of text.matchAll(pattern)) {
    if (found.length >= most) break;
    found.push({ start: match.index, end: match.index + match[0].length, term });
  }
  return found;
}
