import { sql } from "kysely";
import type { EntrySeq } from "../../ids/ids.js";
import type { SearchPage, SearchRequest } from "../../port/search.js";
import { finishPage, listAttempts, snippetsFor, toMatching, type UnmatchedPage } from "../../rules/search/attempts.js";
import { toTitleHits } from "../../rules/search/hit-rows.js";
import { includesTitles, isIndexed, type Matching, parseRequest } from "../../rules/search/matching.js";
import { questionOf } from "../../rules/search/question.js";
import { probeOf } from "../../rules/search/text-scan.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery } from "../query.js";
import { EntryScan, type Reader, runSliced, type ScanHit, type Tail } from "./entry-scan.js";
import { findTitles, readHits } from "./hits.js";
import { countIndexHits, findIndexHits, findPartHits, rowsToSearch } from "./index-hits.js";
import { findLabelled, type Labelled, readLabels } from "./label-hits.js";
import { searchQuestion } from "./question-search.js";
import { mergeByRank, type RankedEntry, rankHits } from "./rank.js";
import { lastEntrySeq, lastIndexedSeq, listNotIndexed } from "./search-index.js";
import { allOf, entryConditions, type FurtherRequest, numberConditions } from "./search-query.js";
import { allowMistake, type FittingRow, findFittingRows } from "./term-rows.js";

const DEFAULT_LIMIT = 20;

/** The largest result of a scan that is kept for the next page, in hits. */
const KEPT_HITS = 100_000;

/** The hits of the last scan, for the next page of the same search. */
export interface LastScan {
  key: string;
  hits: readonly ScanHit[];
}

/**
 * Searches titles, labels, the index, and the entries that are not indexed yet, each of which is scanned. A long scan lets the event loop
 * continue in between. With `relax`, a search that finds nothing is tried again with weaker conditions.
 *
 * @throws {InvalidQueryError}
 */
export async function search(reader: Reader, request: SearchRequest, lastScan: LastScan): Promise<SearchPage> {
  const terms = parseRequest(request);
  const isBare = terms.length === 0 && request.tool === undefined && request.places === undefined;
  if (isBare) return reader.read((connection) => connection.read(() => listByConditions(connection, request)));
  const question = questionOf(request);
  if (question !== null) return searchQuestion(reader, request, question);
  const attempts = listAttempts(terms, request);
  const position = parseCursor(request.cursor);
  const first = Math.min(position.attempt, attempts.length - 1);
  for (const [at, attempt] of attempts.entries()) {
    if (at < first) continue;
    const matching = await reader.read((connection) => toMatching(terms, attempt, (term) => allowMistake(connection, term)));
    const running = new Search(snippetsFor(request, attempt), matching, { ...position, attempt: at }, lastScan);
    const page = await runSliced(reader, (connection, isOver) => running.advance(connection, isOver));
    const isFound = page.total > 0 || at === attempts.length - 1 || request.cursor !== undefined;
    if (isFound) return finishPage(request, page, attempt, matching);
  }
  throw new RangeError("a search has at least one attempt");
}

class Search {
  #request: FurtherRequest;
  readonly #matching: Matching;
  readonly #lastScan: LastScan;
  readonly #limit: number;
  readonly #position: Position;
  #labelled: Labelled | undefined;
  #scan: EntryScan<Omit<ScanHit, "seq">> | undefined;
  #tail: Tail | undefined;

  constructor(request: SearchRequest, matching: Matching, position: Position, lastScan: LastScan) {
    this.#request = request;
    this.#matching = matching;
    this.#lastScan = lastScan;
    this.#limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
    this.#position = position;
    this.#tail = position.tail;
  }

  /** Searches until the time is over, in one read transaction. Returns the page, or undefined if the scan is not complete. */
  advance(connection: Connection, isOver: () => boolean): UnmatchedPage | undefined {
    return connection.read(() => {
      const tail = this.#tail ?? { from: lastIndexedSeq(connection), to: lastEntrySeq(connection) };
      this.#tail = tail;
      this.#labelled ??= this.#findLabelled(connection);
      const hits = this.#scanTail(connection, tail, isOver);
      return hits && this.#readPage(connection, tail, hits, this.#labelled);
    });
  }

