import { sql } from "kysely";
import type { SessionSeq } from "../../port/rows.js";
import type { Violation } from "../../port/session-storage.js";
import { findMetadataFault } from "../../rules/verify-rules.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { Rule } from "./rule.js";

/** The first format version with these tables. */
const SINCE = 5;

/** The rules of the derived tables that reads use: tips, branch points, counts by kind. */
export const DERIVED_RULES: readonly Rule[] = [
  {
    rule: "wrong-tip",
    since: SINCE,
    describe: ({ detail }) => (detail === 1 ? "it has children, and is among the tips" : "it has no children, and is not among the tips"),
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, tip.entry_seq IS NOT NULL AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq
        LEFT JOIN tip ON tip.session_seq = entry.session_seq AND tip.entry_seq = entry.seq
      WHERE ${within} AND (tip.entry_seq IS NULL) = NOT EXISTS (
        SELECT 1 FROM entry AS child WHERE child.session_seq = entry.session_seq AND child.parent_seq = entry.seq)`,
  },
  {
    rule: "wrong-tip",
    since: SINCE,
    describe: () => "whether it is a branch point differs from its number of children",
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq
        LEFT JOIN branch_point AS point ON point.session_seq = entry.session_seq AND point.entry_seq = entry.seq
      WHERE ${within} AND (point.entry_seq IS NULL) = (
        SELECT count(*) > 1 FROM entry AS child WHERE child.session_seq = entry.session_seq AND child.parent_seq = entry.seq)`,
  },
  {
    rule: "wrong-tip",
    since: SINCE,
    describe: ({ detail }) => `its tip or branch point in row ${detail} is no entry of it`,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, mark.entry_seq AS detail
      FROM (SELECT session_seq, entry_seq FROM tip UNION ALL SELECT session_seq, entry_seq FROM branch_point) AS mark
        JOIN session ON session.seq = mark.session_seq
        LEFT JOIN entry ON entry.seq = mark.entry_seq AND entry.session_seq = mark.session_seq
      WHERE ${within} AND entry.seq IS NULL`,
  },
  {
    rule: "wrong-count",
    since: SINCE,
    describe: ({ detail }) => `its count of entries of kind ${detail} differs from its entries`,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, counted.kind AS detail
      FROM (SELECT session_seq, kind, entries FROM kind_count
          UNION ALL SELECT session_seq, kind, -count(*) FROM entry GROUP BY session_seq, kind) AS counted
        JOIN session ON session.seq = counted.session_seq
      WHERE ${within} GROUP BY session.seq, counted.kind HAVING sum(counted.entries) <> 0`,
  },
];

const sessionsWithMetadata = query<{ id: string | null }, { id: string; seq: SessionSeq; metadata_json: string | null }>(({ sql, p }) =>
  rawQuery(sql<{ id: string; seq: SessionSeq; metadata_json: string | null }>`
    SELECT id, seq, metadata_json FROM session
    WHERE (${p.id} IS NULL OR id = ${p.id})
      AND (metadata_json IS NOT NULL OR EXISTS (SELECT 1 FROM session_metadata WHERE session_seq = session.seq))`),
);
const membersOf = query<{ session: SessionSeq }, { key: string; value: string }>(({ db, p }) =>
  db.selectFrom("session_metadata").select(["key", "value"]).where("session_seq", "=", p.session),
);

/** Finds sessions that are not found by the members of their metadata, or by others. */
export function* findMetadataViolations(connection: Connection, sessionId: string | undefined): Generator<Violation, void, void> {
  // Compared in JavaScript, which wrote the JSON of the values.
  for (const { id, seq, metadata_json } of connection.version < SINCE
    ? []
    : connection.all(sessionsWithMetadata, { id: sessionId ?? null })) {
    const fault = findMetadataFault(id, metadata_json, connection.all(membersOf, { session: seq }));
    if (fault !== undefined) yield { ...fault, sessionId: id, entryId: null };
  }
}
