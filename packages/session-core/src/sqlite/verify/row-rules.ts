import { type RawBuilder, sql } from "kysely";
import { PayloadDamagedError } from "../../errors/store-errors.js";
import { type EntrySeq, quoted, type SessionSeq } from "../../ids/ids.js";
import type { Violation } from "../../port/session-storage.js";
import { findMetadataFault, ORIGIN_FAULTS } from "../../rules/verify-rules.js";
import type { Connection } from "../file/connection.js";
import { type BlockRow, openBlock } from "../payloads/payloads.js";
import { dynamicQuery, query, rawQuery } from "../query.js";

/** A row that breaks a rule. */
interface BrokenRow {
  readonly session_id: string | null;
  readonly entry_id: string | null;
  readonly detail: string | number | null;
}

/** An integrity rule, as a query for the rows that break it. */
interface Rule {
  readonly rule: Violation["rule"];
  /** Describes a violation; completes the sentence "Entry X of session Y: …". */
  readonly describe: (row: BrokenRow) => string;
  /** The first format version that has the data of the rule. Default 1. */
  readonly since?: number;
  /** Selects the rows that break the rule, as session_id, entry_id and detail. `within` restricts it to one session. */
  readonly broken: (within: RawBuilder<unknown>) => RawBuilder<BrokenRow>;
}

/** The first format version with these tables. */
const SINCE = 5;

/** The rules of payloads and large values, and of the tables that are derived from entries. */
const RULES: readonly Rule[] = [
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

type CheckedBlock = BlockRow & { readonly session_id: string };

const nextBlock = query<{ after: number; session: string | null }, CheckedBlock>(({ sql, p }) =>
  rawQuery(sql<CheckedBlock>`
    SELECT payload_block.*, session.id AS session_id FROM payload_block JOIN session ON session.seq = payload_block.session_seq
    WHERE payload_block.seq > ${p.after} AND (${p.session} IS NULL OR session.id = ${p.session}) ORDER BY payload_block.seq LIMIT 1`),
);

const entriesBetween = query<{ session: SessionSeq; first: EntrySeq; last: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("entry")
    .select("seq")
    .where("session_seq", "=", p.session)
    .where("seq", ">=", p.first)
    .where("seq", "<=", p.last)
    .orderBy("seq"),
);

const blockBefore = query<{ session: SessionSeq; last: EntrySeq }, { seq: number; last_seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("payload_block")
    .select(["seq", "last_seq"])
    .where("session_seq", "=", p.session)
    .where("last_seq", "<", p.last)
    .orderBy("last_seq", "desc")
    .limit(1),
);

/**
 * Finds blocks that cannot be read, do not hold exactly the entries of their range, or hold entries of another block. Reads and
 * decompresses every block, one at a time. Returns the row numbers of the entries whose payloads cannot be read.
 */
export function* findBlockViolations(
  connection: Connection,
  sessionId: string | undefined,
): Generator<Violation, ReadonlySet<EntrySeq>, void> {
  const damaged = new Set<EntrySeq>();
  for (let after = 0; ; ) {
    // One snapshot, because another process may delete the session between the queries.
    const checked = connection.read(() => checkNext(connection, sessionId ?? null, after));
    if (checked === undefined) return damaged;
    const { block, entries, fault } = checked;
    after = block.seq;
    if (fault === undefined) continue;
    for (const { seq } of entries) damaged.add(seq);
    yield { rule: "damaged-block", sessionId: block.session_id, entryId: null, message: fault };
  }
}

function checkNext(connection: Connection, session: string | null, after: number) {
  const block = connection.get(nextBlock, { after, session });
  if (block === undefined) return undefined;
  const entries = entriesOf(connection, block);
  return { block, entries, fault: findFault(connection, block, entries) ?? findOverlap(connection, block) };
}

function entriesOf(connection: Connection, block: BlockRow): readonly { readonly seq: EntrySeq }[] {
  return connection.all(entriesBetween, { session: block.session_seq, first: block.first_seq, last: block.last_seq });
}

function findFault(connection: Connection, block: BlockRow, entries: readonly { readonly seq: EntrySeq }[]): string | undefined {
  try {
    const { seqs } = openBlock(connection, block);
    if (seqs.length === entries.length && entries.every(({ seq }, at) => seq === seqs[at])) return undefined;
    return `Block ${block.seq} does not hold the entries of its session in rows ${block.first_seq} to ${block.last_seq}.`;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return `Block ${block.seq}: ${error.message}`;
    throw error;
  }
}

function findOverlap(connection: Connection, { seq, session_seq, first_seq, last_seq }: BlockRow): string | undefined {
  const before = connection.get(blockBefore, { session: session_seq, last: last_seq });
  if (before === undefined || before.last_seq < first_seq) return undefined;
  const other = connection.get(nextBlock, { after: before.seq - 1, session: null });
  // If the other block has a fault, its range is probably the wrong one.
  if (other === undefined || findFault(connection, other, entriesOf(connection, other)) !== undefined) return undefined;
  return `Block ${seq} holds entries that are also in block ${other.seq}: rows ${first_seq} to ${before.last_seq}.`;
}

/** The first format version with origins. */
const ORIGINS_SINCE = 9;

/** The entry that `entry.origin` refers to, as `known`. */
const REFERRED = sql`session AS source CROSS JOIN entry AS known
  ON known.session_seq = source.seq AND known.id = substr(entry.origin, instr(entry.origin, ' ') + 1)
  WHERE source.id = substr(entry.origin, 1, instr(entry.origin, ' ') - 1)`;

/** Entries that count as originals and have the origin of `entry`, in other sessions. */
const COUNTED = sql`entry AS other JOIN session AS holder ON holder.seq = other.session_seq
  WHERE other.origin = entry.origin AND other.session_seq <> entry.session_seq AND other.inherited = 0`;

/** The rules of copies: each request counts once. */
const ORIGIN_RULES: readonly Rule[] = [
  {
    rule: "wrong-origin",
    since: ORIGINS_SINCE,
    describe: () => ORIGIN_FAULTS.chain,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail FROM entry JOIN session ON session.seq = entry.session_seq
      WHERE ${within} AND instr(entry.origin, ' ') > 0 AND EXISTS (SELECT 1 FROM ${REFERRED} AND known.origin IS NOT NULL)`,
  },
  {
    rule: "wrong-origin",
    since: ORIGINS_SINCE,
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
    since: ORIGINS_SINCE,
    describe: () => ORIGIN_FAULTS.nowhere,
    broken: (within) => sql`
      SELECT session.id AS session_id, entry.id AS entry_id, NULL AS detail FROM entry JOIN session ON session.seq = entry.session_seq
      WHERE ${within} AND entry.inherited = 1 AND entry.origin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${COUNTED})
        AND NOT EXISTS (SELECT 1 FROM ${REFERRED} AND known.origin IS NULL AND known.inherited = 0)`,
  },
];

/** Finds violations of these rules. Reads rows and indexes, no payloads. */
export function* findRowViolations(connection: Connection, sessionId: string | undefined): Generator<Violation, void, void> {
  const within = sessionId === undefined ? sql`TRUE` : sql`session.id = ${sessionId}`;
  for (const { rule, describe, broken, since = 1 } of [...RULES, ...ORIGIN_RULES]) {
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
