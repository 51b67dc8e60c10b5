import { InvalidQueryError } from "../../errors/session-errors.js";
import { shorten } from "../../text/one-line.js";
import { ACCENTS, foldText, isUnspaced, WORD_CHARACTERS } from "./fold.js";
import { checkExpression } from "./regular-expression.js";
import type { Language } from "./stems.js";

/** Words, in order, with any separators between them. */
export interface WordsTerm {
  readonly kind: "words";
  readonly words: string;
  /** The last word is a prefix. */
  readonly prefix: boolean;
  /** The required closeness of a match: `whole` words only, also the `start` of a word, or also any `part` of it. */
  readonly reach: "whole" | "start" | "part";
  /** Also words with one mistake match. `inIndex`: those of them that the index contains. */
  readonly misspelt?: { readonly inIndex: readonly string[] } | undefined;
}

/** A text that must occur as it was typed, in any case; white space in it matches any white space. */
export interface LiteralTerm {
  readonly kind: "literal";
  readonly words: string;
}

/** A regular expression of JavaScript, in which `^` and `$` match at every line break. */
export interface ExpressionTerm {
  readonly kind: "expression";
  /** The source, without slashes. */
  readonly words: string;
  readonly ignoreCase: boolean;
}

/** One word of a question: matches the whole words with one of its stems. */
export interface StemTerm {
  readonly kind: "stem";
  /** As it was typed. */
  readonly words: string;
  /** In the order of `stems`. */
  readonly languages: readonly Language[];
  readonly stems: readonly string[];
  /** No entry has a form of the word; words with one mistake match. */
  readonly isMisspelt: boolean;
}

/** One part of a search. */
export type SearchTerm = WordsTerm | LiteralTerm | ExpressionTerm | StemTerm;

/** The terms of a query, and its interpretation where that is not obvious. */
export interface ParsedQuery {
  /** Each once; none if there is nothing to look for. */
  readonly terms: readonly SearchTerm[];
  /** The phrase of a quotation mark that is not closed; null: all are. */
  readonly unclosed: string | null;
}

/** The longest query. The time of FTS5 grows with the square of the length. */
const MOST_CHARACTERS = 2000;

/** A query of more words is a question rather than a name: its words match whole words only. */
const MOST_PARTS = 3;

const EXPRESSION = /^\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/(i?)(?=\s|$)/;
/** An expression with a `[` that nothing closes. */
const OPEN_CLASS = /^\/((?:[^/\\\n]|\\.)+)\/(i?)(?=\s|$)/;
const PHRASE = /^"([^"]*)"(\*?)/;
const UNCLOSED = /^"([^"]+)$/;
const BARE = /^\S+/;
const WORD = new RegExp(`[${WORD_CHARACTERS}]`, "u");
const ONLY_WORDS = new RegExp(`^[${WORD_CHARACTERS}${ACCENTS}\\s]+$`, "u");
/** The end of a sentence or of a part of it, which belongs to no name. */
const PUNCTUATION = new RegExp(`(?<=[${WORD_CHARACTERS}])[,.;:?!]$`, "u");
const STAR = new RegExp(`(?<=[${WORD_CHARACTERS}])\\*$`, "u");

/**
 * Parses a query: words, `"phrases"`, `prefix*`, `/expressions/`; a word with other characters than letters and digits is literal. No
 * text is a syntax error, except for an expression that JavaScript rejects.
 *
 * @throws {InvalidQueryError} there is nothing to look for, it is longer than 2,000 characters, or an expression is invalid.
 */
export function parseQuery(typed: string): readonly SearchTerm[] {
  const { terms } = readQuery(typed);
  if (terms.length === 0) throw new InvalidQueryError(typed, "it has nothing to look for");
  return terms;
}

