import { oneLine } from "../text/one-line.js";
import { isUnspaced } from "./search-index.js";
import type { SearchTerm } from "./search-query.js";

/** The text around the first match, and the positions of the matches in it, in UTF-16 code units. */
interface Snippet {
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The length before and after the start of the first match, in UTF-16 code units. */
const BEFORE = 60;
const AFTER = 100;

const SEPARATOR = "[^\\p{L}\\p{N}\\p{Co}]";

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

/**
 * Returns a pattern for folded text that matches as the index does: whole words in order, with any separators between them.
 * Characters of scripts without spaces are words and need no separator.
 */
function patternOf(terms: readonly SearchTerm[]): RegExp {
  return new RegExp(terms.map(termPattern).join("|"), "u");
}

/** Returns the source of the pattern of one term. */
export function termPattern({ words, prefix }: SearchTerm): string {
  const tokens = [...foldText(words.toWellFormed()).matchAll(/[\p{L}\p{N}\p{Co}]+/gu)].flatMap(([run]) => split(run));
  const start = isUnspaced(tokens[0]?.[0] ?? "") ? "" : "(?<![\\p{L}\\p{N}\\p{Co}])";
  const end = prefix || isUnspaced(tokens.at(-1) ?? "") ? "" : "(?![\\p{L}\\p{N}\\p{Co}])";
  const body = tokens.map((token, at) => `${at === 0 ? "" : `${SEPARATOR}${touches(tokens[at - 1] ?? "", token) ? "*" : "+"}`}${token}`);
  return `${start}${body.join("")}${end}`;
}

function split(run: string): readonly string[] {
  const tokens: string[] = [];
  for (const character of run) {
    const last = tokens.at(-1);
    if (last === undefined || isUnspaced(character) || isUnspaced(last)) tokens.push(character);
    else tokens[tokens.length - 1] = last + character;
  }
  return tokens;
}

function touches(before: string, after: string): boolean {
  return isUnspaced(before) || isUnspaced(after);
}

/** Folds text as the index does: lower case without accents. Keeps the position of every code unit. */
export function foldText(text: string): string {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.replace(/[^\0-\x7f]/gu, (character) => {
    const folded = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    return folded.length === character.length
      ? folded
      : character.toLowerCase().length === character.length
        ? character.toLowerCase()
        : character;
  });
}
