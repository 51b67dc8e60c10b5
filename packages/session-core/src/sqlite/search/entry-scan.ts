import { setImmediate as pause } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { EntrySeq } from "../../ids/ids.js";
import type { SearchRequest } from "../../port/search.js";
import { type ScannedPayload, type TextHit, type TextProbe, TextScan } from "../../rules/search/text-scan.js";
import type { Connection } from "../file/connection.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PagedPayloadRow } from "../payloads/payloads.js";
import { dynamicQuery } from "../query.js";
import type { EntryTable } from "../schema.js";
import { findPayloadText } from "./search-index.js";
import { allOf, entryConditions, numberConditions } from "./search-query.js";

/** Runs a read on the connection of the store. */
export interface Reader {
  read<T>(body: (connection: Connection) => T): Promise<T>;
}

/** After this time, in milliseconds, a scan lets the event loop continue. */
const SLICE_MS = 25;

/** Calls `advance` until it returns something, with pauses of the event loop. */
export async function runSliced<T>(reader: Reader, advance: (connection: Connection, isOver: () => boolean) => T | undefined): Promise<T> {
  for (;;) {
    const deadlineMs = performance.now() + SLICE_MS;
    const result = await reader.read((connection) => advance(connection, () => performance.now() >= deadlineMs));
    if (result !== undefined) return result;
    await pause();
  }
}

/** The entries that a search scans: those after the row number `from`, the last one in the index, up to `to`. */
export interface Tail {
  readonly from: number;
  readonly to: number;
}

interface HasSeq {
  readonly seq: EntrySeq;
}

/** A matching entry and the values that determine its rank. */
export type ScanHit = TextHit<HasSeq>;

/** The number of entries that one query reads, and that the first one reads. */
const PAGE_ENTRIES = 500;
const FIRST_PAGE_ENTRIES = 100;

type ScanRow = PagedPayloadRow & Pick<EntryTable, "type">;

interface ScanOptions {
  /** Entries to scan before the tail, in order of arrival. */
  readonly candidates?: readonly number[];
  /** Entries that do not meet the conditions on entries and sessions are scanned too. */
  readonly ignoresConditions?: boolean;
}

/**
 * A scan of the entries that are not indexed, and of those for which the index cannot decide whether they match. Reads their payloads;
 * parses those that can match.
 */
export class EntryScan<T extends object> {
  readonly #tail: Tail;
  readonly #scan: TextScan<HasSeq, T>;
  readonly #conditions: readonly RawBuilder<boolean>[];
  readonly #candidates: readonly number[];
  #nextCandidate = 0;
  #after: number;
  #pageEntries = FIRST_PAGE_ENTRIES;

  constructor(tail: Tail, probe: TextProbe<T>, request: SearchRequest, { candidates = [], ignoresConditions = false }: ScanOptions = {}) {
    this.#tail = tail;
    this.#scan = new TextScan(probe, request);
    this.#conditions = ignoresConditions ? [] : [...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))];
    this.#candidates = candidates;
    this.#after = tail.from;
  }

  get hits(): readonly (HasSeq & T)[] {
    return this.#scan.hits;
  }

  /** True if all entries have been scanned. */
  get isDone(): boolean {
    return this.#nextCandidate >= this.#candidates.length && this.#after >= this.#tail.to;
  }

  /** Scans the entries of the next page. @throws {SlowExpressionError} */
  scanPage(connection: Connection): void {
    const rows = this.#nextCandidate < this.#candidates.length ? this.#readCandidates(connection) : this.#readTail(connection);
    this.#scan.scan(readPayloads(connection, rows));
    const bytes = rows.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
    this.#pageEntries = Math.max(1, Math.min(PAGE_ENTRIES, Math.floor((this.#scan.pageBytes * rows.length) / Math.max(1, bytes))));
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
      dynamicQuery(sql<ScanRow>`
          SELECT ${sql.raw(PAGED_PAYLOAD_COLUMNS)}, entry.type FROM entry ${session} ${sql.raw(PAYLOAD_JOIN)}
          WHERE ${which} AND ${allOf(this.#conditions)}
          ORDER BY entry.seq LIMIT ${this.#pageEntries}`),
      {},
    );
  }
}

/** The payloads of a page, one after the other. A damaged one is left out. */
function* readPayloads(connection: Connection, rows: readonly ScanRow[]): Iterable<ScannedPayload<HasSeq>> {
  for (const row of rows) {
    const json = findPayloadText(connection, completeRow(connection, row));
    if (json !== undefined) yield { entry: { seq: row.seq }, type: row.type, json };
  }
}
