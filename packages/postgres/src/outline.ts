import type { EntryId, EntryListing, OutlineRow } from "@bough/session-core";
import { type EntrySeq, rowLimit, type SessionKey, toEntryKind } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { PgDatabase } from "./database.js";
import { joinEntries, listOf, possibleSeqs, requireSeq } from "./entries.js";
import { type Always, type PgEntry, pgQuery, pgRaw } from "./query.js";
import { MAX_SEQ, rangesUp, runsFrom } from "./runs.js";
import { type KeyParameters, keyParameters, ofSession, requireSession, rowsOf, sessionExists } from "./session-key.js";

type Row = Pick<
  PgEntry,
  "seq" | "parent_seq" | "kind" | "depth" | "created_at_ms" | "preview" | "is_error" | "payload_bytes" | "custom_type"
> & {
  readonly id: EntryId;
};

const COLUMNS = `entry.id, entry.seq, entry.parent_seq, entry.kind, entry.depth, entry.created_at_ms, entry.preview,
  entry.is_error, entry.payload_bytes, entry.custom_type`;

function toOutlineRow(row: Row): OutlineRow {
  const { type, role } = toEntryKind(row.kind);
  return {
    id: row.id,
    seq: row.seq,
    parentSeq: row.parent_seq,
    type,
    role,
    depth: row.depth,
    createdAtMs: row.created_at_ms,
    preview: row.preview,
    isError: row.is_error,
    payloadBytes: row.payload_bytes,
    customType: row.custom_type,
  };
}

const outlinePage = listOf<Row>(COLUMNS);

/** Returns a page of the outline in order of arrival: parents before children, unless the newest come first. */
export async function readOutline(database: PgDatabase, key: SessionKey, listing: EntryListing): Promise<readonly OutlineRow[]> {
  return (await outlinePage(database, key, listing)).map(toOutlineRow);
}

// The first entry of each run below the parent, and the next one, which continues the run of the parent unless it has another parent.
const childrenOf = pgQuery<KeyParameters & { id: EntryId }, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    SELECT ${sql.raw(COLUMNS)}
    FROM entry AS parent CROSS JOIN LATERAL (
        SELECT start_seq AS seq FROM ${runsFrom(sql, p, sql`${p.session}`, "parent_seq", sql`parent.seq`)} AS run
        UNION SELECT parent.seq + 1) AS child
      ${joinEntries(sql, p, "seq", sql`child.seq`)}
    WHERE entry.parent_seq = parent.seq AND ${ofSession(sql, p, "parent")} AND parent.id = ${p.id} AND ${sessionExists(sql, p)}
    ORDER BY entry.seq`),
);

const firstEntries = pgQuery<KeyParameters, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    SELECT ${sql.raw(COLUMNS)} FROM run ${joinEntries(sql, p, "seq", sql`run.start_seq`)}
    WHERE ${ofSession(sql, p, "run")} AND run.parent_seq IS NULL AND ${sessionExists(sql, p)}
    ORDER BY entry.seq`),
);

/** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function listChildren(database: PgDatabase, key: SessionKey, id: EntryId | null): Promise<readonly OutlineRow[]> {
  const parameters = keyParameters(key);
  const rows = await (id === null ? database.all(firstEntries, parameters) : database.all(childrenOf, { ...parameters, id }));
  if (rows.length === 0) await (id === null ? requireSession(database, key) : requireSeq(database, key, id));
  return rows.map(toOutlineRow);
}

// An entry has a child for each run below it, and one more unless its own run ends with it.
const branchPoints = pgQuery<KeyParameters, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    SELECT ${sql.raw(COLUMNS)}
    FROM (SELECT run.parent_seq AS seq, count(*) AS runs FROM run
        WHERE ${ofSession(sql, p, "run")} AND run.parent_seq IS NOT NULL GROUP BY run.parent_seq) AS branch
      ${joinEntries(sql, p, "seq", sql`branch.seq`)}
      LEFT JOIN LATERAL ${runsFrom(sql, p, sql`${p.session}`, "start_seq", sql`branch.seq + 1`)} AS next ON TRUE
      JOIN session ON ${ofSession(sql, p, "session")} AND session.seq = coalesce(${p.sessionSeq}::bigint, session.seq)
    WHERE branch.runs > 1 OR (next.start_seq IS NULL AND branch.seq < session.last_seq)
    ORDER BY entry.seq`),
);

/** Returns the entries with more than one child, oldest first. Cost: the runs of the session. */
export async function listBranchPoints(database: PgDatabase, key: SessionKey): Promise<readonly OutlineRow[]> {
  return (await rowsOf(database, key, branchPoints, {})).map(toOutlineRow);
}

