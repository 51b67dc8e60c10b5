import { type RawBuilder, sql } from "kysely";
import type { Connection } from "../storage/connection.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PagedPayloadRow } from "../storage/payloads.js";
import { dynamicQuery, rawQuery } from "../storage/query.js";
import type { EntrySeq, EntryTable } from "../storage/schema.js";
import { foldText, isAscii } from "./fold.js";
import { extractText, findPayloadText } from "./search-index.js";
import { allOf, type Matching } from "./search-query.js";
import { asciiPattern, createPrefilter, termPattern } from "./term-pattern.js";

/** The entries that a search scans: those after the row number `from`, the last one in the index, up to `to`. */
export interface Tail {
  readonly from: number;
  readonly to: number;
}

/** A matching entry, with what its rank depends on. */
export interface TailHit {
  readonly seq: EntrySeq;
  /** How often each term occurs, in the order of the terms. */
  readonly occurrences: readonly number[];
  /** The length of the text, in words. */
  readonly words: number;
}

/** How many entries, and about how many bytes of payloads, one query reads. */
const PAGE_ENTRIES = 500;
const PAGE_BYTES = 4 * 1024 * 1024;

type TailRow = PagedPayloadRow & Pick<EntryTable, "type">;

/** A scan of entries that are not indexed. Reads their payloads; parses those that can match. */
export class TailScan {
  readonly hits: TailHit[] = [];
  readonly #tail: Tail;
  readonly #conditions: readonly RawBuilder<boolean>[];
  readonly #canMatch: (json: string) => boolean;
  readonly #occurrences: (text: string) => readonly number[] | undefined;
  #after: number;
  #pageEntries = 100;

  constructor(tail: Tail, matching: Matching, conditions: readonly RawBuilder<boolean>[]) {
    this.#tail = tail;
    this.#conditions = conditions;
    this.#canMatch = createPrefilter(matching);
    this.#occurrences = createCounter(matching);
    this.#after = tail.from;
  }

  /** Whether all entries have been scanned. */
  get isDone(): boolean {
    return this.#after >= this.#tail.to;
  }

  /** Scans the entries of the next page. */
  scanPage(connection: Connection): void {
    const rows = this.#readPage(connection);
    for (const row of rows) {
      const json = findPayloadText(connection, completeRow(connection, row));
      if (json !== undefined && this.#canMatch(json)) this.#addIfMatching(row, json);
    }
    const bytes = rows.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
    const last = rows.length < this.#pageEntries ? undefined : rows.at(-1);
    this.#after = last?.seq ?? this.#tail.to;
    this.#pageEntries = Math.max(1, Math.min(PAGE_ENTRIES, Math.floor((PAGE_BYTES * rows.length) / Math.max(1, bytes))));
  }

  #readPage(connection: Connection): readonly TailRow[] {
    const session = this.#conditions.length === 0 ? sql`` : sql`JOIN session ON session.seq = entry.session_seq`;
    return connection.all(
      dynamicQuery<TailRow>(() =>
        rawQuery(sql<TailRow>`
          SELECT ${sql.raw(PAGED_PAYLOAD_COLUMNS)}, entry.type FROM entry ${session} ${sql.raw(PAYLOAD_JOIN)}
          WHERE entry.seq > ${this.#after} AND entry.seq <= ${this.#tail.to} AND ${allOf(this.#conditions)}
          ORDER BY entry.seq LIMIT ${this.#pageEntries}`),
      ),
      {},
    );
  }

  #addIfMatching({ seq, type }: TailRow, json: string): void {
    const text = extractText(type, json);
    const occurrences = this.#occurrences(text);
    if (occurrences !== undefined) this.hits.push({ seq, occurrences, words: countWords(text) });
  }
}

/** Returns a function that counts the occurrences of each term in a text; undefined if too few of them occur. */
function createCounter({ terms, atLeast }: Matching): (text: string) => readonly number[] | undefined {
  const patterns = terms.map((term) => new RegExp(termPattern(term), "gu"));
  const inAscii = terms.map((term) => new RegExp(asciiPattern(term), "g"));
  const missing = terms.length - atLeast;
  return (text) => (isAscii(text) ? countAll(inAscii, text.toLowerCase(), missing) : countAll(patterns, foldText(text), missing));
}

/** undefined: more than `missing` patterns do not occur. */
function countAll(patterns: readonly RegExp[], text: string, missing: number): readonly number[] | undefined {
  const counts: number[] = [];
  let left = missing;
  for (const pattern of patterns) {
    let count = 0;
    pattern.lastIndex = 0;
    while (pattern.test(text)) count += 1;
    if (count === 0 && --left < 0) return undefined;
    counts.push(count);
  }
  return counts;
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
