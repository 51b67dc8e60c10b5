import type { Entry } from "../../entry/entry.js";
import { InvalidReferenceError } from "../../errors/session-errors.js";
import { type EntryId, type EntrySeq, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { EntryListing, Page, PathScanFrom, SessionRow } from "../../port/records.js";
import { shortenId } from "../../rules/session-columns.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { type Query, query, rawQuery } from "../query.js";
import { ENTRY_COLUMNS, ENTRY_JOINS, type EntryRow, requireEntrySeq, toEntry } from "./entry-rows.js";
import { isOnPath, walkUpAbove } from "./paths.js";

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
export function listParameters(session: SessionRow, listing: EntryListing): ListParameters {
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
export function listEntries(connection: Connection, session: SessionRow, listing: EntryListing): readonly Entry[] {
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
export function readEntriesById(connection: Connection, session: SessionRow, ids: readonly EntryId[]): ReadonlyMap<EntryId, Entry> {
  const found = new Map<EntryId, Entry>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = connection.all(byIds, { session: session.seq, ids: JSON.stringify(ids.slice(at, at + IDS_AT_ONCE)) });
    for (const row of rows) found.set(row.id, toEntry(connection, row));
  }
  return found;
}

interface ScanParameters {
  session: SessionSeq;
  from: EntrySeq;
  stop: number;
  /** JSON array of the types to return; "[]" returns all. */
  types: string;
  roles: string;
  /** null: all entries. */
  customType: string | null;
  after: number;
  limit: number;
}

// The recursion reads no payloads; they are read for the returned rows only. An upward page starts where the last one ended,
// so its cost does not depend on the depth of the path; a host may take the cursor from its client, so that it may be a row of another
// session, whose path is not walked. CROSS JOIN keeps the order of the walk; otherwise the planner reads
// `entry` first, in the order of that table.
const scanUp = query<ScanParameters, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    WITH RECURSIVE ${walkUpAbove(sql, sql`(SELECT seq FROM entry WHERE seq = ${p.from} AND session_seq = ${p.session})`, p.stop)}
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM up CROSS JOIN entry ON entry.seq = up.seq ${sql.raw(ENTRY_JOINS)}
    WHERE (json_array_length(${p.types}) = 0 OR entry.type IN (SELECT value FROM json_each(${p.types})))
      AND (json_array_length(${p.roles}) = 0 OR entry.role IN (SELECT value FROM json_each(${p.roles})))
      AND (${p.customType} IS NULL OR entry.custom_type = ${p.customType})
      AND entry.seq < ${p.after}
    LIMIT ${p.limit}`),
);

const scanDown = query<ScanParameters, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    WITH RECURSIVE ${walkUpAbove(sql, p.from, p.stop)},
    down (seq) AS MATERIALIZED (SELECT seq FROM up WHERE seq > ${p.after} ORDER BY seq)
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM down CROSS JOIN entry ON entry.seq = down.seq ${sql.raw(ENTRY_JOINS)}
    WHERE (json_array_length(${p.types}) = 0 OR entry.type IN (SELECT value FROM json_each(${p.types})))
      AND (json_array_length(${p.roles}) = 0 OR entry.role IN (SELECT value FROM json_each(${p.roles})))
      AND (${p.customType} IS NULL OR entry.custom_type = ${p.customType})
    ORDER BY down.seq
    LIMIT ${p.limit}`),
);

/**
 * Reads a page of a path. Call it inside `read`. The cursor is the row number of the last entry of the page before.
 *
 * @throws {EntryNotFoundError | InvalidReferenceError} an id is unknown; `stopAt` is not on the path.
 */
export function scanPath(connection: Connection, session: SessionRow, scan: PathScanFrom): Page<Entry> {
  const { leaf, stopAt } = resolveEnds(connection, session, scan.leafId, scan.stopAt);
  if (leaf === null || leaf === stopAt) return { items: [], next: null };
  const up = (scan.order ?? "up") === "up";
  const cursor = scan.cursor === undefined ? undefined : toEntrySeq(Number(scan.cursor));
  const limit = rowLimit(scan.limit ?? Number.POSITIVE_INFINITY);
  const rows = connection.all(up ? scanUp : scanDown, {
    session: session.seq,
    from: up && cursor !== undefined ? cursor : leaf,
    stop: stopAt ?? 0,
    types: JSON.stringify(scan.types ?? []),
    roles: JSON.stringify(scan.roles ?? []),
    customType: scan.customType ?? null,
    after: cursor ?? (up ? Number.MAX_SAFE_INTEGER : 0),
    limit: limit + 1,
  });
  const items = rows.slice(0, limit).map((row) => toEntry(connection, row));
  return { items, next: rows.length > limit ? String(items.at(-1)?.seq) : null };
}

