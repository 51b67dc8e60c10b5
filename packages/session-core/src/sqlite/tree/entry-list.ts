import type { Entry } from "../../entry/entry.js";
import type { EntryId } from "../../ids/ids.js";
import type { EntryListing } from "../../port/records.js";
import type { SessionSeq } from "../../port/rows.js";
import { rowLimit } from "../../rules/row-limit.js";
import type { Connection } from "../file/connection.js";
import { type Query, query, rawQuery } from "../query.js";
import type { SessionRef } from "../sessions/session-rows.js";
import { ENTRY_COLUMNS, ENTRY_JOINS, type EntryRow, toEntry } from "./entry-rows.js";

// Lists of the entries of a session in order of arrival, whatever their branch: as entries, and in tree/outline.ts as rows.

const DEFAULT_LIMIT = 1000;

interface ListParameters {
  session: SessionSeq;
  after: number;
  before: number;
  /** JSON array. */
  types: string;
  customType: string | null;
  limit: number;
}

/** The parameters of a list, for one of its queries. */
export function listParameters(session: SessionRef, listing: EntryListing): ListParameters {
  return {
    session: session.seq,
    after: listing.afterSeq ?? 0,
    before: listing.beforeSeq ?? Number.MAX_SAFE_INTEGER,
    types: JSON.stringify(listing.types ?? []),
    customType: listing.customType ?? null,
    limit: rowLimit(listing.limit ?? DEFAULT_LIMIT),
  };
}

const ORDERS = ["oldest", "newest"] as const;
const YES_NO = [true, false];

/**
 * Declares the queries of a list, one for each combination of order and filters: a condition that no caller sets would be
 * evaluated for every row, and without it `custom_type` is searched in its index. Returns the one for a list.
 */
export function listQueries<R>(columns: string, joins = ""): (listing: EntryListing) => Query<ListParameters, R> {
  const shapes = ORDERS.flatMap((order) =>
    YES_NO.flatMap((hasTypes) => YES_NO.map((hasCustomType): ListShape => ({ order, hasTypes, hasCustomType }))),
  );
  const queries = new Map(shapes.map((shape) => [nameOf(shape), listQuery<R>(columns, joins, shape)]));
  const plain = listQuery<R>(columns, joins, { order: "oldest", hasTypes: false, hasCustomType: false });
  return ({ order = "oldest", types, customType }) =>
    queries.get(nameOf({ order, hasTypes: types !== undefined, hasCustomType: customType !== undefined })) ?? plain;
}

interface ListShape {
  readonly order: (typeof ORDERS)[number];
  readonly hasTypes: boolean;
  readonly hasCustomType: boolean;
}

const nameOf = ({ order, hasTypes, hasCustomType }: ListShape) => `${order} ${hasTypes} ${hasCustomType}`;

// `likelihood`: without it the planner reads all entries of the session in the order of the list.
function listQuery<R>(columns: string, joins: string, { order, hasTypes, hasCustomType }: ListShape): Query<ListParameters, R> {
  return query<ListParameters, R>(({ sql, p }) =>
    rawQuery(sql<R>`
      SELECT ${sql.raw(columns)} FROM entry ${sql.raw(joins)}
      WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq < ${p.before}
        ${hasCustomType ? sql`AND likelihood(entry.custom_type = ${p.customType}, 0.001)` : sql``}
        ${hasTypes ? sql`AND entry.type IN (SELECT value FROM json_each(${p.types}))` : sql``}
      ORDER BY entry.seq ${sql.raw(order === "newest" ? "DESC" : "ASC")} LIMIT ${p.limit}`),
  );
}

const entryPage = listQueries<EntryRow>(ENTRY_COLUMNS, ENTRY_JOINS);

/** Reads a page of the entries of all branches. Cost: the page; with `types`, also the rows between one match and the next. */
export function listEntries(connection: Connection, session: SessionRef, listing: EntryListing): readonly Entry[] {
  return connection.all(entryPage(listing), listParameters(session, listing)).map((row) => toEntry(connection, row));
}

const byIds = query<{ session: SessionSeq; ids: string }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM json_each(${p.ids}) AS wanted CROSS JOIN entry ON entry.session_seq = ${p.session} AND entry.id = wanted.value ${sql.raw(ENTRY_JOINS)}`),
);

/** The number of entries that one query reads. */
const IDS_AT_ONCE = 500;

/** Reads entries by id, in the order of the ids. Unknown ids are missing. Call it inside `read`. */
export function readEntriesById(connection: Connection, session: SessionRef, ids: readonly EntryId[]): ReadonlyMap<EntryId, Entry> {
  const found = new Map<EntryId, Entry>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = connection.all(byIds, { session: session.seq, ids: JSON.stringify(ids.slice(at, at + IDS_AT_ONCE)) });
    for (const row of rows) found.set(row.id, toEntry(connection, row));
  }
  return found;
}
