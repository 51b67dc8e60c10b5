// Each entry at a depth that 16 divides has a waypoint: the entry on its path that is 16, 256, 4,096 or 65,536 above. A
// climb takes the waypoint where it does not lead past its goal, else the parent: at most about 30 steps for each power
// of 16 in the distance, where a walk took as many steps as there are entries between.
import type { RawBuilder, Sql } from "kysely";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq } from "../storage/schema.js";

/** The format version that has the table of waypoints. */
const SINCE_VERSION = 3;

/** How far a waypoint leads up, largest first. */
const STRIDES = [65_536, 4_096, 256, 16];

/** A file of an older version that was opened to be read stays as it is, and is walked. */
function hasWaypoints(connection: Connection): boolean {
  return !connection.readOnly || connection.version >= SINCE_VERSION;
}

// Parents are older, so a climb may stop at the first entry that is not younger than the one it looks for.
const climb = query<{ from: EntrySeq; to: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE up (seq, parent_seq) AS (
      SELECT seq, parent_seq FROM entry WHERE seq = ${p.from}
      UNION ALL
      SELECT above.seq, above.parent_seq
      FROM up LEFT JOIN entry_waypoint AS waypoint ON waypoint.entry_seq = up.seq AND waypoint.above_seq >= ${p.to}
        CROSS JOIN entry AS above ON above.seq = coalesce(waypoint.above_seq, up.parent_seq)
      WHERE up.seq > ${p.to} AND above.seq < up.seq)
    SELECT min(seq) AS seq FROM up`),
);

const walk = query<{ from: EntrySeq; to: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE ${upTo(sql, p.from, p.to)}
    SELECT min(seq) AS seq FROM up`),
);

/** Whether `ancestor` is on the path of `seq` (or is it). Cost: the logarithm of the entries between them. */
export function isOnPath(connection: Connection, ancestor: EntrySeq, seq: EntrySeq | null): boolean {
  if (seq === null || ancestor > seq) return false;
  if (ancestor === seq) return true;
  return connection.get(hasWaypoints(connection) ? climb : walk, { from: seq, to: ancestor })?.seq === ancestor;
}

interface Step {
  readonly seq: EntrySeq;
  readonly parent: EntrySeq | null;
  readonly depth: number;
}

const stepAt = query<{ seq: EntrySeq }, Step>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "parent_seq as parent", "depth"]).where("seq", "=", p.seq),
);
const waypointOf = query<{ seq: EntrySeq }, { above: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry_waypoint").select("above_seq as above").where("entry_seq", "=", p.seq),
);

const climbToDepth = query<{ from: EntrySeq; depth: number }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE up (seq, parent_seq, depth) AS (
      SELECT seq, parent_seq, depth FROM entry WHERE seq = ${p.from}
      UNION ALL
      SELECT above.seq, above.parent_seq, above.depth
      FROM up CROSS JOIN entry AS above ON above.seq = coalesce(
        (SELECT goal.seq FROM entry_waypoint CROSS JOIN entry AS goal ON goal.seq = above_seq WHERE entry_seq = up.seq AND goal.depth >= ${p.depth}),
        up.parent_seq)
      WHERE up.depth > ${p.depth} AND above.seq < up.seq)
    SELECT seq FROM up WHERE depth = ${p.depth}`),
);

const insertWaypoint = query<{ entry: EntrySeq; above: EntrySeq }>(({ db, p }) =>
  db.insertInto("entry_waypoint").values({ entry_seq: p.entry, above_seq: p.above }),
);

/** Gives a new entry its waypoint, if its depth has one. Call it inside `write`. */
export function addWaypoint(connection: Connection, seq: EntrySeq, parent: EntrySeq | null, depth: number): void {
  if (parent === null || depth % 16 !== 0) return;
  const stride = STRIDES.find((one) => depth % one === 0) ?? 16;
  const above = connection.get(climbToDepth, { from: parent, depth: depth - stride })?.seq;
  // Missing only where damage has broken the path; climbs then go from parent to parent.
  if (above !== undefined) connection.run(insertWaypoint, { entry: seq, above });
}

/** The deepest entry on both paths; null: none. Cost: the logarithm of the entries between them. */
export function commonAncestor(connection: Connection, one: EntrySeq, other: EntrySeq): EntrySeq | null {
  let [a, b] = [connection.get(stepAt, { seq: one }), connection.get(stepAt, { seq: other })];
  const known = hasWaypoints(connection);
  while (a !== undefined && b !== undefined && a.seq !== b.seq) {
    if (a.depth !== b.depth) {
      const [deeper, higher]: [Step, Step] = a.depth > b.depth ? [a, b] : [b, a];
      [a, b] = [stepUp(connection, deeper, known, higher.depth), higher];
      continue;
    }
    // At one depth both have waypoints of one stride. Where they lead to one entry, that one may be above the deepest.
    const [overA, overB]: [Step | undefined, Step | undefined] = [stepUp(connection, a, known, 0), stepUp(connection, b, known, 0)];
    const parted = overA !== undefined && overB !== undefined && overA.seq !== overB.seq && overA.depth === overB.depth;
    [a, b] = parted ? [overA, overB] : [parentOf(connection, a), parentOf(connection, b)];
  }
  return a !== undefined && a.seq === b?.seq ? a.seq : null;
}

/** The waypoint, where it is not above `depth`; else the parent. */
function stepUp(connection: Connection, from: Step, known: boolean, depth: number): Step | undefined {
  const above = known && from.depth % 16 === 0 ? connection.get(waypointOf, { seq: from.seq })?.above : undefined;
  const goal = above === undefined ? undefined : connection.get(stepAt, { seq: above });
  return goal !== undefined && goal.depth >= depth ? goal : parentOf(connection, from);
}

function parentOf(connection: Connection, { seq, parent }: Step): Step | undefined {
  // Only ever to an older entry, so that it ends also where damage has made a circle.
  return parent === null || parent >= seq ? undefined : connection.get(stepAt, { seq: parent });
}

// The walk that everything in a tree is made of, as the common table `up (seq, parent_seq)`: from an entry to its parent,
// and on. Parents are older, so a walk knows when to stop, and one that only ever goes to older entries comes to an end
// also where damage has made a circle. `from`, `last` and `limit` are placeholders for rows, or rows.

function up(sql: Sql, from: unknown, goesOn: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`up (seq, parent_seq) AS (
      SELECT seq, parent_seq FROM entry WHERE seq = ${from}
      UNION ALL
      SELECT entry.seq, entry.parent_seq FROM up JOIN entry ON entry.seq = up.parent_seq AND entry.seq < up.seq ${goesOn}
    )`;
}

/** From `from` up to the first entry of its path. */
export function upToStart(sql: Sql, from: unknown): RawBuilder<unknown> {
  return up(sql, from, sql``);
}

/** From `from` up to `last`, or to the next older entry where `last` is not on the path. */
export function upTo(sql: Sql, from: unknown, last: unknown): RawBuilder<unknown> {
  return up(sql, from, sql`WHERE up.seq > ${last}`);
}

/** From `from` up as long as entries are younger than `limit`. */
export function upAbove(sql: Sql, from: unknown, limit: unknown): RawBuilder<unknown> {
  return up(sql, from, sql`WHERE entry.seq > ${limit}`);
}
