import type { Entry } from "../entry/entry.js";
import { toEntryKind } from "../entry/kinds.js";
import type { EntryId } from "../ids/ids.js";
import type { OutlineRow } from "../port/records.js";
import type { SessionRef } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { type QueryBuilder, query, rawQuery, rowLimit } from "../storage/query.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../storage/schema.js";
import { walkUpAbove } from "./ancestry.js";
import { ENTRY_COLUMNS, ENTRY_JOINS, type EntryRow, requireEntrySeq, toEntry } from "./entry-rows.js";

/** The columns of `selectOutline`, in its order. An array of them is converted directly: an object in between would double the time. */
type OutlineColumns = readonly [
  id: EntryId,
  seq: number,
  parentSeq: number | null,
  kind: number,
  depth: number,
  createdAtMs: number,
  preview: string,
  isError: 0 | 1,
  payloadBytes: number,
];

/** The same columns as text. */
const COLUMNS = `entry.id, entry.seq, entry.parent_seq, entry.kind, entry.depth, entry.created_at_ms, entry.preview,
  entry.is_error, entry.payload_bytes`;

const selectOutline = (db: QueryBuilder<never>["db"]) =>
  db
    .selectFrom("entry")
    .select(["id", "seq", "parent_seq as parentSeq", "kind", "depth", "created_at_ms as createdAtMs", "preview"])
    .select(["is_error as isError", "payload_bytes as payloadBytes"])
    .$castTo<OutlineColumns>();

const page = query<{ session: SessionSeq; after: EntrySeq; limit: number }, OutlineColumns>(({ db, p }) =>
  selectOutline(db).where("session_seq", "=", p.session).where("seq", ">", p.after).orderBy("seq").limit(p.limit),
);

/** Returns a page of the outline in order of arrival: parents before children. */
export function readOutline(connection: Connection, session: SessionRef, afterSeq: number, limit: number): readonly OutlineRow[] {
  return connection.allAsArrays(page, { session: session.seq, after: toEntrySeq(afterSeq), limit: rowLimit(limit) }).map(toOutlineRow);
}

const childRows = query<{ session: SessionSeq; parent: EntrySeq | null }, OutlineColumns>(({ db, p }) =>
  selectOutline(db).where("session_seq", "=", p.session).where("parent_seq", "is", p.parent).orderBy("seq"),
);

/** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {EntryNotFoundError} */
export function listChildren(connection: Connection, session: SessionRef, parentId: EntryId | null): readonly OutlineRow[] {
  const parent = parentId === null ? null : requireEntrySeq(connection, session, parentId);
  return connection.allAsArrays(childRows, { session: session.seq, parent }).map(toOutlineRow);
}

const branchPointRows = query<{ session: SessionSeq }, OutlineColumns>(({ db, sql, p }) =>
  selectOutline(db)
    .where(
      "seq",
      "in",
      db
        .selectFrom("entry")
        .select("parent_seq")
        .where("session_seq", "=", p.session)
        .groupBy("parent_seq")
        .having(sql<boolean>`count(*) > 1`)
        // The type of a parent is nullable; NULL in the list of an IN changes no result.
        .$castTo<{ parent_seq: EntrySeq }>(),
    )
    .orderBy("seq"),
);

/** Returns the entries with more than one child, oldest first. Cost: one scan of the index `entry_children` for the session. */
export function listBranchPoints(connection: Connection, session: SessionRef): readonly OutlineRow[] {
  return connection.allAsArrays(branchPointRows, { session: session.seq }).map(toOutlineRow);
}

const tipRows = query<{ session: SessionSeq }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    SELECT ${sql.raw(COLUMNS)}
    FROM entry
    WHERE session_seq = ${p.session}
      AND NOT EXISTS (SELECT 1 FROM entry AS child WHERE child.session_seq = ${p.session} AND child.parent_seq = entry.seq)
    ORDER BY seq`),
);

/** Returns the entries without children, oldest first. */
export function listTips(connection: Connection, session: SessionRef): readonly OutlineRow[] {
  return connection.allAsArrays(tipRows, { session: session.seq }).map(toOutlineRow);
}

// The recursion stops at the limit, because SQLite takes the rows of `up` one by one. CROSS JOIN keeps their order.
const pathRows = query<{ from: EntrySeq; limit: number }, OutlineColumns>(({ sql, p }) =>
  rawQuery(sql<OutlineColumns>`
    WITH RECURSIVE ${walkUpAbove(sql, p.from, 0)}
    SELECT ${sql.raw(COLUMNS)} FROM up CROSS JOIN entry ON entry.seq = up.seq LIMIT ${p.limit}`),
);

/** Returns the rows of a path from the leaf upwards, at most `limit`. The cost does not depend on the length of the path. @throws {EntryNotFoundError} */
export function readOutlinePath(connection: Connection, session: SessionRef, leafId: EntryId | null, limit: number): readonly OutlineRow[] {
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
export function readOutlineAt(connection: Connection, session: SessionRef, seqs: readonly number[]): readonly OutlineRow[] {
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
  };
}

const since = query<{ session: SessionSeq; after: EntrySeq; limit: number }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)} FROM entry ${sql.raw(ENTRY_JOINS)}
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} ORDER BY entry.seq LIMIT ${p.limit}`),
);

/** Reads the entries of all branches that arrived after `afterSeq`, oldest first. */
export function readEntriesSince(connection: Connection, session: SessionRef, afterSeq: number, limit: number): readonly Entry[] {
  return connection
    .all(since, { session: session.seq, after: toEntrySeq(afterSeq), limit: rowLimit(limit) })
    .map((row) => toEntry(connection, row));
}
