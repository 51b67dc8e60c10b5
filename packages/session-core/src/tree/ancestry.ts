import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq } from "../storage/schema.js";
import { upTo } from "./walk-up.js";

// Parents are older, so a walk up may stop at the first entry that is not younger than the one it looks for.
const climb = query<{ from: EntrySeq; to: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE ${upTo(sql, p.from, p.to)}
    SELECT min(seq) AS seq FROM up`),
);

/** Whether `ancestor` is on the path of `seq` (or is it). Cost: the entries between them. */
export function isOnPath(connection: Connection, ancestor: EntrySeq, seq: EntrySeq | null): boolean {
  if (seq === null) return false;
  return connection.get(climb, { from: seq, to: ancestor })?.seq === ancestor;
}

const parents = query<{ seq: EntrySeq }, { parent_seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("entry").select("parent_seq").where("seq", "=", p.seq),
);

/** The deepest entry on both paths; null: none. Whichever is younger cannot be above the other, so it climbs. */
export function commonAncestor(connection: Connection, one: EntrySeq, other: EntrySeq): EntrySeq | null {
  let a: EntrySeq | null = one;
  let b: EntrySeq | null = other;
  while (a !== b) {
    if (a === null || b === null) return null;
    if (a > b) a = connection.get(parents, { seq: a })?.parent_seq ?? null;
    else b = connection.get(parents, { seq: b })?.parent_seq ?? null;
  }
  return a;
}
