import { sql } from "kysely";
import { ORIGIN_FAULTS } from "../../rules/verify-rules.js";
import type { Rule } from "./rule.js";

/** The first format version with origins. */
const SINCE = 9;

/** The entry that `entry.origin` refers to, as `known`. */
const REFERRED = sql`session AS source CROSS JOIN entry AS known
  ON known.session_seq = source.seq AND known.id = substr(entry.origin, instr(entry.origin, ' ') + 1)
  WHERE source.id = substr(entry.origin, 1, instr(entry.origin, ' ') - 1)`;

/** Entries that count as originals and have the origin of `entry`, in other sessions. */
const COUNTED = sql`entry AS other JOIN session AS holder ON holder.seq = other.session_seq
  WHERE other.origin = entry.origin AND other.session_seq <> entry.session_seq AND other.inherited = 0`;

/** The rules of copies: each request counts once. */
export const ORIGIN_RULES: readonly Rule[] = [
  {
    rule: "wrong-origin",
    since: SINCE,
    describe: () => ORIGIN_FAULTS.chain,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail FROM entry JOIN session ON session.seq = entry.session_seq
      WHERE ${within} AND instr(entry.origin, ' ') > 0 AND EXISTS (SELECT 1 FROM ${REFERRED} AND known.origin IS NOT NULL)`,
  },
  {
    rule: "wrong-origin",
    since: SINCE,
    describe: ({ detail }) => ORIGIN_FAULTS.twice(String(detail)),
    broken: (within) => sql`
      SELECT session_id, entry_id, detail FROM (
        SELECT session.id AS session_id, entry.id AS entry_id, coalesce(
          (SELECT source.id FROM ${REFERRED} AND known.origin IS NULL AND known.inherited = 0), (SELECT min(holder.id) FROM ${COUNTED})) AS detail
        FROM entry JOIN session ON session.seq = entry.session_seq WHERE ${within} AND entry.origin IS NOT NULL AND entry.inherited = 0)
      WHERE detail IS NOT NULL`,
  },
  {
    rule: "wrong-origin",
    since: SINCE,
    describe: () => ORIGIN_FAULTS.nowhere,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail FROM entry JOIN session ON session.seq = entry.session_seq
      WHERE ${within} AND entry.inherited = 1 AND entry.origin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${COUNTED})
        AND NOT EXISTS (SELECT 1 FROM ${REFERRED} AND known.origin IS NULL AND known.inherited = 0)`,
  },
];
