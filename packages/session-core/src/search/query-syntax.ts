import { InvalidQueryError } from "../errors/entry-errors.js";
import { searchableForm } from "./terms.js";

/** One part of a search: words in a row, the last of which may be a beginning. All parts must occur in an entry. */
export interface SearchTerm {
  readonly words: string;
  readonly prefix: boolean;
}

const PART = /"([^"]*)"(\*?)|(\S+)/g;
const WORD = /[\p{L}\p{N}\p{Co}]/u;

/**
 * The parts of a search as a person types it: words, `"phrases"`, `begin*`. Nothing else is special, so no text is a
 * syntax error; parts without a letter or digit are left out.
 *
 * @throws {InvalidQueryError} nothing is left to look for.
 */
export function parseQuery(typed: string): readonly SearchTerm[] {
  const terms = [...typed.matchAll(PART)].map(term).filter(({ words }) => WORD.test(words));
  if (terms.length === 0) throw new InvalidQueryError(typed, "it has no letter or digit");
  return terms;
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
