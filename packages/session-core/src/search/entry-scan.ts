import { type RawBuilder, sql } from "kysely";
import type { EntryPayload } from "../entry/entry.js";
import { searchableText } from "../entry/text.js";
import { SlowExpressionError } from "../errors/session-errors.js";
import type { SearchRequest } from "../port/search.js";
import type { Connection } from "../storage/connection.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PagedPayloadRow } from "../storage/payloads.js";
import { dynamicQuery, rawQuery } from "../storage/query.js";
import type { EntrySeq, EntryTable } from "../storage/schema.js";
import { textInPlaces, usesTool } from "./places.js";
import { limitFor, runLimited } from "./regular-expression.js";
import { findPayloadText, parsePayload } from "./search-index.js";
import { allOf, entryConditions, type Matching, numberConditions } from "./search-query.js";
import { createCounter, type TermCounts } from "./term-counter.js";
import { FoldedText } from "./term-matcher.js";
import { createPrefilter } from "./term-pattern.js";

/** The entries that a search scans: those after the row number `from`, the last one in the index, up to `to`. */
export interface Tail {
  readonly from: number;
  readonly to: number;
}

/** A matching entry, with what its rank depends on. */
export interface ScanHit extends TermCounts {
  readonly seq: EntrySeq;
  /** The length of the text, in words. */
  readonly words: number;
}

/** How many entries, and about how many bytes of payloads, one query reads. */
const PAGE_ENTRIES = 500;
const PAGE_BYTES = 4 * 1024 * 1024;

const FIRST_PAGE_ENTRIES = 100;
/** Expressions are slower than other terms, and no other work can be done until a page is complete. */
const EXPRESSION_PAGE_BYTES = PAGE_BYTES / 8;

interface ScannedText {
  readonly seq: EntrySeq;
  readonly text: string;
}

type ScanRow = PagedPayloadRow & Pick<EntryTable, "type">;

/**
 * A scan of entries: of those that are not indexed, and of those for which the index cannot say whether they match. Reads their payloads;
 * parses those that can match.
 */
export class EntryScan {
  readonly hits: ScanHit[] = [];
  readonly #tail: Tail;
  readonly #request: SearchRequest;
  readonly #conditions: readonly RawBuilder<boolean>[];
  readonly #canMatch: (json: string) => boolean;
  readonly #count: (text: FoldedText) => TermCounts | undefined;
  readonly #hasExpression: boolean;
  readonly #candidates: readonly number[];
  #nextCandidate = 0;
  #after: number;
  #pageEntries = FIRST_PAGE_ENTRIES;

  /** `candidates`: entries to scan before the tail, in order of arrival. */
  constructor(tail: Tail, matching: Matching, request: SearchRequest, candidates: readonly number[] = []) {
    this.#tail = tail;
    this.#request = request;
    this.#conditions = [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
    this.#canMatch = matching.terms.length === 0 ? () => true : createPrefilter(matching);
    this.#count = createCounter(matching);
    this.#hasExpression = matching.terms.some(({ kind }) => kind === "expression");
    this.#candidates = candidates;
    this.#after = tail.from;
  }

  /** Whether all entries have been scanned. */
  get isDone(): boolean {
    return this.#nextCandidate >= this.#candidates.length && this.#after >= this.#tail.to;
  }

  /** Scans the entries of the next page. @throws {SlowExpressionError} */
  scanPage(connection: Connection): void {
    const rows = this.#nextCandidate < this.#candidates.length ? this.#readCandidates(connection) : this.#readTail(connection);
    const texts = rows.flatMap((row) => this.#readText(connection, row));
    this.#addMatching(texts);
    const bytes = rows.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
    const most = this.#hasExpression ? EXPRESSION_PAGE_BYTES : PAGE_BYTES;
    this.#pageEntries = Math.max(1, Math.min(PAGE_ENTRIES, Math.floor((most * rows.length) / Math.max(1, bytes))));
  }

  #readCandidates(connection: Connection): readonly ScanRow[] {
    const asked = this.#candidates.slice(this.#nextCandidate, this.#nextCandidate + this.#pageEntries);
    this.#nextCandidate += asked.length;
    return this.#readRows(connection, sql`entry.seq IN (SELECT value FROM json_each(${JSON.stringify(asked)}))`);
  }

  #readTail(connection: Connection): readonly ScanRow[] {
    const rows = this.#readRows(connection, sql`entry.seq > ${this.#after} AND entry.seq <= ${this.#tail.to}`);
    const last = rows.length < this.#pageEntries ? undefined : rows.at(-1);
    this.#after = last?.seq ?? this.#tail.to;
    return rows;
  }

  #readRows(connection: Connection, which: RawBuilder<unknown>): readonly ScanRow[] {
    const session = this.#conditions.length === 0 ? sql`` : sql`JOIN session ON session.seq = entry.session_seq`;
    return connection.all(
      dynamicQuery<ScanRow>(() =>
        rawQuery(sql<ScanRow>`
          SELECT ${sql.raw(PAGED_PAYLOAD_COLUMNS)}, entry.type FROM entry ${session} ${sql.raw(PAYLOAD_JOIN)}
          WHERE ${which} AND ${allOf(this.#conditions)}
          ORDER BY entry.seq LIMIT ${this.#pageEntries}`),
      ),
      {},
    );
  }

  /** The text of an entry, if it can match. */
  #readText(connection: Connection, row: ScanRow): readonly ScannedText[] {
    const json = findPayloadText(connection, completeRow(connection, row));
    if (json === undefined || !this.#canMatch(json)) return [];
    const payload = parsePayload(row.type, json);
    const text = payload === undefined ? undefined : this.#textToSearch(payload);
    return text === undefined ? [] : [{ seq: row.seq, text }];
  }

  #addMatching(texts: readonly ScannedText[]): void {
    const add = () => {
      for (const { seq, text } of texts) {
        const counts = this.#count(new FoldedText(text));
        if (counts !== undefined) this.hits.push({ seq, ...counts, words: countWords(text) });
      }
      return true;
    };
    if (!this.#hasExpression) return void add();
    const limitMs = limitFor(texts.reduce((sum, { text }) => sum + text.length, 0));
    if (runLimited(limitMs, add) === undefined) throw new SlowExpressionError(this.#request.query, limitMs);
  }

  /** undefined: the entry does not meet the conditions on its payload. */
  #textToSearch(payload: EntryPayload): string | undefined {
    const { tool, places } = this.#request;
    if (tool !== undefined && !usesTool(payload, tool)) return undefined;
    if (places === undefined) return searchableText(payload);
    const text = textInPlaces(payload, places);
    return text.trim() === "" ? undefined : text;
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
