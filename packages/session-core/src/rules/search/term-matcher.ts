import { ACCENTS, foldText, isAscii, WORD_CHARACTERS } from "./fold.js";
import { stemTest } from "./question.js";
import { compileExpression, limitFor, runLimited } from "./regular-expression.js";
import type { LiteralTerm, SearchTerm, StemTerm, WordsTerm } from "./search-terms.js";
import { shortestStarts } from "./stems.js";
import { anywherePattern, asciiPattern, startsOfForms, termPattern, tokensOf } from "./term-pattern.js";

/** The closeness of a match: 0: whole words; 1: a word starts with it; 2: it is another part of a word. */
export type Fit = 0 | 1 | 2;

/** A place where a term occurs, in UTF-16 code units. */
export interface TermMatch {
  readonly start: number;
  readonly end: number;
  readonly fit: Fit;
}

/** Finds one term in texts. */
export interface TermMatcher {
  /** Calls `visit` for each place, in order, until it returns false. */
  readonly visit: (text: FoldedText, visit: (match: TermMatch) => boolean) => void;
}

/** A text, and the same in lower case and without accents; positions are the same in both. */
export class FoldedText {
  readonly original: string;
  #folded: string | undefined;
  #isAscii: boolean | undefined;

  constructor(original: string) {
    this.original = original;
  }

  get isAscii(): boolean {
    this.#isAscii ??= isAscii(this.original);
    return this.#isAscii;
  }

  get folded(): string {
    this.#folded ??= this.isAscii ? this.original.toLowerCase() : foldText(this.original);
    return this.#folded;
  }
}

/**
 * Creates the matcher of a term. It finds the same matches as the index, and the closeness of each. In a text with a run of some millions
 * of characters, the pattern of a phrase and an expression of a query can exceed the stack of V8: then it does not find later matches.
 */
export function createMatcher(term: SearchTerm): TermMatcher {
  const { visit } = toMatcher(term);
  return {
    visit: (text, visitMatch) => {
      try {
        visit(text, visitMatch);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    },
  };
}

function toMatcher(term: SearchTerm): TermMatcher {
  if (term.kind === "expression") return matchExpression(term.words, term.ignoreCase);
  if (term.kind === "literal") return matchAnywhere(term, 2);
  if (term.kind === "stem") return matchForms(term);
  if (term.misspelt !== undefined || term.reach === "whole") return matchWords(term);
  return matchAnywhere(term, term.reach === "start" ? 1 : 2);
}

function matchWords(term: WordsTerm): TermMatcher {
  const [unicode, ascii] = [new RegExp(termPattern(term), "gu"), new RegExp(asciiPattern(term), "g")];
  return {
    visit: (text, visit) => {
      for (const { index, 0: found } of text.folded.matchAll(text.isAscii ? ascii : unicode)) {
        if (!visit({ start: index, end: index + found.length, fit: 0 })) return;
      }
    },
  };
}

const WORD_IN_TEXT = new RegExp(`[${WORD_CHARACTERS}](?:[${ACCENTS}]*[${WORD_CHARACTERS}])*`, "gu");
const ASCII_WORD_IN_TEXT = /[a-z0-9]+/g;

function matchForms(term: StemTerm): TermMatcher {
  const isForm = stemTest(term);
  const ascii = term.isMisspelt ? ASCII_WORD_IN_TEXT : asciiForms(term);
  return {
    visit: (text, visit) => {
      for (const { index, 0: found } of text.folded.matchAll(text.isAscii ? ascii : WORD_IN_TEXT)) {
        const [word = ""] = isAscii(found) ? [found] : tokensOf(found);
        if (isForm(word) && !visit({ start: index, end: index + found.length, fit: 0 })) return;
      }
    },
  };
}

/** Finds the words with a start of the forms: several times faster than a test of each word. */
function asciiForms(term: StemTerm): RegExp {
  const starts = shortestStarts([...tokensOf(term.words), ...startsOfForms(term)]);
  return new RegExp(`(?<![a-z0-9])(?:${starts.join("|")})[a-z0-9]*`, "g");
}

/** `most`: places with a larger fit do not count. */
function matchAnywhere(term: WordsTerm | LiteralTerm, most: Fit): TermMatcher {
  const pattern = new RegExp(anywherePattern(term.words), "gu");
  const needle = plainNeedle(term);
  const findAll = (text: FoldedText) =>
    text.isAscii && needle !== null ? findPlain(text.folded, needle) : findPattern(text.folded, pattern);
  return {
    visit: (text, visit) => {
      for (const match of findAll(text)) if (match.fit <= most && !visit(match)) return;
    },
  };
}

function* findPattern(folded: string, pattern: RegExp): Iterable<TermMatch> {
  for (const { index, 0: found, groups } of folded.matchAll(pattern)) {
    yield { start: index, end: index + found.length, fit: toFit(groups?.start !== undefined, groups?.end !== undefined) };
  }
}

/** The text to look for in ASCII; null: a pattern is needed. */
function plainNeedle({ kind, words }: WordsTerm | LiteralTerm): string | null {
  if (kind === "words") return tokensOf(words).join("");
  return isAscii(words) && !/\s/.test(words) ? words.toLowerCase() : null;
}

/** Several times faster than a pattern. */
function* findPlain(folded: string, needle: string): Iterable<TermMatch> {
  for (let start = folded.indexOf(needle); start !== -1; start = folded.indexOf(needle, start + needle.length)) {
    const end = start + needle.length;
    const isStart = !isWord(folded, start) || !isWord(folded, start - 1);
    yield { start, end, fit: toFit(isStart, !isWord(folded, end - 1) || !isWord(folded, end)) };
  }
}

function toFit(isStart: boolean, isEnd: boolean): Fit {
  if (!isStart) return 2;
  return isEnd ? 0 : 1;
}

/** True if the text has an ASCII letter in lower case or a digit at this index. */
function isWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** The most places of an expression in one text. */
const MOST_PLACES = 10_000;

function matchExpression(source: string, ignoreCase: boolean): TermMatcher {
  const expression = compileExpression(source, ignoreCase);
  return {
    visit: (text, visit) => {
      const find = () => findExpression(text.original, expression);
      for (const match of runLimited(limitFor(text.original.length), find) ?? []) if (!visit(match)) return;
    },
  };
}

/** The places of an expression that are not empty. */
function findExpression(text: string, expression: RegExp): readonly TermMatch[] {
  const found: TermMatch[] = [];
  for (const { index, 0: match } of text.matchAll(expression)) {
    if (match !== "") found.push({ start: index, end: index + match.length, fit: 0 });
    if (found.length >= MOST_PLACES) break;
  }
  return found;
}
