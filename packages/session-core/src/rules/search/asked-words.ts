import type { AskedTerm } from "./question.js";
import { mistakesOf } from "./spelling.js";

// Which words of a question are read in an index, and which of them stand for others because no entry has them. Of a word that may be a
// mistake, the words that differ from it in one letter are looked up beside the others, as a column of their own behind those of the
// question. So one search is enough: which of both columns counts is decided when all entries have been read.

/** The most entries whose words are read, counted again for each word. */
export const MOST_READ = 10_000;

/** The numbers of the words that are read, from the number of entries with each: at least one, and the rarest that there is room for. */
export function chooseRead(counts: readonly number[]): ReadonlySet<number> {
  const chosen = new Set<number>();
  let read = 0;
  for (const [at, count] of [...counts.entries()].sort(([, a], [, b]) => a - b)) {
    if (read > 0 && read + count > MOST_READ) break;
    chosen.add(at);
    read += count;
  }
  return chosen;
}

/** A word of a question as a mistake for others, which count if no entry has a form of the word itself. */
export interface Mistake {
  /** The number of the word. */
  readonly of: number;
  /** Its forms are the listed words that differ from it in one letter. */
  readonly asked: AskedTerm;
}

/** The words that may stand for some words of a question, all together. */
export function possibleMistakes(asked: readonly AskedTerm[], numbers: readonly number[]): readonly string[] {
  return numbers.flatMap((at) => mistakesOfTerm(asked[at]));
}

/** The mistakes of some words of a question; none of words that can have no mistake. `listed`: of `possibleMistakes` those that an entry may have. */
export function toMistakes(asked: readonly AskedTerm[], numbers: readonly number[], listed: readonly string[]): readonly Mistake[] {
  const known = new Set(listed);
  return numbers.flatMap((of) => {
    const term = asked[of]?.term;
    const possible = mistakesOfTerm(asked[of]);
    if (term?.kind !== "stem" || possible.length === 0) return [];
    return [{ of, asked: { term: { ...term, isMisspelt: true }, forms: possible.filter((word) => known.has(word)).sort() } }];
  });
}

function mistakesOfTerm(one: AskedTerm | undefined): readonly string[] {
  return one?.term.kind === "stem" ? [...mistakesOf(one.term)] : [];
}

/** The words of a question, as they count. */
export interface CorrectedWords {
  readonly asked: readonly AskedTerm[];
  /** The number of entries of the store that have each. */
  readonly having: readonly number[];
  /** The column of each, in the columns of all words and mistakes. */
  readonly columns: readonly number[];
}

/**
 * Decides which words of a question stand for others. `having`: the number of entries with each word, and with each mistake; `isFound`: an
 * entry that is searched has the word, or the mistake.
 */
export function correctWords(
  asked: readonly AskedTerm[],
  mistakes: readonly Mistake[],
  having: readonly number[],
  isFound: (column: number) => boolean,
): CorrectedWords {
  const used = new Map<number, number>();
  for (const [at, { of }] of mistakes.entries()) {
    const column = asked.length + at;
    if (!isFound(of) && isFound(column)) used.set(of, column);
  }
  const corrected = asked.map((one, at): AskedTerm => {
    const mistake = used.get(at);
    const other = mistake === undefined ? undefined : mistakes[mistake - asked.length]?.asked;
    // Its own forms stay: a title may have them.
    return other === undefined ? one : { term: other.term, forms: [...new Set([...one.forms, ...other.forms])].sort() };
  });
  const columns = asked.map((_, at) => used.get(at) ?? at);
  return {
    asked: corrected,
    having: columns.map((column, at) => (having[at] ?? 0) + (column === at ? 0 : (having[column] ?? 0))),
    columns,
  };
}
