import type { Entry } from "../../entry/entry.js";
import { InvalidReferenceError } from "../../errors/session-errors.js";
import type { EntryId } from "../../ids/ids.js";
import type { Page, PathScanFrom } from "../../port/records.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../port/rows.js";
import { rowLimit } from "../../rules/row-limit.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { SessionRef } from "../sessions/session-rows.js";
import { isOnPath, walkUpAbove } from "./ancestry.js";
import { ENTRY_COLUMNS, ENTRY_JOINS, type EntryRow, requireEntrySeq, toEntry } from "./entry-rows.js";

interface ScanParameters {
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
// so its cost does not depend on the depth of the path. CROSS JOIN keeps the order of the walk; otherwise the planner reads
// `entry` first, in the order of that table.
const scanUp = query<ScanParameters, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    WITH RECURSIVE ${walkUpAbove(sql, p.from, p.stop)}
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
export function scanPath(connection: Connection, session: SessionRef, scan: PathScanFrom): Page<Entry> {
  const { leaf, stopAt } = resolveEnds(connection, session, scan.leafId, scan.stopAt);
  if (leaf === null || leaf === stopAt) return { items: [], next: null };
  const up = (scan.order ?? "up") === "up";
  const cursor = scan.cursor === undefined ? undefined : toEntrySeq(Number(scan.cursor));
  const limit = rowLimit(scan.limit ?? Number.POSITIVE_INFINITY);
  const rows = connection.all(up ? scanUp : scanDown, {
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

function resolveEnds(connection: Connection, session: SessionRef, leafId: EntryId | null, stopAt: EntryId | undefined) {
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
  session: SessionRef,
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
export function readEntriesAt(connection: Connection, session: SessionRef, seqs: readonly number[]): readonly Entry[] {
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
export function findEntryIds(connection: Connection, session: SessionRef, prefix: string, limit: number): readonly EntryId[] {
  return connection.all(startingWith, { session: session.seq, prefix, limit }).map((row) => row.id);
}
