import { oneLine } from "../text/one-line.js";
import { isUnspaced } from "./search-index.js";
import type { SearchTerm } from "./search-query.js";

/** A piece of a text around its first match, and where the matches are in it, in UTF-16 code units. */
export interface Snippet {
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** Shown before and after the first match, in UTF-16 code units. */
const BEFORE = 60;
const AFTER = 100;

const SEPARATOR = "[^\\p{L}\\p{N}\\p{Co}]";

/** The surroundings of the first place where one of `terms` stands in `text`; the head of the text where none does. */
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
 * What a term matches in a folded text, by the rules of the index: whole words in a row, whatever stands between them.
 * Characters of scripts without spaces are words of their own and may touch each other.
 */
export function patternOf(terms: readonly SearchTerm[]): RegExp {
  return new RegExp(terms.map(termPattern).join("|"), "u");
}

/** The pattern of one term, for `patternOf` and for scans. */
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

/** Text as the index compares it: lower case without accents; every code unit stays at its place. */
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
