import type { EntryType } from "../../entry/entry.js";
import { SlowExpressionError } from "../../errors/session-errors.js";
import type { SearchRequest } from "../../port/search.js";
import type { Matching } from "./matching.js";
import { parsePayload, textToSearch } from "./payload-text.js";
import { limitFor, runLimited } from "./regular-expression.js";
import { createCounter, type TermCounts } from "./term-counter.js";
import { FoldedText } from "./term-matcher.js";
import { createPrefilter } from "./term-pattern.js";

/** A matching entry and the values that determine its rank. `E`: the members that identify the entry. */
export type TextHit<E> = E & TermCounts & { /** The length of the text, in words. */ readonly words: number };

/** An entry to be scanned. */
export interface ScannedPayload<E> {
  readonly entry: E;
  readonly type: EntryType;
  /** The JSON text of its payload. */
  readonly json: string;
}

const PAGE_BYTES = 4 * 1024 * 1024;

/** A scan of payloads for a search. It parses those that can match. */
export class TextScan<E extends object> {
  readonly hits: TextHit<E>[] = [];
  /** About how many bytes of payloads a page may have. */
  readonly pageBytes: number;
  readonly #request: SearchRequest;
  readonly #canMatch: (json: string) => boolean;
  readonly #count: (text: FoldedText) => TermCounts | undefined;
  readonly #hasExpression: boolean;

  constructor(matching: Matching, request: SearchRequest) {
    this.#request = request;
    this.#canMatch = matching.terms.length === 0 ? () => true : createPrefilter(matching);
    this.#count = createCounter(matching);
    this.#hasExpression = matching.terms.some(({ kind }) => kind === "expression");
    // Expressions are slower than other terms, and no other work can be done until a page is complete.
    this.pageBytes = this.#hasExpression ? PAGE_BYTES / 8 : PAGE_BYTES;
  }

  /** Scans a page of payloads. @throws {SlowExpressionError} */
  scan(payloads: Iterable<ScannedPayload<E>>): void {
    const texts: { readonly entry: E; readonly text: string }[] = [];
    for (const one of payloads) {
      const text = this.#readText(one);
      if (text !== undefined) texts.push({ entry: one.entry, text });
    }
    const add = () => {
      for (const { entry, text } of texts) {
        const counts = this.#count(new FoldedText(text));
        if (counts !== undefined) this.hits.push({ ...entry, ...counts, words: countWords(text) });
      }
      return true;
    };
    if (!this.#hasExpression) return void add();
    const limitMs = limitFor(texts.reduce((sum, { text }) => sum + text.length, 0));
    if (runLimited(limitMs, add) === undefined) throw new SlowExpressionError(this.#request.query, limitMs);
  }

  /** The text of an entry, if it can match. */
  #readText({ type, json }: ScannedPayload<E>): string | undefined {
    const payload = this.#canMatch(json) ? parsePayload(type, json) : undefined;
    return payload === undefined ? undefined : textToSearch(payload, this.#request);
  }
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
