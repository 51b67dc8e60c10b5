// The numbers of levels that waypoints lead up, largest first. A waypoint of 256 exists where 256 divides the depth and 4,096 does not.
const STRIDES = [65_536, 4_096, 256, 16] as const;

/**
 * Returns the SQL that inserts the waypoints of one stride for existing entries, climbing by the shorter waypoints. An entry with
 * a wrong depth gets none; climbs then follow parents, and `verify` reports it.
 */
function backfill(stride: number): string {
  return `WITH found (entry_seq, above_seq) AS MATERIALIZED (
     SELECT entry.seq, (
       WITH RECURSIVE up (seq, parent_seq, depth) AS (
         SELECT entry.seq, entry.parent_seq, entry.depth
         UNION ALL
         SELECT above.seq, above.parent_seq, above.depth FROM up
           CROSS JOIN entry AS above ON above.seq = coalesce((SELECT above_seq FROM entry_waypoint WHERE entry_seq = up.seq), up.parent_seq)
         WHERE up.depth > entry.depth - ${stride} AND above.seq < up.seq)
       SELECT seq FROM up WHERE up.depth = entry.depth - ${stride})
     FROM entry
     WHERE entry.depth > 0 AND entry.depth % ${stride} = 0 AND (${stride} = ${STRIDES[0]} OR entry.depth % ${stride * 16} <> 0))
     INSERT INTO entry_waypoint (entry_seq, above_seq) SELECT entry_seq, above_seq FROM found WHERE above_seq IS NOT NULL`;
}

/**
 * Indexes for three queries that were linear in the store or path: whether an entry is above another, a page of sessions, and
 * the compactions and edits of a session.
 */
export const ancestorsAndActivity = {
  name: "0003-ancestors-and-activity",
  statements: [
    `CREATE TABLE entry_waypoint (
       entry_seq INTEGER PRIMARY KEY REFERENCES entry (seq) ON DELETE CASCADE, -- at a depth that 16 divides
       above_seq INTEGER NOT NULL                   -- the entry on its path that is 16, 256, 4096 or 65536 above: the largest that divides its depth
     ) STRICT`,
    ...[...STRIDES].reverse().map(backfill),
    // The order of session lists: an index also contains the row number.
    `CREATE INDEX session_by_activity ON session (active_at_ms)`,
    // A partial index: few entries of a session match.
    `CREATE INDEX entry_marks ON entry (session_seq, type, role) WHERE type = 'compaction' OR type = 'context_edit' OR role = 'system'`,
  ],
};