/** Like `parseQuery`, also for a query that has nothing to look for. @throws {InvalidQueryError} */
export function readQuery(typed: string): ParsedQuery {
  if (typed.length > MOST_CHARACTERS) throw new InvalidQueryError(shorten(typed, 61), `it is longer than ${MOST_CHARACTERS} characters`);
  const terms: SearchTerm[] = [];
  let unclosed: string | null = null;
  for (let rest = typed.trimStart(); rest !== ""; ) {
    const part = readPart(rest);
    if (part.term !== null) terms.push(part.term);
    unclosed ??= part.isUnclosed ? part.text.slice(1) : null;
    rest = rest.slice(part.text.length).trimStart();
  }
  const different = [...new Map(terms.map((one) => [JSON.stringify(one), one])).values()];
  return { terms: different.length > MOST_PARTS ? different.map(toWhole) : different, unclosed };
}

/** True if a query has a regular expression. @throws {InvalidQueryError} */
export function hasExpression(typed: string): boolean {
  return readQuery(typed).terms.some(({ kind }) => kind === "expression");
}

interface Part {
  readonly text: string;
  readonly term: SearchTerm | null;
  readonly isUnclosed?: boolean;
}

function readPart(rest: string): Part {
  const [expression, source, flag] = EXPRESSION.exec(rest) ?? OPEN_CLASS.exec(rest) ?? [];
  if (expression !== undefined && source !== undefined) return { text: expression, term: toExpression(source, flag === "i") };
  const [phrase, quoted = "", star] = PHRASE.exec(rest) ?? [];
  if (phrase !== undefined) return { text: phrase, term: toPhrase(quoted, star === "*") };
  const [toEnd, open = ""] = UNCLOSED.exec(rest) ?? [];
  // Whoever types has not typed the rest of the last word.
  if (toEnd !== undefined) return { text: toEnd, term: toPhrase(open, true), isUnclosed: true };
  const [bare = ""] = BARE.exec(rest) ?? [];
  return { text: bare, term: toTerm(bare) };
}

function toExpression(words: string, ignoreCase: boolean): SearchTerm {
  checkExpression(words, ignoreCase);
  return { kind: "expression", words, ignoreCase };
}

function toPhrase(quoted: string, prefix: boolean): SearchTerm | null {
  if (quoted.trim() === "") return null;
  const isPlain = ONLY_WORDS.test(foldText(quoted)) && WORD.test(foldText(quoted));
  return isPlain ? { kind: "words", words: quoted, prefix, reach: "whole" } : { kind: "literal", words: quoted.trim() };
}

function toTerm(bare: string): SearchTerm | null {
  const prefix = STAR.test(bare);
  const words = (prefix ? bare.slice(0, -1) : bare).replace(PUNCTUATION, "").replace(/^\.\/(?=.)/, "");
  if (words === "*" || words === '""') return null;
  const folded = foldText(words);
  // A letter that FTS5 does not know as one separates words: it is folded to a space.
  if (!ONLY_WORDS.test(folded) || !WORD.test(folded) || folded.includes(" ")) return { kind: "literal", words };
  return { kind: "words", words, prefix, reach: prefix ? "whole" : reachOf(folded) };
}

/** A part of one letter is nearly everywhere; of two letters, only starts are looked for. */
function reachOf(folded: string): WordsTerm["reach"] {
  const letters = [...folded.replace(new RegExp(`[${ACCENTS}]`, "gu"), "")];
  // Each character of a script without spaces is a word.
  if (letters.some(isUnspaced)) return "whole";
  return letters.length > 2 ? "part" : letters.length === 2 ? "start" : "whole";
}

/** The same, matching whole words only. */
function toWhole(term: SearchTerm): SearchTerm {
  return term.kind === "words" ? { ...term, reach: "whole" } : term;
}

const TELLING_WORD = new RegExp(`[${WORD_CHARACTERS}]{3}`, "u");

/**
 * The words of a literal term in order, with anything but letters and digits between them; the term itself if it is another one or has no
 * word of three letters: `C++` is not `c`.
 */
export function toPlain(term: SearchTerm): SearchTerm {
  if (term.kind !== "literal" || !TELLING_WORD.test(foldText(term.words))) return term;
  return { kind: "words", words: term.words, prefix: false, reach: "whole" };
}
