import { oneLine } from "../text/one-line.js";
import { foldText } from "./fold.js";
import type { SearchTerm } from "./search-query.js";
import { termPattern } from "./term-pattern.js";

/** The text around the first match, and the positions of the matches in it, in UTF-16 code units. */
export interface Snippet {
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The length before and after the start of the first match, in UTF-16 code units. */
const BEFORE = 60;
const AFTER = 100;

/** Returns the text around the first match of any term; the start of the text if there is none. */
export function createSnippet(text: string, terms: readonly SearchTerm[]): Snippet {
  const pattern = patternOf(terms);
  const first = foldText(text).search(pattern);
  const start = first === -1 ? 0 : wordStart(text, Math.max(0, first - BEFORE));
  const piece = oneLine(text.slice(start, start + BEFORE + AFTER).toWellFormed());
  const snippet = start > 0 ? `…${piece}` : piece;
  return { snippet, matches: matchesIn(snippet, pattern) };
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + 20).search(/\s/);
  return space === -1 ? at : at + space + 1;
}

function matchesIn(snippet: string, pattern: RegExp): readonly (readonly [number, number])[] {
  const global = new RegExp(pattern.source, "gu");
  return [...foldText(snippet).matchAll(global)].map((match) => [match.index, match.index + match[0].length] as const);
}

/** Returns a pattern for folded text that matches any of the terms; nothing if there are none. */
function patternOf(terms: readonly SearchTerm[]): RegExp {
  return new RegExp(terms.length === 0 ? "(?!)" : terms.map(termPattern).join("|"), "u");
}
