import type { EntrySeq } from "../../ids/ids.js";
import type { SearchRequest } from "../../port/search.js";
import { indexedWords, toIndexedText } from "./fold.js";
import { type Matching, needsAll, showsCopies } from "./matching.js";
import type { AskedTerm } from "./question.js";
import { createReader, type QuestionPlaces } from "./question-probe.js";
import { CLOSE } from "./rank-question.js";
import { createCounter } from "./term-counter.js";
import { type Fit, FoldedText } from "./term-matcher.js";
import { matchLimited } from "./text-scan.js";

// The labels that a search finds. A label counts as a title does: a person wrote it. It has no index: a store has few labels, and all that the
// other conditions allow are read.

/** An entry with a label. */
export interface LabelRow {
  readonly label: string;
  readonly session_id: string;
  readonly seq: EntrySeq;
  readonly created_at_ms: number;
  /** The entry that this one is a copy of: the same for all copies, and for the original. */
  readonly origin: string;
}

/** True if labels can match: a label is in no call of a tool, neither in prose nor in code, and has only few words. */
export function includesLabels({ places, tool }: SearchRequest, matching: Matching): boolean {
  return places === undefined && tool === undefined && matching.terms.length > 0 && needsAll(matching);
}

/**
 * Returns the entries whose labels match: those with whole words first, then the newest; of an entry that several sessions have the first one,
 * unless the request shows copies. `rows`: originals before copies, in the order in which these came into the store.
 *
 * @throws {SlowExpressionError}
 */
export function matchLabels<R extends LabelRow>(rows: readonly R[], matching: Matching, request: SearchRequest): readonly R[] {
  const count = createCounter(matching);
  const firsts = new Map<string, { readonly row: R; readonly fit: Fit }>();
  const characters = rows.reduce((sum, { label }) => sum + label.length, 0);
  matchLimited(request.query, characters, () => {
    for (const row of rows) {
      const key = showsCopies(request) ? `${row.seq} ${row.session_id}` : row.origin;
      const counts = firsts.has(key) ? undefined : count(new FoldedText(row.label));
      if (counts !== undefined) firsts.set(key, { row, fit: counts.fit });
    }
  });
  return [...firsts.values()].sort((a, b) => a.fit - b.fit || byAge(a.row, b.row)).map(({ row }) => row);
}

/** Compares the newest first; in one session by number. */
function byAge(a: LabelRow, b: LabelRow): number {
  if (a.created_at_ms !== b.created_at_ms) return b.created_at_ms - a.created_at_ms;
  if (a.session_id === b.session_id) return b.seq - a.seq;
  return a.session_id < b.session_id ? 1 : -1;
}

/** A label with words of a question, and their places in it. */
export interface AskedLabel extends Pick<QuestionPlaces, "places"> {
  readonly row: LabelRow;
}

/** The labels that have words of a question. */
export function findInLabels(rows: readonly LabelRow[], asked: readonly AskedTerm[]): readonly AskedLabel[] {
  const read = createReader(asked);
  return rows.flatMap((row) => {
    const found = read(indexedWords(toIndexedText(row.label)));
    return found === undefined ? [] : [{ row, places: found.places }];
  });
}

/**
 * The places of the words of a question in an entry and in its label, which counts as the last line of its text. `words`: the length of
 * the text.
 */
export function placesWithLabel(places: AskedLabel["places"], words: number, label: AskedLabel["places"] = []): AskedLabel["places"] {
  return places.map((own, term) => {
    const inLabel = label[term] ?? [];
    if (inLabel[0] === -1) return own.length > 0 ? own : inLabel;
    return [...own, ...inLabel.map((place) => words + CLOSE + 1 + place)];
  });
}

/** The text of an entry as a hit shows it whose label has words of the query. */
export function labelledText(label: string | undefined, text: string): string {
  return label === undefined ? text : `[${label}] ${text}`;
}
