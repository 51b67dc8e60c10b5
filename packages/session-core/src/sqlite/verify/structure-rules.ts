import { sql } from "kysely";
import { quoted } from "../../ids/ids.js";
import type { Violation } from "../../port/session-storage.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery } from "../query.js";
import { type BrokenRow, DERIVED_RULES, ORIGIN_RULES, type Rule } from "./derived-rules.js";

// The integrity rules of the structure, each as a query for the rows that break it.
const RULES: readonly Rule[] = [
  {
    rule: "parent-not-older",
    describe: ({ detail }) => `its parent is in row ${detail}, which is not older or of another session`,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, entry.parent_seq AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
      WHERE ${within} AND entry.parent_seq IS NOT NULL
        AND (parent.seq IS NULL OR parent.seq >= entry.seq OR parent.session_seq <> entry.session_seq)`,
  },
  {
    rule: "wrong-depth",
    describe: ({ detail }) => `its depth is ${detail}, which is not one more than its parent's`,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, entry.depth AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
      WHERE ${within} AND entry.depth <> coalesce(parent.depth + 1, 0)`,
  },
  {
    rule: "wrong-inheritance",
    describe: ({ detail }) => `what it inherits differs from its parent (${detail})`,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, CASE
          WHEN entry.model_seq IS NOT entry.seq AND (entry.type = 'model_change' OR entry.model_seq IS NOT parent.model_seq) THEN 'model'
          WHEN entry.thinking_seq IS NOT entry.seq AND (entry.type = 'thinking_level_change' OR entry.thinking_seq IS NOT parent.thinking_seq)
            THEN 'thinking level'
          WHEN entry.system_seq IS NOT entry.seq AND (entry.role IS 'system' OR entry.system_seq IS NOT parent.system_seq) THEN 'system message'
          ELSE 'compaction' END AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq
      WHERE ${within} AND (
        (entry.model_seq IS NOT parent.model_seq
          AND (NOT (entry.type = 'model_change' OR entry.role IS 'assistant') OR entry.model_seq IS NOT entry.seq))
        OR (entry.thinking_seq IS NOT parent.thinking_seq AND (entry.type <> 'thinking_level_change' OR entry.thinking_seq IS NOT entry.seq))
        OR (entry.system_seq IS NOT parent.system_seq AND entry.role IS NOT 'system' AND NOT EXISTS (
          SELECT 1 FROM entry AS target WHERE entry.type = 'context_edit' AND target.session_seq = entry.session_seq
            AND target.seq = entry.target_seq AND target.role = 'system'))
        OR (entry.type = 'model_change' AND entry.model_seq IS NOT entry.seq)
        OR (entry.type = 'thinking_level_change' AND entry.thinking_seq IS NOT entry.seq)
        OR (entry.role IS 'system' AND entry.system_seq IS NOT entry.seq)
        OR (entry.type = 'compaction' AND entry.compaction_seq IS NOT entry.seq)
        OR (entry.type <> 'compaction' AND entry.compaction_seq IS NOT parent.compaction_seq AND NOT EXISTS (
          SELECT 1 FROM entry AS target WHERE entry.type = 'context_edit' AND target.session_seq = entry.session_seq
            AND target.seq = entry.target_seq AND target.type = 'compaction')))`,
  },
  {
    rule: "first-kept-off-path",
    describe: () => "its first kept entry is not on its path",
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq
      WHERE ${within} AND entry.type = 'compaction' AND entry.target_seq IS NOT NULL AND entry.target_seq NOT IN (
        WITH RECURSIVE up (seq, parent_seq) AS (
          SELECT entry.seq, entry.parent_seq
          UNION ALL
          -- Only to a lower row number, so that the walk ends even if a damaged file has a cycle.
          SELECT above.seq, above.parent_seq FROM up JOIN entry AS above ON above.seq = up.parent_seq AND above.seq < up.seq
          WHERE up.seq > entry.target_seq)
        SELECT seq FROM up)`,
  },
  {
    rule: "wrong-waypoint",
    since: 3,
    describe: () => "its waypoint is missing, or does not lead to the entry that its depth asks for",
    // Climbs by parents and shorter waypoints, which are rows of this check themselves.
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail
      FROM entry JOIN session ON session.seq = entry.session_seq LEFT JOIN entry_waypoint AS waypoint ON waypoint.entry_seq = entry.seq
      WHERE ${within} AND entry.depth > 0 AND entry.depth % 16 = 0 AND waypoint.above_seq IS NOT (
        WITH RECURSIVE goal (depth) AS (
          SELECT entry.depth - CASE WHEN entry.depth % 65536 = 0 THEN 65536 WHEN entry.depth % 4096 = 0 THEN 4096
            WHEN entry.depth % 256 = 0 THEN 256 ELSE 16 END),
        up (seq, parent_seq, depth) AS (
          SELECT entry.seq, entry.parent_seq, entry.depth
          UNION ALL
          SELECT above.seq, above.parent_seq, above.depth FROM up
            LEFT JOIN entry_waypoint AS step ON step.entry_seq = up.seq AND up.seq <> entry.seq
            CROSS JOIN entry AS above ON above.seq = coalesce(step.above_seq, up.parent_seq)
          WHERE up.depth > (SELECT depth FROM goal) AND above.seq < up.seq)
        SELECT seq FROM up WHERE depth = (SELECT depth FROM goal))`,
  },
  {
    rule: "leaf-off-session",
    describe: ({ detail }) => `the leaf '${detail}' stands at no entry of the session`,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, leaf.name AS detail
      FROM leaf JOIN session ON session.seq = leaf.session_seq LEFT JOIN entry ON entry.seq = leaf.entry_seq AND entry.session_seq = session.seq
      WHERE ${within} AND leaf.entry_seq IS NOT NULL AND entry.seq IS NULL`,
  },
  {
    rule: "leaf-off-session",
    describe: () => "it has no leaf named 'main'",
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, NULL AS detail FROM session
      WHERE ${within} AND NOT EXISTS (SELECT 1 FROM leaf WHERE leaf.session_seq = session.seq AND leaf.name = 'main')`,
  },
  {
    rule: "damaged-value",
    describe: ({ detail }) => `its value ${JSON.stringify(quoted(String(detail ?? "")))} is missing, or no JSON of its size`,
    since: 5,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, value.key AS detail
      FROM value JOIN session ON session.seq = value.session_seq
        LEFT JOIN large_value AS large ON large.session_seq = value.session_seq AND large.key = value.key
      WHERE ${within} AND ((value.large_bytes IS NULL) <> (large.json IS NULL)
        OR octet_length(large.json) <> value.large_bytes OR NOT json_valid(large.json))`,
  },
  {
    rule: "wrong-count",
    describe: ({ detail }) => `its counts differ from its entries (${detail} entries are there)`,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, count(entry.seq) AS detail
      FROM session LEFT JOIN entry ON entry.session_seq = session.seq
      WHERE ${within} GROUP BY session.seq
      HAVING count(entry.seq) <> session.entry_count OR count(*) FILTER (WHERE entry.role IN ('user', 'assistant')) <> session.message_count`,
  },
  {
    rule: "wrong-count",
    describe: ({ detail }) => `its count or size of payloads that are rows differs (${detail} are rows)`,
    broken: (within) => sql`
      SELECT session.id AS session_id, NULL AS entry_id, count(payload.entry_seq) AS detail
      FROM session LEFT JOIN (entry JOIN payload ON payload.entry_seq = entry.seq) ON entry.session_seq = session.seq
      WHERE ${within} GROUP BY session.seq
      HAVING count(payload.entry_seq) <> session.row_count OR coalesce(sum(entry.payload_bytes), 0) <> session.row_bytes`,
  },
  {
    rule: "payload-twice",
    describe: ({ detail }) => `its payload is a row, and also in block ${detail}`,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, block.seq AS detail
      FROM payload CROSS JOIN entry ON entry.seq = payload.entry_seq CROSS JOIN session ON session.seq = entry.session_seq
        CROSS JOIN payload_block AS block ON block.session_seq = session.seq AND block.last_seq >= entry.seq AND block.first_seq <= entry.seq
      WHERE ${within}`,
  },
];

/** Finds violations of the rules of structure. Reads rows and indexes, no payloads. */
export function* findStructureViolations(connection: Connection, sessionId: string | undefined): Generator<Violation, void, void> {
  const within = sessionId === undefined ? sql`TRUE` : sql`session.id = ${sessionId}`;
  for (const { rule, describe, broken, since = 1 } of [...RULES, ...DERIVED_RULES, ...ORIGIN_RULES]) {
    if (connection.version < since) continue;
    for (const violation of connection.all(dynamicQuery<BrokenRow>(broken(within)), {})) {
      yield toViolation(rule, violation, describe(violation));
    }
  }
}

function toViolation(rule: Violation["rule"], { session_id, entry_id }: BrokenRow, description: string): Violation {
  const subject = entry_id === null ? `Session ${session_id}` : `Entry ${entry_id} of session ${session_id}`;
  return { rule, sessionId: session_id, entryId: entry_id, message: `${subject}: ${description}.` };
}
