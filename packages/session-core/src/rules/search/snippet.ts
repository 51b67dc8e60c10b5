import { oneLine, shortenAtWord } from "../../text/one-line.js";
import type { SearchTerm } from "./search-terms.js";
import { createMatcher, FoldedText, type TermMatch, type TermMatcher } from "./term-matcher.js";

/** The text around the best match, and the positions of the matches in it, in UTF-16 code units. */
export interface Snippet {
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The length before the start of the match, and of the whole snippet, in UTF-16 code units. */
const BEFORE = 60;
const LENGTH = 160;
/** The length of the text that is read for a snippet. It exceeds `LENGTH` because runs of white space become one space. */
const READ = 1000;

/**
 * Creates snippets for the terms of a search: the text around the first match of whole words, else of a part; the start of the text if there
 * is none. Cut between words; `…` marks where.
 */
export function createSnippetWriter(terms: readonly SearchTerm[]): (text: string) => Snippet {
  const matchers = terms.map((term) => ({ term, matcher: createMatcher(term) }));
  return (text) => {
    const folded = new FoldedText(text);
    const best = matchers.map(({ matcher }) => findBest(matcher, folded)).reduce(closer, undefined);
    const start = best === undefined ? 0 : findStart(text, best.start);
    const piece = shortenAtWord(oneLine(text.slice(start, start + READ).toWellFormed(), READ), LENGTH);
    const snippet = start > 0 ? `…${piece}` : piece;
    const found = matchers.flatMap(({ term, matcher }) =>
      term.kind === "expression" ? findSame(snippet, text, best, matcher) : findIn(snippet, matcher),
    );
    return { snippet, matches: mergeRanges(found) };
  };
}

type Range = readonly [start: number, end: number];

/** The first match with the smallest fit. */
function findBest(matcher: TermMatcher, text: FoldedText): TermMatch | undefined {
  let best: TermMatch | undefined;
  matcher.visit(text, (match) => {
    best = closer(best, match);
    return best?.fit !== 0;
  });
  return best;
}

function closer(best: TermMatch | undefined, match: TermMatch | undefined): TermMatch | undefined {
  if (best === undefined || match === undefined) return best ?? match;
  return match.fit < best.fit || (match.fit === best.fit && match.start < best.start) ? match : best;
}

/** Where a snippet starts: at a word before the match. */
function findStart(text: string, match: number): number {
  const at = Math.max(0, match - BEFORE);
  if (at === 0) return 0;
  const space = text.slice(at, match).search(/\s/);
  return space === -1 ? at : at + space + 1;
}

function findIn(snippet: string, matcher: TermMatcher): readonly Range[] {
  const found: Range[] = [];
  matcher.visit(new FoldedText(snippet), ({ start, end }) => found.push([start, end]) > 0);
  return found;
}

/** An expression can match line breaks and what is before the snippet, so its first match is looked up as a text. */
function findSame(snippet: string, text: string, best: TermMatch | undefined, matcher: TermMatcher): readonly Range[] {
  const found = findIn(snippet, matcher);
  if (found.length > 0 || best === undefined) return found;
  const matched = oneLine(text.slice(best.start, best.end).toWellFormed(), READ);
  const start = matched === "" ? -1 : snippet.indexOf(matched);
  return start === -1 ? [] : [[start, start + matched.length]];
}

/** In order and apart: those that overlap become one. */
function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: [number, number][] = [];
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}