const tips = pgQuery<KeyParameters, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    SELECT ${sql.raw(COLUMNS)}
    FROM (${runEnds(sql, p)}) AS ended ${joinEntries(sql, p, "seq", sql`ended.seq`)}
    WHERE NOT EXISTS (SELECT 1 FROM ${runsFrom(sql, p, sql`${p.session}`, "parent_seq", sql`ended.seq`)} AS below)
    ORDER BY entry.seq`),
);

/** SQL of the last entry of each run of a session, as `seq`. */
function runEnds(sql: Sql, p: Always & KeyParameters): RawBuilder<unknown> {
  return sql`SELECT coalesce(lead(run.start_seq) OVER (ORDER BY run.start_seq) - 1, session.last_seq) AS seq
    FROM run JOIN session ON ${ofSession(sql, p, "session")} AND session.seq = coalesce(${p.sessionSeq}::bigint, session.seq)
    WHERE ${ofSession(sql, p, "run")}`;
}

/** Returns the entries without children, oldest first. Cost: the runs of the session. */
export async function listTips(database: PgDatabase, key: SessionKey): Promise<readonly OutlineRow[]> {
  return (await rowsOf(database, key, tips, {})).map(toOutlineRow);
}

// The entries below one are the rest of its run, the runs below these, and so on. Children are newer, so the newest of them has none.
const newestBelow = pgQuery<KeyParameters & { id: EntryId }, { id: EntryId }>(({ sql, p }) => {
  const endAfter = (seq: RawBuilder<unknown>) => sql`coalesce(
    (SELECT next.start_seq - 1 FROM run AS next WHERE ${ofSession(sql, p, "next")} AND next.start_seq > ${seq} ORDER BY next.start_seq LIMIT 1),
    (SELECT last_seq FROM session WHERE ${ofSession(sql, p, "session")}))`;
  return pgRaw(sql<{ id: EntryId }>`
    WITH RECURSIVE below (first, last) AS (
      SELECT entry.seq, ${endAfter(sql`entry.seq`)} FROM entry WHERE ${ofSession(sql, p, "entry")} AND entry.id = ${p.id} AND ${sessionExists(sql, p)}
      UNION ALL
      SELECT run.start_seq, ${endAfter(sql`run.start_seq`)}
      FROM below CROSS JOIN LATERAL ${runsFrom(sql, p, sql`${p.session}`, "parent_seq", sql`below.first`, sql`below.last`)} AS run)
    SELECT id FROM entry WHERE ${ofSession(sql, p, "entry")} AND seq = (SELECT max(last) FROM below)`);
});

/** Returns the newest entry without children below an entry, or the entry itself. Cost: the runs below it. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function findTipBelow(database: PgDatabase, key: SessionKey, id: EntryId): Promise<EntryId> {
  const tip = await database.get(newestBelow, { ...keyParameters(key), id });
  if (tip === undefined) await requireSeq(database, key, id);
  return tip?.id ?? id;
}

const pathRows = pgQuery<KeyParameters & { id: EntryId; limit: number }, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    WITH RECURSIVE
    leaf_entry AS MATERIALIZED (SELECT seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND id = ${p.id} AND ${sessionExists(sql, p)}),
    ${rangesUp(sql, p, { from: sql`(SELECT seq FROM leaf_entry)`, stop: 0, entries: p.limit })}
    SELECT ${sql.raw(COLUMNS)}
    FROM range ${joinEntries(sql, p, "seq", sql`greatest(range.first, range.last - range.room + 1)`, sql`range.last`)}
    ORDER BY entry.seq DESC`),
);

/** Returns the rows of a path from the leaf upwards, at most `limit`. Cost: these rows. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function readOutlinePath(
  database: PgDatabase,
  key: SessionKey,
  leafId: EntryId | null,
  limit: number,
): Promise<readonly OutlineRow[]> {
  const most = Math.min(rowLimit(limit), MAX_SEQ);
  const rows = leafId === null || most === 0 ? [] : await database.all(pathRows, { ...keyParameters(key), id: leafId, limit: most });
  if (rows.length === 0) await (leafId === null ? requireSession(database, key) : requireSeq(database, key, leafId));
  return rows.map(toOutlineRow);
}

const rowsAt = pgQuery<KeyParameters & { seqs: readonly number[] }, Row>(({ sql, p }) =>
  pgRaw(sql<Row>`
    SELECT ${sql.raw(COLUMNS)}
    FROM unnest(${p.seqs}::integer[]) AS wanted (seq) ${joinEntries(sql, p, "seq", sql`wanted.seq`)}
    WHERE ${sessionExists(sql, p)} ORDER BY entry.seq`),
);

/** Returns rows by their order of arrival, oldest first. Ignores numbers that the session does not have. */
export async function readOutlineAt(database: PgDatabase, key: SessionKey, seqs: readonly EntrySeq[]): Promise<readonly OutlineRow[]> {
  return (await rowsOf(database, key, rowsAt, { seqs: possibleSeqs(seqs) })).map(toOutlineRow);
}