  /** Finds the entries whose labels match; the search behind it leaves them out. */
  #findLabelled(connection: Connection): Labelled {
    const labelled = findLabelled(connection, readLabels(connection, this.#request), this.#matching, this.#request);
    if (labelled.seqs.length > 0) this.#request = { ...this.#request, exceptSeqs: labelled.seqs };
    return labelled;
  }

  #scanTail(connection: Connection, tail: Tail, isOver: () => boolean): readonly ScanHit[] | undefined {
    const key = this.#scanKey(tail);
    if (this.#position.tail !== undefined && this.#lastScan.key === key) return this.#lastScan.hits;
    this.#scan ??= this.#startScan(connection, tail);
    while (!this.#scan.isDone) {
      if (isOver()) return undefined;
      this.#scan.scanPage(connection);
    }
    const { hits } = this.#scan;
    if (hits.length > this.#limit && hits.length <= KEPT_HITS) Object.assign(this.#lastScan, { key, hits });
    return hits;
  }

  /** Creates a scan of the entries that are not indexed and, if the index cannot decide which entries match, of the candidates. */
  #startScan(connection: Connection, tail: Tail): EntryScan<Omit<ScanHit, "seq">> {
    const probe = probeOf(this.#matching);
    const rows = rowsToSearch(connection, this.#request, tail.from);
    const notIndexed = listNotIndexed(connection, rows);
    if (isIndexed(this.#matching, this.#request)) return new EntryScan(tail, probe, this.#request, { candidates: notIndexed });
    const candidates = findFittingRows(connection, this.#matching, { table: "entry_text", ...rows });
    if (candidates !== null) {
      const sorted = [...candidates.map(({ seq }) => seq), ...notIndexed].sort((a, b) => a - b);
      return new EntryScan(tail, probe, this.#request, { candidates: sorted });
    }
    const all = rowsToSearch(connection, this.#request, tail.to);
    return new EntryScan({ from: all.from - 1, to: all.to }, probe, this.#request);
  }

  /** Returns the key of a scan: everything on which its hits depend. */
  #scanKey(tail: Tail): string {
    return JSON.stringify([{ ...this.#request, limit: 0, cursor: "" }, this.#position.attempt, tail]);
  }

  #readPage(connection: Connection, tail: Tail, scanned: readonly ScanHit[], labelled: Labelled): UnmatchedPage {
    const { offset, attempt } = this.#position;
    const titles = includesTitles(this.#request, this.#matching) ? findTitles(connection, this.#matching, this.#request) : [];
    const hits = [...toTitleHits(titles.slice(offset, offset + this.#limit), this.#matching, this.#request)];
    const isInIndex = isIndexed(this.#matching, this.#request);
    const whole = isInIndex ? countIndexHits(connection, this.#matching, this.#request, tail.from) : 0;
    const parts = isInIndex ? findPartHits(connection, this.#matching, this.#request, tail.from) : [];
    const first = titles.length + labelled.entries.length;
    const total = first + whole + parts.length + scanned.length;
    const found = { whole, parts, scanned };
    const start = Math.max(0, offset - titles.length);
    const byLabel = labelled.entries.slice(start, start + this.#limit - hits.length);
    const room = this.#limit - hits.length - byLabel.length;
    const entries = [...byLabel, ...this.#listEntries(connection, tail, found, Math.max(0, offset - first), room)];
    for (const hit of readHits(connection, entries, this.#matching, this.#request)) hits.push(hit);
    const end = offset + this.#limit;
    return { hits, total, next: this.#limit > 0 && end < total ? formatCursor({ offset: end, tail, attempt }) : null };
  }

  /** The entries of the page: those with whole words by rank, then the others by fit; of these the newest first. */
  #listEntries(connection: Connection, tail: Tail, { whole, parts, scanned }: FoundRows, offset: number, limit: number): readonly HasSeq[] {
    if (limit <= 0) return [];
    const scannedWhole = scanned.filter(({ fit }) => fit === 0);
    const first = whole > 0 || scannedWhole.length > 0 ? this.#rankEntries(connection, tail, { whole, scannedWhole }, offset, limit) : [];
    if (first.length >= limit) return first;
    const others = [...parts, ...scanned.filter(({ fit }) => fit > 0)].sort((a, b) => a.fit - b.fit || b.seq - a.seq);
    const skipped = Math.max(0, offset - whole - scannedWhole.length);
    return [...first, ...others.slice(skipped, skipped + limit - first.length)];
  }

  /** The entries with whole words: those of the index and those of the scan, best first. */
  #rankEntries(
    connection: Connection,
    tail: Tail,
    { whole, scannedWhole }: { readonly whole: number; readonly scannedWhole: readonly ScanHit[] },
    offset: number,
    limit: number,
  ): readonly RankedEntry[] {
    if (scannedWhole.length === 0) return findIndexHits(connection, this.#matching, this.#request, tail.from, { offset, limit });
    const until = { offset: 0, limit: offset + limit };
    const indexed = whole === 0 ? [] : findIndexHits(connection, this.#matching, this.#request, tail.from, until);
    return mergeByRank(indexed, rankHits(connection, this.#matching.terms, scannedWhole), offset, limit);
  }
}

interface HasSeq {
  readonly seq: number;
}

/** The rows that were found: in the index with whole words, in the index with parts of words, and by the scan. */
interface FoundRows {
  readonly whole: number;
  readonly parts: readonly FittingRow[];
  readonly scanned: readonly ScanHit[];
}

/** The start of a page. `tail`: the range that the first page scanned, so that all pages read the same entries in the same order. */
interface Position {
  readonly offset: number;
  readonly tail: Tail | undefined;
  /** The number of the attempt that found something. */
  readonly attempt: number;
}

function parseCursor(cursor = "0"): Position {
  const [offset = 0, from, to, attempt = 0] = cursor.split(".").map(Number);
  return { offset: rowLimit(offset), tail: from === undefined || to === undefined ? undefined : { from, to }, attempt: rowLimit(attempt) };
}

function formatCursor({ offset, tail, attempt }: Position & { readonly tail: Tail }): string {
  return `${offset}.${tail.from}.${tail.to}${attempt === 0 ? "" : `.${attempt}`}`;
}

/**
 * A search without words: the entries that meet the other conditions, the newest first. Cost: one row without payload for each entry
 * of the session, or of the store if the request names no session; the payloads of the page only.
 */
function listByConditions(connection: Connection, request: SearchRequest): SearchPage {
  const conditions = allOf([...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))]);
  const from = sql`FROM session CROSS JOIN entry ON entry.session_seq = session.seq WHERE ${conditions}`;
  const counted = dynamicQuery(sql<{ total: number }>`SELECT count(*) AS total ${from}`);
  const limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
  const offset = rowLimit(Number(request.cursor?.split(".")[0] ?? 0));
  const listed = dynamicQuery(sql<{ seq: EntrySeq }>`SELECT entry.seq ${from} ORDER BY entry.seq DESC LIMIT ${limit} OFFSET ${offset}`);
  const total = connection.get(counted, {})?.total ?? 0;
  const hits = readHits(connection, connection.all(listed, {}), { terms: [], atLeast: 0 }, request);
  const end = offset + limit;
  return { hits, total, matched: { kind: "all" }, unclosedQuote: null, next: limit > 0 && end < total ? String(end) : null };
}
