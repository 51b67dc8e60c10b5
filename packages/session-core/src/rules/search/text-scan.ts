import type { EntryType } from "../../entry/entry.js";
import { SlowExpressionError } from "../../errors/session-errors.js";
import type { SearchRequest } from "../../port/search.js";
import type { Matching } from "./matching.js";
import { parsePayload, textToSearch } from "./payload-text.js";
import { limitFor, runLimited } from "./regular-expression.js";
import { hasExpression } from "./search-terms.js";
import { createCounter, type TermCounts } from "./term-counter.js";
import { FoldedText } from "./term-matcher.js";
import { createPrefilter } from "./term-pattern.js";

/** A matching entry and the values that determine its rank. `E`: the members that identify the entry. */
export type TextHit<E> = E & TermCounts & { /** The length of the text, in words. */ readonly words: number };

/** The words that a scan looks for, and the facts that it notes of a text that has them. */
export interface TextProbe<T> {
  /** False only if the searchable text of a payload with this JSON text cannot have it. */
  readonly canMatch: (json: string) => boolean;
  /** undefined: the text does not have it. */
  readonly read: (text: FoldedText) => T | undefined;
}

/** The probe of the terms of a search. */
export function probeOf(matching: Matching): TextProbe<TermCounts & { readonly words: number }> {
  const count = createCounter(matching);
  return {
    canMatch: matching.terms.length === 0 ? () => true : createPrefilter(matching),
    read: (text) => {
      const counts = count(text);
      return counts && { ...counts, words: countWords(text.original) };
    },
  };
}

/** An entry to be scanned. */
export interface ScannedPayload<E> {
  readonly entry: E;
  readonly type: EntryType;
  /** The JSON text of its payload. */
  readonly json: string;
}

const PAGE_BYTES = 4 * 1024 * 1024;

/** A scan of payloads for a search. It parses those that can match. */
export class TextScan<E extends object, T extends object> {
  readonly hits: (E & T)[] = [];
  /** About how many bytes of payloads a page may have. */
  readonly pageBytes: number;
  readonly #request: SearchRequest;
  readonly #probe: TextProbe<T>;

  constructor(probe: TextProbe<T>, request: SearchRequest) {
    this.#request = request;
    this.#probe = probe;
    // Expressions are slower than other terms, and no other work can be done until a page is complete.
    this.pageBytes = hasExpression(request.query) ? PAGE_BYTES / 8 : PAGE_BYTES;
  }

  /** Scans a page of payloads. @throws {SlowExpressionError} */
  scan(payloads: Iterable<ScannedPayload<E>>): void {
    const texts: { readonly entry: E; readonly text: string }[] = [];
    for (const one of payloads) {
      const text = this.#readText(one);
      if (text !== undefined) texts.push({ entry: one.entry, text });
    }
    const characters = texts.reduce((sum, { text }) => sum + text.length, 0);
    matchLimited(this.#request.query, characters, () => {
      for (const { entry, text } of texts) {
        const found = this.#probe.read(new FoldedText(text));
        if (found !== undefined) this.hits.push({ ...entry, ...found });
      }
    });
  }

  /** The text of an entry, if it can match. */
  #readText({ type, json }: ScannedPayload<E>): string | undefined {
    const payload = this.#probe.canMatch(json) ? parsePayload(type, json) : undefined;
    return payload === undefined ? undefined : textToSearch(payload, this.#request);
  }
}

/**
 * Runs a function that matches a query on texts of this length together. If the query has an expression, they have the time of one text of this
 * length: with a limit for each, thousands of titles could block the thread for minutes.
 *
 * @throws {SlowExpressionError}
 */
export function matchLimited<T>(query: string, characters: number, work: () => T): T {
  if (!hasExpression(query)) return work();
  const limitMs = limitFor(characters);
  const done = runLimited(limitMs, () => ({ result: work() }));
  if (done === undefined) throw new SlowExpressionError(query, limitMs);
  return done.result;
}

const CJK = 0x2e80;

/** Returns the length of a text in words, as FTS5 counts them; an estimate where the text is not ASCII. */
function countWords(text: string): number {
  let words = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isWord = code >= 0x80 ? code < CJK : isAsciiWord(code);
    if (code >= CJK || (isWord && !isInWord)) words += 1;
    isInWord = isWord;
  }
  return words;
}

function isAsciiWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}