function resolveEnds(connection: Connection, session: SessionRow, leafId: EntryId | null, stopAt: EntryId | undefined) {
  const leaf = leafId === null ? null : requireEntrySeq(connection, session, leafId);
  if (stopAt === undefined) return { leaf, stopAt: null };
  const stop = requireEntrySeq(connection, session, stopAt);
  if (leaf !== null && !isOnPath(connection, stop, leaf)) throw new InvalidReferenceError("stopAt", stopAt, "is not on the path");
  return { leaf, stopAt: stop };
}

const seqsUp = query<{ from: EntrySeq; stop: number }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE ${walkUpAbove(sql, p.from, p.stop)}
    SELECT seq FROM up ORDER BY seq`),
);

/** Returns the row numbers of a path, oldest first; with `stopAt`, of the entries below it. */
export function readPathSeqs(connection: Connection, leaf: EntrySeq, stopAt: EntrySeq | null): readonly EntrySeq[] {
  return connection
    .all(seqsUp, { from: leaf, stop: stopAt ?? 0 })
    .map(({ seq }) => seq)
    .filter((seq) => seq !== stopAt);
}

/** Like `readPathSeqs`, by ids. Call it inside `read`. @throws {EntryNotFoundError | InvalidReferenceError} an id is unknown; `stopAtId` is not on the path. */
export function readPathSeqsById(
  connection: Connection,
  session: SessionRow,
  leafId: EntryId | null,
  stopAtId: EntryId | undefined,
): readonly EntrySeq[] {
  const { leaf, stopAt } = resolveEnds(connection, session, leafId, stopAtId);
  return leaf === null ? [] : readPathSeqs(connection, leaf, stopAt);
}

const rowsIn = query<{ session: SessionSeq; seqs: string }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM json_each(${p.seqs}) AS wanted CROSS JOIN entry ON entry.seq = wanted.value ${sql.raw(ENTRY_JOINS)}
    WHERE entry.session_seq = ${p.session} ORDER BY entry.seq`),
);

/** Reads entries by row number, oldest first. Ignores numbers of other sessions. */
export function readEntriesAt(connection: Connection, session: SessionRow, seqs: readonly number[]): readonly Entry[] {
  return connection.all(rowsIn, { session: session.seq, seqs: JSON.stringify(seqs) }).map((row) => toEntry(connection, row));
}

const startingWith = query<{ session: SessionSeq; prefix: string; limit: number }, { id: EntryId }>(({ db, sql, p }) =>
  db
    .selectFrom("entry")
    .select("id")
    .where("session_seq", "=", p.session)
    // A range instead of a pattern, so that the index is used: U+10FFFF sorts after every other character.
    .where("id", ">=", p.prefix)
    .where(sql<boolean>`id < ${p.prefix} || char(0x10ffff)`)
    .limit(p.limit),
);

/** Returns the ids of a session that start with `prefix`, in order. */
export function findEntryIds(connection: Connection, session: SessionRow, prefix: string, limit: number): readonly EntryId[] {
  return connection.all(startingWith, { session: session.seq, prefix, limit }).map((row) => row.id);
}

const entryBefore = query<{ session: SessionSeq; id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("entry").select("id").where("session_seq", "=", p.session).where("id", "<", p.id).orderBy("id", "desc").limit(1),
);
const entryAfter = query<{ session: SessionSeq; id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("entry").select("id").where("session_seq", "=", p.session).where("id", ">", p.id).orderBy("id").limit(1),
);

/**
 * For each id its shortest prefix of at least four characters that no other entry of the session has. Cost: two searches of an index
 * for each id, because only the neighbors in the order of ids share the longest prefixes with it.
 */
export function shortEntryIds(connection: Connection, session: SessionRow, ids: readonly EntryId[]): ReadonlyMap<EntryId, string> {
  const short = new Map<EntryId, string>();
  for (const id of ids) {
    const key = { session: session.seq, id };
    short.set(id, shortenId(id, [connection.get(entryBefore, key)?.id, connection.get(entryAfter, key)?.id]));
  }
  return short;
}
