// A run is a line of entries with consecutive numbers, each the parent of the next (schema.ts). The path of an entry is a chain of
// ranges: from the entry up to the start of its run, from the parent of that start up to the start of its own run, and so on. Parents
// have lower numbers, so every chain ends. Its cost is one look-up for each run that the path goes through.

import type { SessionId } from "@bough/session-core";
import { countBefore, type EntrySeq } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { ofSession } from "./session-key.js";

/** Consecutive entries of a path, by their numbers; both ends included. */
export interface PathRange {
  readonly first: EntrySeq;
  readonly last: EntrySeq;
  /** The parent of the first; null: it is a first entry of the session. */
  readonly above: EntrySeq | null;
}

/** The greatest number that an entry can have. */
export const MAX_SEQ = 2_147_483_647;

/** The parameters that identify a session in the SQL of this file. */
type InSession = Always & { readonly session: SessionId };

/** The part of a path to read. Members are parameters or SQL. */
interface PathPart {
  /** Its last entry. */
  readonly from: unknown;
  /** Up to the range that includes this entry or is above it; 0: up to a first entry of the session. */
  readonly stop: unknown;
  /** At most the ranges with this many entries; default: all. */
  readonly entries?: unknown;
}

/**
 * SQL of the path of an entry, as the recursive table `range (first, last, above, room)`, from the entry upwards; for `WITH RECURSIVE`. The
 * last range may begin before `stop`. `room`: how many entries are wanted of this range and those above it.
 */
export function rangesUp(sql: Sql, p: InSession, { from, stop, entries = MAX_SEQ }: PathPart): RawBuilder<unknown> {
  const runOf = (seq: RawBuilder<unknown>) => sql`
    SELECT start_seq, parent_seq FROM run WHERE ${ofSession(sql, p, "run")} AND start_seq <= ${seq} ORDER BY start_seq DESC LIMIT 1`;
  return sql`range (first, last, above, room) AS (
      SELECT run.start_seq, ${from}::integer, run.parent_seq, ${entries}::integer FROM (${runOf(sql`${from}::integer`)}) AS run
      UNION ALL
      SELECT run.start_seq, range.above, run.parent_seq, range.room - (range.last - range.first + 1)
      FROM range CROSS JOIN LATERAL (${runOf(sql`range.above`)}) AS run
      WHERE range.first > ${stop}::integer AND range.room > range.last - range.first + 1)`;
}

/**
 * SQL of the runs of a session that start, or whose first entry has its parent, from one number to another, which can be columns of the tables
 * before it. The range, its order and `OFFSET 0` make each a look-up in an index: a join of the runs with themselves could compare each with each.
 */
export function runsFrom(
  sql: Sql,
  p: Always,
  session: RawBuilder<unknown>,
  key: "start_seq" | "parent_seq",
  from: RawBuilder<unknown>,
  to = from,
): RawBuilder<unknown> {
  const column = sql.ref(`named.${key}`);
  return sql`(SELECT * FROM run AS named WHERE named.tenant = ${p.tenant} AND named.session_id = ${session} AND ${column} >= ${from} AND ${column} <= ${to}
      ORDER BY ${column} OFFSET 0)`;
}

const rangesOf = pgQuery<{ session: SessionId; from: number; stop: number }, PathRange>(({ sql, p }) =>
  pgRaw(sql<PathRange>`WITH RECURSIVE ${rangesUp(sql, p, { from: p.from, stop: p.stop })} SELECT first, last, above FROM range`),
);

/**
 * Reads the path of an entry as ranges, from the entry upwards; the last of them is the one that includes `stop` or is above it. Cost:
 * the runs that this part of the path goes through.
 */
export async function readRanges(database: Database, session: SessionId, from: number, stop = 0): Promise<readonly PathRange[]> {
  return database.all(rangesOf, { session, from, stop });
}

const onPath = pgQuery<{ session: SessionId; from: number; stop: number }, { found: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ found: boolean }>`
    WITH RECURSIVE ${rangesUp(sql, p, { from: p.from, stop: p.stop })}
    SELECT EXISTS (SELECT 1 FROM range WHERE first <= ${p.stop}::integer AND last >= ${p.stop}::integer) AS found`),
);

/** True if `ancestor` is `seq` or above it. Both are entries of the session. Cost: the runs between them. */
export async function isOnPath(database: Database, session: SessionId, ancestor: EntrySeq, seq: EntrySeq | null): Promise<boolean> {
  if (seq === null || ancestor > seq) return false;
  if (ancestor === seq) return true;
  return (await database.get(onPath, { session, from: seq, stop: ancestor }))?.found === true;
}

/** Returns the run of an entry: the last of its session, in the order of their starts, that starts at or before it. O(log n). */
export function runAt<R extends { readonly start: EntrySeq }>(runs: readonly R[], seq: number): R | undefined {
  return runs[countBefore(runs.length, (at) => (runs[at]?.start ?? 0) <= seq) - 1];
}

/** The deepest entry of both paths, which are ranges from their ends upwards; null if they share none. */
export function lastShared(one: readonly PathRange[], other: readonly PathRange[]): EntrySeq | null {
  for (let a = 0, b = 0; ; ) {
    const [left, right] = [one[a], other[b]];
    if (left === undefined || right === undefined) return null;
    // Two ranges with the same first entry are of the same run, so both paths have it up to the end of the shorter one.
    if (left.first === right.first) return left.last < right.last ? left.last : right.last;
    if (left.first > right.first) a += 1;
    else b += 1;
  }
}
