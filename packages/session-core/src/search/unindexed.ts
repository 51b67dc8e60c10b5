import { type RawBuilder, sql } from "kysely";
import type { SearchHit } from "../port/search-records.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery, plain } from "../storage/query.js";
import { all } from "./conditions.js";
import { HIT_COLUMNS, type HitRow, hitOf } from "./hits.js";
import { indexedSeq, textOfRow } from "./index-batch.js";
import type { SearchTerm } from "./query-syntax.js";
import { fold, termPattern } from "./snippet.js";

/** How many entries are read at once. */
const SCANNED_AT_ONCE = 500;

/** Hits among the entries that the index does not have, newest first. Reads each of them. */
export function unindexedHits(
  connection: Connection,
  terms: readonly SearchTerm[],
  conditions: readonly RawBuilder<boolean>[],
): readonly SearchHit[] {
  const hits: SearchHit[] = [];
  const patterns = terms.map((term) => new RegExp(termPattern(term), "u"));
  for (let after: number = indexedSeq(connection); ; ) {
    const rows = connection.all(
      onceQuery<HitRow>(() =>
        plain(sql<HitRow>`
          SELECT ${sql.raw(HIT_COLUMNS)}
          FROM entry JOIN session ON session.seq = entry.session_seq
          WHERE entry.seq > ${after} AND ${all(conditions)} ORDER BY entry.seq LIMIT ${SCANNED_AT_ONCE}`),
      ),
      {},
    );
    for (const row of rows) {
      const text = fold(textOfRow(row));
      if (patterns.every((pattern) => pattern.test(text))) hits.push(hitOf(row, terms));
    }
    const last = rows.at(-1);
    if (last === undefined) return hits.reverse();
    after = last.seq;
  }
}
