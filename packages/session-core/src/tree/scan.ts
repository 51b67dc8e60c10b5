import type { Entry } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";
import type { Page, PathScan } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { plain, query, rowLimit } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import { upAbove } from "./ancestry.js";
import { ENTRY_COLUMNS, type EntryRow, entryOf } from "./entry-rows.js";

/** A path scan with its ids resolved. */
export interface ResolvedScan extends Pick<PathScan, "order" | "types" | "roles" | "limit" | "cursor"> {
  readonly leaf: EntrySeq | null;
  /** Only entries younger than this one. */
  readonly stopAt: EntrySeq | null;
}

interface ScanParameters {
  from: EntrySeq;
  stop: number;
  /** JSON array of the types to give; "[]": all. */
  types: string;
  roles: string;
  after: number;
  limit: number;
}

// The walk reads structure only; payloads are read for the rows that are given. An upward page starts where the last
// one ended, so a page costs what it shows, however deep the path. CROSS JOIN keeps the order of the walk: the planner
// would otherwise read `entry` first, in its own order.
const scanUp = query<ScanParameters, EntryRow>(({ sql, p }) =>
  plain(sql<EntryRow>`
    WITH RECURSIVE ${upAbove(sql, p.from, p.stop)}
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM up CROSS JOIN entry ON entry.seq = up.seq LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
    WHERE (json_array_length(${p.types}) = 0 OR entry.type IN (SELECT value FROM json_each(${p.types})))
      AND (json_array_length(${p.roles}) = 0 OR entry.role IN (SELECT value FROM json_each(${p.roles})))
      AND entry.seq < ${p.after}
    LIMIT ${p.limit}`),
);

const scanDown = query<ScanParameters, EntryRow>(({ sql, p }) =>
  plain(sql<EntryRow>`
    WITH RECURSIVE ${upAbove(sql, p.from, p.stop)},
    down (seq) AS MATERIALIZED (SELECT seq FROM up WHERE seq > ${p.after} ORDER BY seq)
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM down CROSS JOIN entry ON entry.seq = down.seq LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
    WHERE (json_array_length(${p.types}) = 0 OR entry.type IN (SELECT value FROM json_each(${p.types})))
      AND (json_array_length(${p.roles}) = 0 OR entry.role IN (SELECT value FROM json_each(${p.roles})))
    ORDER BY down.seq
    LIMIT ${p.limit}`),
);

/** Entries of a path, up or down, a page at a time; the cursor of a page is the last entry it gave. */
export function scanPath(connection: Connection, scan: ResolvedScan): Page<Entry> {
  if (scan.leaf === null || scan.leaf === scan.stopAt) return { items: [], next: null };
  const up = (scan.order ?? "up") === "up";
  const limit = rowLimit(scan.limit ?? Number.POSITIVE_INFINITY);
  const rows = connection.all(up ? scanUp : scanDown, {
    from: up && scan.cursor !== undefined ? (Number(scan.cursor) as EntrySeq) : scan.leaf,
    stop: scan.stopAt ?? 0,
    types: JSON.stringify(scan.types ?? []),
    roles: JSON.stringify(scan.roles ?? []),
    after: scan.cursor === undefined ? (up ? Number.MAX_SAFE_INTEGER : 0) : Number(scan.cursor),
    limit: limit + 1,
  });
  const items = rows.slice(0, limit).map(entryOf);
  return { items, next: rows.length > limit ? String(items.at(-1)?.seq) : null };
}

const seqsUp = query<{ from: EntrySeq; stop: number }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE ${upAbove(sql, p.from, p.stop)}
    SELECT seq FROM up ORDER BY seq`),
);

/** The rows of a path, oldest first; `stopAt`: only those below it. */
export function pathSeqs(connection: Connection, leaf: EntrySeq, stopAt: EntrySeq | null): readonly EntrySeq[] {
  return connection
    .all(seqsUp, { from: leaf, stop: stopAt ?? 0 })
    .map(({ seq }) => seq)
    .filter((seq) => seq !== stopAt);
}

const rowsIn = query<{ session: SessionSeq; seqs: string }, EntryRow>(({ sql, p }) =>
  plain(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM json_each(${p.seqs}) AS wanted CROSS JOIN entry ON entry.seq = wanted.value
      LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
    WHERE entry.session_seq = ${p.session} ORDER BY entry.seq`),
);

/** Entries by row, oldest first. */
export function entriesAt(connection: Connection, session: SessionSeq, seqs: readonly number[]): readonly Entry[] {
  return connection.all(rowsIn, { session, seqs: JSON.stringify(seqs) }).map(entryOf);
}

const startingWith = query<{ session: number; prefix: string; limit: number }, { id: EntryId }>(({ db, sql, p }) =>
  db
    .selectFrom("entry")
    .select("id")
    .where(sql<boolean>`session_seq = ${p.session}`)
    // A range of the index, not a pattern: everything that starts with the prefix sorts before the prefix with the last character.
    .where("id", ">=", p.prefix)
    .where(sql<boolean>`id < ${p.prefix} || char(0x10ffff)`)
    .limit(p.limit),
);

/** Ids of a session that start with `prefix`. */
export function entriesStartingWith(connection: Connection, session: number, prefix: string, limit: number): readonly EntryId[] {
  return connection.all(startingWith, { session, prefix, limit }).map((row) => row.id);
}
