import type { SessionId } from "@bough/session-core";
import {
  type CopiedEntry,
  type CopiedMove,
  type CopiedState,
  type CopiedUsage,
  PART_BYTES,
  PART_ENTRIES,
  type SessionCopies,
  type SessionKey,
  type StoredOperation,
  toSessionRecord,
} from "@bough/session-core/engine";
import { toRows, writeCopiedPart } from "./copy-in.js";
import type { Database, PgDatabase } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";
import { type KeyParameters, keyParameters, ofSession, requireSession, sessionExists } from "./session-key.js";
import { findSessionRow } from "./session-rows.js";
import { listCollected } from "./word-list.js";

/** Copies of sessions from and to a server. The place of an entry is its number. */
export function copiesOf(database: PgDatabase): SessionCopies {
  return {
    state: (key) => database.read((transaction) => readState(transaction, key)),
    entries: (key, after, upTo) => readEntries(database, key, after, upTo),
    async write(part) {
      const { rows, words } = toRows(part, database.tenant);
      await listCollected(database, words);
      return database.write((transaction) => writeCopiedPart(transaction, part, rows));
    },
  };
}

type Session = { readonly session: SessionId };

const rowOf = pgQuery<Session, { seq: number }>(({ sql, p }) =>
  pgRaw(sql<{ seq: number }>`SELECT seq FROM session WHERE ${ofSession(sql, p, "session")}`),
);
const leavesOf = pgQuery<Session, CopiedState["leaves"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["leaves"][number]>`SELECT name, entry_seq AS at FROM leaf WHERE ${ofSession(sql, p, "leaf")} ORDER BY name`),
);
const movesOf = pgQuery<Session, CopiedMove>(({ sql, p }) =>
  pgRaw(sql<CopiedMove>`
    SELECT leaf_name AS "leafName", from_seq AS "from", to_seq AS "to", resume_seq AS resume, moved_at_ms AS "movedAtMs", state
    FROM leaf_move WHERE ${ofSession(sql, p, "leaf_move")} ORDER BY seq`),
);
const labelsOf = pgQuery<Session, CopiedState["labels"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["labels"][number]>`
    SELECT entry_seq AS at, label, created_at_ms AS "createdAtMs" FROM label WHERE ${ofSession(sql, p, "label")} ORDER BY entry_seq`),
);
const valuesOf = pgQuery<Session, CopiedState["values"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["values"][number]>`
    SELECT key, value_json AS json, updated_at_ms AS "updatedAtMs" FROM value WHERE ${ofSession(sql, p, "value")} ORDER BY key`),
);
const usageOf = pgQuery<Session, CopiedUsage>(({ sql, p }) =>
  pgRaw(sql<CopiedUsage>`
    SELECT provider, model, replies, input_tokens AS "inputTokens", output_tokens AS "outputTokens", cache_read_tokens AS "cacheReadTokens",
      cache_write_tokens AS "cacheWriteTokens", cost_usd AS "costUsd", recorded_replies AS "recordedReplies", inherited
    FROM usage_total WHERE ${ofSession(sql, p, "usage_total")} ORDER BY inherited, provider, model`),
);

async function readState(transaction: Database, key: SessionKey): Promise<CopiedState | undefined> {
  const found = await findSessionRow(transaction, key);
  if (found === undefined) return undefined;
  const session = found.id;
  const { metadata: _parsed, ...record } = toSessionRecord(found);
  return {
    row: { id: session, seq: (await transaction.get(rowOf, { session }))?.seq ?? 0 },
    session: { ...record, metadataJson: found.metadata_json },
    leaves: await transaction.all(leavesOf, { session }),
    moves: await transaction.all(movesOf, { session }),
    labels: await transaction.all(labelsOf, { session }),
    values: await transaction.all(valuesOf, { session }),
    usage: await transaction.all(usageOf, { session }),
  };
}

type EntryRow = Omit<CopiedEntry, "fileOperations" | "tokens"> & { readonly file_operations: string | null };

// The texts of a page that is too large are not read: its size is summed up before.
const entriesAfter = pgQuery<KeyParameters & { after: number; upTo: number }, EntryRow>(({ sql, p }) =>
  pgRaw(sql<EntryRow>`
    SELECT seq AS place, id, parent_seq AS parent, kind, depth, created_at_ms AS "createdAtMs", compaction_seq AS compaction,
      target_seq AS target, model_seq AS model, thinking_seq AS thinking, system_seq AS system, call_id AS "callId", is_error AS "isError",
      omits, inherited, origin, preview, payload, file_operations
    FROM (
      SELECT entry.*, sum(payload_bytes) OVER (ORDER BY seq) AS bytes FROM entry
      WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after}::integer
        AND seq <= least(${p.upTo}::bigint, ${p.after}::bigint + ${sql.lit(PART_ENTRIES)}) AND ${sessionExists(sql, p)}) AS page
    WHERE bytes <= ${sql.lit(PART_BYTES)} OR seq = ${p.after}::integer + 1 ORDER BY seq`),
);

type CountRow = { readonly place: number; readonly counter: string; readonly tokens: number };

// The key of the counts begins with their counter: the few names are found one after the other.
const countsIn = pgQuery<Session & { after: number; upTo: number }, CountRow>(({ sql, p }) => {
  const counted = sql`entry_token_count AS counted WHERE ${ofSession(sql, p, "counted")}`;
  return pgRaw(sql<CountRow>`
    WITH RECURSIVE name (counter) AS (
      SELECT min(counter) FROM ${counted}
      UNION ALL SELECT (SELECT min(counted.counter) FROM ${counted} AND counted.counter > name.counter) FROM name WHERE name.counter IS NOT NULL)
    SELECT counted.entry_seq AS place, counted.counter, counted.tokens
    FROM name CROSS JOIN LATERAL (
      SELECT * FROM ${counted} AND counted.counter = name.counter AND entry_seq > ${p.after}::integer AND entry_seq <= ${p.upTo}::integer) AS counted
    ORDER BY counted.counter`);
});

async function readEntries(database: Database, key: SessionKey, after: number, upTo: number): Promise<readonly CopiedEntry[]> {
  const parameters = keyParameters(key);
  const rows = await database.all(entriesAfter, { ...parameters, after, upTo });
  if (rows.length === 0) await requireSession(database, key);
  const last = rows.at(-1)?.place ?? after;
  const tokens = new Map<number, (readonly [string, number])[]>(rows.map(({ place }) => [place, []]));
  for (const row of await database.all(countsIn, { session: parameters.session, after, upTo: last }))
    tokens.get(row.place)?.push([row.counter, row.tokens]);
  return rows.map(({ file_operations, ...row }) => ({
    ...row,
    fileOperations: toOperations(file_operations),
    tokens: tokens.get(row.place) ?? [],
  }));
}

function toOperations(json: string | null): CopiedEntry["fileOperations"] {
  // Written by an append, from values of this type.
  const stored: readonly StoredOperation[] = json === null ? [] : JSON.parse(json);
  return stored.map(({ tool_call_id, kind, path, nested }) => ({ toolCallId: tool_call_id, kind, path, nested: nested === 1 }));
}
