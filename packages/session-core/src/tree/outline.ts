import type { Entry } from "../entry/entry.js";
import type { OutlineRow } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { type Building, plain, query, rowLimit } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import { type EntryRow, entriesWithParents, entryOf } from "./entry-rows.js";

type StructureRow = Omit<OutlineRow, "isError"> & { readonly failed: 0 | 1 };

// The columns before the payload, so that a long payload's overflow pages are never read.
const structure = (db: Building<never>["db"]) =>
  db
    .selectFrom("entry")
    .select(["id", "seq", "parent_seq as parentSeq", "type", "role", "depth", "created_at_ms as createdAtMs", "preview"])
    .select((entry) => entry("failed_call_id", "is not", null).$castTo<0 | 1>().as("failed"))
    // SQLite answers this from the record's header, without the payload itself.
    .select((entry) => entry.fn<number>("octet_length", ["payload_json"]).as("payloadBytes"));

const page = query<{ session: SessionSeq; after: number; limit: number }, StructureRow>(({ db, p }) =>
  structure(db)
    .where("session_seq", "=", p.session)
    .where("seq", ">", p.after as EntrySeq)
    .orderBy("seq")
    .limit(p.limit),
);

/** Entries of a session in order of arrival, without bodies: parents always before children. */
export function outline(connection: Connection, session: SessionSeq, afterSeq: number, limit: number): readonly OutlineRow[] {
  return connection.all(page, { session, after: afterSeq, limit: rowLimit(limit) }).map(outlineRow);
}

const childrenOf = query<{ session: SessionSeq; parent: EntrySeq | null }, StructureRow>(({ db, p }) =>
  structure(db).where("session_seq", "=", p.session).where("parent_seq", "is", p.parent).orderBy("seq"),
);

/** The children of an entry, oldest first; null: the first entries of the session. */
export function children(connection: Connection, session: SessionSeq, parent: EntrySeq | null): readonly OutlineRow[] {
  return connection.all(childrenOf, { session, parent }).map(outlineRow);
}

const branchPointRows = query<{ session: SessionSeq }, StructureRow>(({ db, sql, p }) =>
  structure(db)
    .where(
      "seq",
      "in",
      db
        .selectFrom("entry")
        .select("parent_seq")
        .where("session_seq", "=", p.session)
        .groupBy("parent_seq")
        .having(sql<boolean>`count(*) > 1`) as never,
    )
    .orderBy("seq"),
);

/** Entries with more than one child, oldest first. Cost: one pass over an index of the session. */
export function branchPoints(connection: Connection, session: SessionSeq): readonly OutlineRow[] {
  return connection.all(branchPointRows, { session }).map(outlineRow);
}

const tipRows = query<{ session: SessionSeq }, StructureRow>(({ sql, p }) =>
  plain(sql<StructureRow>`
    SELECT id, seq, parent_seq AS parentSeq, type, role, depth, created_at_ms AS createdAtMs, preview, failed_call_id IS NOT NULL AS failed,
      octet_length(payload_json) AS payloadBytes
    FROM entry AS tip
    WHERE session_seq = ${p.session}
      AND NOT EXISTS (SELECT 1 FROM entry AS child WHERE child.session_seq = ${p.session} AND child.parent_seq = tip.seq)
    ORDER BY seq`),
);

/** Entries without a child, oldest first: the end of each branch. */
export function tips(connection: Connection, session: SessionSeq): readonly OutlineRow[] {
  return connection.all(tipRows, { session }).map(outlineRow);
}

// Member by member, because copying "the rest" of a row takes longer than reading it does.
function outlineRow(row: StructureRow): OutlineRow {
  const { id, seq, parentSeq, type, role, depth, createdAtMs, preview, payloadBytes } = row;
  return { id, seq, parentSeq, type, role, depth, createdAtMs, preview, isError: row.failed === 1, payloadBytes };
}

const since = query<{ session: SessionSeq; after: number; limit: number }, EntryRow>(({ db, p }) =>
  entriesWithParents(db)
    .where("entry.session_seq", "=", p.session)
    .where("entry.seq", ">", p.after as EntrySeq)
    .orderBy("entry.seq")
    .limit(p.limit),
);

/** Entries of a session that arrived after `afterSeq`, oldest first, whatever their branch. */
export function entriesSince(connection: Connection, session: SessionSeq, afterSeq: number, limit: number): readonly Entry[] {
  return connection.all(since, { session, after: afterSeq, limit: rowLimit(limit) }).map(entryOf);
}
