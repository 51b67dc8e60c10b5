import type { Entry } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";
import type { OutlineRow } from "../port/records.js";
import type { SessionRef } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { type QueryBuilder, query, rawQuery, rowLimit } from "../storage/query.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../storage/schema.js";
import { ENTRY_COLUMNS, ENTRY_JOINS, type EntryRow, requireEntrySeq, toEntry } from "./entry-rows.js";

type StructureRow = Omit<OutlineRow, "isError"> & { readonly failed: 0 | 1 };

const selectOutline = (db: QueryBuilder<never>["db"]) =>
  db
    .selectFrom("entry")
    .select(["id", "seq", "parent_seq as parentSeq", "type", "role", "depth", "created_at_ms as createdAtMs", "preview"])
    .select(["is_error as failed", "payload_bytes as payloadBytes"]);

const page = query<{ session: SessionSeq; after: EntrySeq; limit: number }, StructureRow>(({ db, p }) =>
  selectOutline(db).where("session_seq", "=", p.session).where("seq", ">", p.after).orderBy("seq").limit(p.limit),
);

/** Returns a page of the outline in order of arrival: parents before children. */
export function readOutline(connection: Connection, session: SessionRef, afterSeq: number, limit: number): readonly OutlineRow[] {
  return connection.all(page, { session: session.seq, after: toEntrySeq(afterSeq), limit: rowLimit(limit) }).map(toOutlineRow);
}

const childRows = query<{ session: SessionSeq; parent: EntrySeq | null }, StructureRow>(({ db, p }) =>
  selectOutline(db).where("session_seq", "=", p.session).where("parent_seq", "is", p.parent).orderBy("seq"),
);

/** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {EntryNotFoundError} */
export function listChildren(connection: Connection, session: SessionRef, parentId: EntryId | null): readonly OutlineRow[] {
  const parent = parentId === null ? null : requireEntrySeq(connection, session, parentId);
  return connection.all(childRows, { session: session.seq, parent }).map(toOutlineRow);
}

const branchPointRows = query<{ session: SessionSeq }, StructureRow>(({ db, sql, p }) =>
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
  return connection.all(branchPointRows, { session: session.seq }).map(toOutlineRow);
}

const tipRows = query<{ session: SessionSeq }, StructureRow>(({ sql, p }) =>
  rawQuery(sql<StructureRow>`
    SELECT id, seq, parent_seq AS parentSeq, type, role, depth, created_at_ms AS createdAtMs, preview, is_error AS failed,
      payload_bytes AS payloadBytes
    FROM entry AS tip
    WHERE session_seq = ${p.session}
      AND NOT EXISTS (SELECT 1 FROM entry AS child WHERE child.session_seq = ${p.session} AND child.parent_seq = tip.seq)
    ORDER BY seq`),
);

/** Returns the entries without children, oldest first. */
export function listTips(connection: Connection, session: SessionRef): readonly OutlineRow[] {
  return connection.all(tipRows, { session: session.seq }).map(toOutlineRow);
}

// Copies each member: an object spread takes longer than reading the row.
function toOutlineRow(row: StructureRow): OutlineRow {
  const { id, seq, parentSeq, type, role, depth, createdAtMs, preview, payloadBytes } = row;
  return { id, seq, parentSeq, type, role, depth, createdAtMs, preview, isError: row.failed === 1, payloadBytes };
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
