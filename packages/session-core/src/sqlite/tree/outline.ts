import { toEntryKind } from "../../entry/kinds.js";
import type { EntryId, EntrySeq, SessionSeq } from "../../ids/ids.js";
import type { EntryListing, OutlineRow, SessionRow } from "../../port/records.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { listParameters, listQueries } from "./entry-list.js";
import { findEntryId, requireEntrySeq } from "./entry-rows.js";
import { isOnPath, walkUpAbove } from "./paths.js";

/** The columns of a row, in the order of `COLUMNS`. An array of them is converted directly: an object in between would double the time. */
type OutlineColumns = readonly [
  id: EntryId,
  seq: EntrySeq,
  parentSeq: EntrySeq | null,
  kind: number,
  depth: number,
  createdAtMs: number,
  preview: string,
  isError: 0 | 1,
  payloadBytes: number,
  customType: string | null,
];

const COLUMNS = `entry.id, entry.seq, entry.parent_seq, entry.kind, entry.depth, entry.created_at_ms, entry.preview,
  entry.is_error, entry.payload_bytes, entry.custom_type`;

const outlinePage = listQueries<OutlineColumns>(COLUMNS);

/** Returns a page of the outline in order of arrival: parents before children, unless the newest come first. */
export function readOutline(connection: Connection, session: SessionRow, listing: EntryListing): readonly OutlineRow[] {
  return connection.allAsArrays(outlinePage(listing), listParameters(session, listing)).map(toOutlineRow);
}

// `+seq`: ordered by `seq` alone, the planner reads all entries of the session in that order.
const childRows = query<{ session: SessionSeq; parent: EntrySeq | null }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    SELECT ${sql.raw(COLUMNS)} FROM entry WHERE session_seq = ${p.session} AND parent_seq IS ${p.parent} ORDER BY +seq`),
);

/** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {EntryNotFoundError} */
export function listChildren(connection: Connection, session: SessionRow, parentId: EntryId | null): readonly OutlineRow[] {
  const parent = parentId === null ? null : requireEntrySeq(connection, session, parentId);
  return connection.allAsArrays(childRows, { session: session.seq, parent }).map(toOutlineRow);
}

const branchPointRows = query<{ session: SessionSeq }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    SELECT ${sql.raw(COLUMNS)} FROM branch_point CROSS JOIN entry ON entry.seq = branch_point.entry_seq
    WHERE branch_point.session_seq = ${p.session} ORDER BY branch_point.entry_seq`),
);

/** Returns the entries with more than one child, oldest first. */
export function listBranchPoints(connection: Connection, session: SessionRow): readonly OutlineRow[] {
  return connection.allAsArrays(branchPointRows, { session: session.seq }).map(toOutlineRow);
}

const tipRows = query<{ session: SessionSeq }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    SELECT ${sql.raw(COLUMNS)} FROM tip CROSS JOIN entry ON entry.seq = tip.entry_seq
    WHERE tip.session_seq = ${p.session} ORDER BY tip.entry_seq`),
);

/** Returns the entries without children, oldest first. */
export function listTips(connection: Connection, session: SessionRow): readonly OutlineRow[] {
  return connection.allAsArrays(tipRows, { session: session.seq }).map(toOutlineRow);
}

const newestTips = query<{ session: SessionSeq; from: EntrySeq; before: number; limit: number }, { seq: EntrySeq }>(({ db, sql, p }) =>
  db
    .selectFrom("tip")
    .select("entry_seq as seq")
    .where("session_seq", "=", p.session)
    .where("entry_seq", ">=", p.from)
    .where(sql<boolean>`entry_seq < ${p.before}`)
    .orderBy("entry_seq", "desc")
    .limit(p.limit),
);

/** The number of tips that one query reads. */
const TIPS_AT_ONCE = 100;

/**
 * Returns the newest entry without children below an entry, or the entry itself. Call it inside `read`. Cost: one climb for each newer
 * tip that is on another branch. @throws {EntryNotFoundError}
 */
export function findTipBelow(connection: Connection, session: SessionRow, id: EntryId): EntryId {
  const from = requireEntrySeq(connection, session, id);
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const tips = connection.all(newestTips, { session: session.seq, from, before, limit: TIPS_AT_ONCE });
    const tip = tips.find(({ seq }) => isOnPath(connection, from, seq));
    if (tip !== undefined) return findEntryId(connection, tip.seq) ?? id;
    const last = tips.at(-1);
    if (last === undefined) return id;
    before = last.seq;
  }
}

// The recursion stops at the limit, because SQLite takes the rows of `up` one by one. CROSS JOIN keeps their order.
const pathRows = query<{ from: EntrySeq; limit: number }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    WITH RECURSIVE ${walkUpAbove(sql, p.from, 0)}
    SELECT ${sql.raw(COLUMNS)} FROM up CROSS JOIN entry ON entry.seq = up.seq LIMIT ${p.limit}`),
);

/** Returns the rows of a path from the leaf upwards, at most `limit`. The cost does not depend on the length of the path. @throws {EntryNotFoundError} */
export function readOutlinePath(connection: Connection, session: SessionRow, leafId: EntryId | null, limit: number): readonly OutlineRow[] {
  if (leafId === null) return [];
  const from = requireEntrySeq(connection, session, leafId);
  return connection.allAsArrays(pathRows, { from, limit: rowLimit(limit) }).map(toOutlineRow);
}

const rowsAt = query<{ session: SessionSeq; seqs: string }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    SELECT ${sql.raw(COLUMNS)} FROM json_each(${p.seqs}) AS wanted CROSS JOIN entry ON entry.seq = wanted.value
    WHERE entry.session_seq = ${p.session} ORDER BY entry.seq`),
);

/** Returns rows by their order of arrival, oldest first. Ignores numbers of other sessions. */
export function readOutlineAt(connection: Connection, session: SessionRow, seqs: readonly number[]): readonly OutlineRow[] {
  return connection.allAsArrays(rowsAt, { session: session.seq, seqs: JSON.stringify(seqs) }).map(toOutlineRow);
}

// Reads the columns by index: a destructuring of the array iterates over it.
function toOutlineRow(row: OutlineColumns): OutlineRow {
  const { type, role } = toEntryKind(row[3]);
  return {
    id: row[0],
    seq: row[1],
    parentSeq: row[2],
    type,
    role,
    depth: row[4],
    createdAtMs: row[5],
    preview: row[6],
    isError: row[7] === 1,
    payloadBytes: row[8],
    customType: row[9],
  };
}
