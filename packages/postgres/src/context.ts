import { type EntryId, EntryNotFoundError, type EntryPayload, LeafNotFoundError, type SessionId } from "@bough/session-core";
import type { ContextEnd, ContextEntry, ContextPath, EntrySeq, SessionKey } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { PgDatabase } from "./database.js";
import { entriesFrom, joinEntries, parsePayload } from "./entries.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { rangesUp } from "./runs.js";
import { type KeyParameters, keyParameters, ofSession, requireSession, sessionExists } from "./session-key.js";

interface ContextParameters extends KeyParameters {
  /** The name of a leaf, or the id of an entry. */
  end: string;
  /** The number of the last entry that the caller holds; 0: none. */
  known: number;
}

/** The end of the path, and the numbers of the entries that apply there. */
interface HeadRow {
  readonly part: "head";
  /** null: before the first entry. */
  readonly seq: EntrySeq | null;
  readonly id: EntryId | null;
  readonly state: readonly [
    compaction: EntrySeq | null,
    firstKept: EntrySeq | null,
    model: EntrySeq | null,
    thinking: EntrySeq | null,
    system: EntrySeq | null,
    continues: number,
  ];
}

/** An entry of the context, or one before it that is a setting in force. */
interface PayloadRow {
  readonly part: "entry" | "setting";
  readonly seq: EntrySeq;
  readonly kind: number;
  readonly id: EntryId;
  readonly payload: string;
}

type ContextRow = HeadRow | PayloadRow;

// One statement: where the path ends, what applies there, its ranges up to the first kept entry or the known one, and their entries. The
// walk reads runs and no entries, so that its cost does not depend on what is before the first kept entry.
function contextQuery(place: (sql: Sql, p: Always & ContextParameters) => RawBuilder<unknown>) {
  return pgQuery<ContextParameters, ContextRow>(({ sql, p }) => {
    const stop = sql`(SELECT CASE WHEN ${p.known}::integer > 0 THEN least(${p.known}::integer, start_seq) ELSE start_seq END FROM head)`;
    return pgRaw(sql<ContextRow>`
      WITH RECURSIVE
      place (seq) AS MATERIALIZED (${place(sql, p)} AND ${sessionExists(sql, p)}),
      head AS MATERIALIZED (
        SELECT tip.id, tip.seq, tip.compaction_seq, kept.target_seq, tip.model_seq, tip.thinking_seq, tip.system_seq,
          coalesce(kept.target_seq, tip.compaction_seq, 0) AS start_seq
        FROM place LEFT JOIN LATERAL ${entriesFrom(sql, p, "seq", sql`place.seq`)} AS tip ON TRUE
          LEFT JOIN LATERAL ${entriesFrom(sql, p, "seq", sql`tip.compaction_seq`)} AS kept ON TRUE),
      ${rangesUp(sql, p, { from: sql`(SELECT seq FROM head)`, stop })},
      bound AS MATERIALIZED (
        SELECT CASE WHEN continues THEN ${p.known}::integer + 1 ELSE (SELECT start_seq FROM head) END AS seq, continues
        FROM (SELECT EXISTS (SELECT 1 FROM range WHERE first <= ${p.known}::integer AND last >= ${p.known}::integer) AS continues) AS known)
      SELECT 'head' AS part, seq, NULL::smallint AS kind, id, NULL AS payload,
        ARRAY[compaction_seq, target_seq, model_seq, thinking_seq, system_seq, (SELECT continues::integer FROM bound)] AS state
      FROM head
      UNION ALL
      SELECT 'entry', entry.seq, entry.kind, entry.id, entry.payload, NULL
      FROM range ${joinEntries(sql, p, "seq", sql`greatest(range.first, (SELECT seq FROM bound))`, sql`range.last`)}
      UNION ALL
      SELECT 'setting', entry.seq, entry.kind, entry.id, entry.payload, NULL
      FROM (SELECT DISTINCT unnest(ARRAY[model_seq, thinking_seq, system_seq]) AS seq FROM head) AS wanted
        ${joinEntries(sql, p, "seq", sql`wanted.seq`)}
      WHERE NOT EXISTS (SELECT 1 FROM range, bound WHERE wanted.seq BETWEEN greatest(range.first, bound.seq) AND range.last)`);
  });
}

const atLeaf = contextQuery((sql, p) => sql`SELECT entry_seq FROM leaf WHERE ${ofSession(sql, p, "leaf")} AND name = ${p.end}`);
const atEntry = contextQuery((sql, p) => sql`SELECT seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND id = ${p.end}`);

/**
 * Reads the entries and settings of a context in one statement. `knownSeq` is the last entry of a context that the caller holds: if it is
 * on the path, only the entries after it are read. Cost: the entries from the first kept one to the leaf.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | LeafNotFoundError | PayloadDamagedError}
 */
export async function readContextPath(
  database: PgDatabase,
  key: SessionKey,
  start: ContextEnd,
  knownSeq: EntrySeq | null,
): Promise<ContextPath> {
  const parameters = { ...keyParameters(key), known: knownSeq ?? 0 };
  const end = "leafName" in start ? start.leafName : start.entryId;
  if (end === null) {
    await requireSession(database, key);
    return EMPTY;
  }
  const rows = await database.all("leafName" in start ? atLeaf : atEntry, { ...parameters, end });
  const head = rows.find((row) => row.part === "head");
  if (head === undefined) {
    await requireSession(database, key);
    throw "leafName" in start ? new LeafNotFoundError(parameters.session, end) : new EntryNotFoundError(parameters.session, end);
  }
  return toContextPath(parameters.session, head, rows);
}

const EMPTY: ContextPath = {
  endSeq: null,
  entries: [],
  continues: false,
  compactionSeq: null,
  firstKeptSeq: null,
  model: null,
  thinking: null,
  system: null,
};

function toContextPath(session: SessionId, head: HeadRow, rows: readonly ContextRow[]): ContextPath {
  const [compactionSeq, firstKeptSeq, model, thinking, system, continues] = head.state;
  const payloads = new Map<number, EntryPayload>();
  const entries: ContextEntry[] = [];
  for (const row of rows) {
    if (row.part === "head") continue;
    const payload = parsePayload(session, row);
    payloads.set(row.seq, payload);
    if (row.part === "entry") entries.push({ id: row.id, seq: row.seq, payload });
  }
  const settingAt = (seq: EntrySeq | null) => (seq === null ? null : (payloads.get(seq) ?? null));
  return {
    endSeq: head.seq,
    // Each range comes in order, the last one of the path first.
    entries: entries.sort((one, other) => one.seq - other.seq),
    continues: continues === 1,
    compactionSeq,
    firstKeptSeq,
    model: settingAt(model),
    thinking: settingAt(thinking),
    system: settingAt(system),
  };
}
