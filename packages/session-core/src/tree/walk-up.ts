import type { RawBuilder, Sql } from "kysely";

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
