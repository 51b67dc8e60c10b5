import { InvalidQueryError } from "../errors/session-errors.js";
import { searchableForm } from "./terms.js";

/** One part of a search: words in a row, the last of which may be a beginning. All parts must occur in an entry. */
export interface SearchTerm {
  readonly words: string;
  readonly prefix: boolean;
}

/** A search is what a person types. Beyond this the time that FTS5 takes for it grows with the square of its length. */
const MOST_CHARACTERS = 2000;

const PART = /"([^"]*)"(\*?)|(\S+)/g;
const WORD = /[\p{L}\p{N}\p{Co}]/u;

/**
 * The parts of a search as a person types it: words, `"phrases"`, `begin*`. Nothing else is special, so no text is a
 * syntax error; parts without a letter or digit are left out.
 *
 * @throws {InvalidQueryError} nothing is left to look for, or it is longer than 2,000 characters.
 */
export function parseQuery(typed: string): readonly SearchTerm[] {
  if (typed.length > MOST_CHARACTERS)
    throw new InvalidQueryError(`${typed.slice(0, 60)}…`, `it is longer than ${MOST_CHARACTERS} characters`);
  const terms = [...typed.matchAll(PART)].map(term).filter(({ words }) => WORD.test(words));
  if (terms.length === 0) throw new InvalidQueryError(typed, "it has no letter or digit");
  // A word that is asked for twice is looked for once.
  return [...new Map(terms.map((one) => [`${one.prefix} ${one.words}`, one])).values()];
}

function term([, phrase, star, bare]: RegExpMatchArray): SearchTerm {
  if (phrase !== undefined) return { words: phrase, prefix: star === "*" };
  const word = (bare ?? "").replaceAll('"', " ");
  return { words: word.replace(/\*$/, ""), prefix: word.endsWith("*") };
}

/** The search as FTS5 takes it: each part quoted, so that nothing in it is an operator. */
export function ftsExpression(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, prefix }) => `"${searchableForm(words).replaceAll('"', " ")}"${prefix ? " *" : ""}`).join(" AND ");
}
