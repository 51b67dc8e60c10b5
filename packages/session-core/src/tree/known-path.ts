import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq } from "../storage/schema.js";
import { upTo } from "./walk-up.js";

const climb = query<{ from: EntrySeq; to: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE ${upTo(sql, p.from, p.to)}
    SELECT seq FROM up ORDER BY seq DESC`),
);

/**
 * The rows of one path, from its end up as far as they were asked for. A batch that edits a thousand entries climbs the
 * path to the oldest of them once, and not a thousand times (4,000 edits far up a path of 20,000 entries: 1 s instead of 76).
 * Lives as long as its batch: under the lock of the write, a path only grows.
 */
export class KnownPath {
  #end: EntrySeq | null = null;
  /** Every entry of the path of `end` from this one on is known. */
  #oldest: EntrySeq | null = null;
  #known = new Set<EntrySeq>();

  constructor(private readonly connection: Connection) {}

  /** Whether `ancestor` is on the path of `tip` (or is it). Cost: the entries between them that were not asked for before. */
  has(ancestor: EntrySeq, tip: EntrySeq | null): boolean {
    if (tip === null) return false;
    if (tip !== this.#end || this.#oldest === null) {
      this.#end = tip;
      this.#oldest = tip;
      this.#known = new Set([tip]);
    }
    return this.#known.has(ancestor) || (ancestor < this.#oldest && this.#climb(this.#oldest, ancestor));
  }

  #climb(from: EntrySeq, to: EntrySeq): boolean {
    for (const { seq } of this.connection.all(climb, { from, to })) {
      this.#known.add(seq);
      this.#oldest = seq;
    }
    return this.#known.has(to);
  }

  /** Takes in that `seq` was written under `parent`. */
  grow(parent: EntrySeq | null, seq: EntrySeq): void {
    if (parent === null || parent !== this.#end) return;
    this.#known.add(seq);
    this.#end = seq;
  }
}
