import type { ModelUsage, SessionId, SessionTotals, Statistics } from "@bough/session-core";
import { groupBy, type SessionKey, sessionIdOf, sumTypes } from "@bough/session-core/engine";
import type { Sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { runsFrom } from "./runs.js";
import { requireSession } from "./session-key.js";

// A tip is the last entry of a run that no run continues.
const branchesOf = pgQuery<{ ids: readonly SessionId[] }, { id: SessionId; branches: number }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId; branches: number }>`
    SELECT session.session_id AS id, (
      SELECT count(*) FROM (
          SELECT coalesce(lead(start_seq) OVER (ORDER BY start_seq) - 1, session.last_seq) AS seq
          FROM run WHERE run.tenant = ${p.tenant} AND run.session_id = session.session_id) AS ended
        WHERE NOT EXISTS (SELECT 1 FROM ${runsFrom(sql, p, sql`session.session_id`, "parent_seq", sql`ended.seq`)} AS below)) AS branches
    FROM session WHERE session.tenant = ${p.tenant} AND session.session_id = ANY(${p.ids}::text[])`),
);

type UsageRow = ModelUsage & { readonly id: SessionId; readonly inherited: boolean };

const usageRows = pgQuery<{ ids: readonly SessionId[] }, UsageRow>(({ sql, p }) =>
  pgRaw(sql<UsageRow>`
    SELECT session_id AS id, inherited, provider, model, replies, input_tokens AS "inputTokens", output_tokens AS "outputTokens",
      cache_read_tokens AS "cacheReadTokens", cache_write_tokens AS "cacheWriteTokens", cost_usd AS "costUsd",
      recorded_replies AS "recordedReplies"
    FROM usage_total WHERE tenant = ${p.tenant} AND session_id = ANY(${p.ids}::text[]) ORDER BY provider, model`),
);

// An index has the copies only.
const inheritedCounts = pgQuery<{ ids: readonly SessionId[] }, { id: SessionId; entries: number }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId; entries: number }>`
    SELECT session_id AS id, count(*) AS entries FROM entry
    WHERE tenant = ${p.tenant} AND session_id = ANY(${p.ids}::text[]) AND inherited GROUP BY session_id`),
);

/** Reads the branches and the usage of sessions. Unknown ids have none. Cost: the runs and the models of each, and its copied entries in an index. */
export async function readTotalsOf(database: PgDatabase, ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, SessionTotals>> {
  const [branches, usage, copied] = await Promise.all([
    database.all(branchesOf, { ids }),
    database.all(usageRows, { ids }),
    database.all(inheritedCounts, { ids }),
  ]);
  const copies = new Map(copied.map((row) => [row.id, row.entries]));
  const counts = new Map(branches.map((row) => [row.id, row.branches]));
  const rowsOf = groupBy(usage, ({ id }) => id);
  const usageFor = (id: SessionId, isInherited: boolean) =>
    (rowsOf.get(id) ?? []).flatMap(({ id: _id, inherited, ...used }) => (inherited === isInherited ? [used] : []));
  return new Map(
    ids.map((id) => [
      id,
      {
        branches: counts.get(id) ?? 0,
        usage: usageFor(id, false),
        inheritedUsage: usageFor(id, true),
        inheritedEntries: copies.get(id) ?? 0,
      },
    ]),
  );
}

/** null: all sessions of the tenant. */
interface Within {
  readonly session: SessionId | null;
}

// With a session, its row is read by the key: a condition with OR would read all rows.
const within = (sql: Sql, p: Always & Within, isOne: boolean, table: string) =>
  sql`${sql.ref(`${table}.tenant`)} = ${p.tenant} ${isOne ? sql`AND ${sql.ref(`${table}.session_id`)} = ${p.session}` : sql``}`;

interface CountRow {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly bytes: number;
}

function statisticsOf(isOne: boolean) {
  const counts = pgQuery<Within, CountRow>(({ sql, p }) =>
    pgRaw(sql<CountRow>`
      SELECT count(*) AS sessions, coalesce(sum(entry_count), 0)::bigint AS entries, coalesce(sum(message_count), 0)::bigint AS messages,
        coalesce(sum(payload_bytes), 0)::bigint AS bytes
      FROM session WHERE ${within(sql, p, isOne, "session")}`),
  );
  const kinds = pgQuery<Within, { kind: number; count: number }>(({ sql, p }) =>
    pgRaw(sql<{ kind: number; count: number }>`
      SELECT counts.kind, sum(entries)::bigint AS count FROM session CROSS JOIN unnest(kind_counts) WITH ORDINALITY AS counts (entries, kind)
      WHERE ${within(sql, p, isOne, "session")} AND entries > 0 GROUP BY counts.kind`),
  );
  const usage = pgQuery<Within, ModelUsage & { readonly inherited: boolean }>(({ sql, p }) =>
    pgRaw(sql<ModelUsage & { readonly inherited: boolean }>`
      SELECT inherited, provider, model, sum(replies)::bigint AS replies, sum(input_tokens) AS "inputTokens", sum(output_tokens) AS "outputTokens",
        sum(cache_read_tokens) AS "cacheReadTokens", sum(cache_write_tokens) AS "cacheWriteTokens", sum(cost_usd) AS "costUsd",
        sum(recorded_replies)::bigint AS "recordedReplies"
      FROM usage_total WHERE ${within(sql, p, isOne, "usage_total")}
      GROUP BY inherited, provider, model ORDER BY "costUsd" DESC, "outputTokens" DESC, model, provider`),
  );
  // From an index that has no others.
  const copies = pgQuery<Within, { count: number }>(({ sql, p }) =>
    pgRaw(sql<{ count: number }>`SELECT count(*) AS count FROM entry WHERE ${within(sql, p, isOne, "entry")} AND inherited`),
  );
  return { counts, kinds, usage, copies };
}

const ofOne = statisticsOf(true);
const ofAll = statisticsOf(false);

/** Reads the totals of a session, or of all. Reads no entries; of a store, the rows of its sessions. @throws {SessionNotFoundError} */
export async function readStatistics(database: PgDatabase, key?: SessionKey): Promise<Statistics> {
  return database.read(async (transaction: Database) => {
    if (key !== undefined) await requireSession(transaction, key);
    const queries = key === undefined ? ofAll : ofOne;
    const parameters = { session: key === undefined ? null : sessionIdOf(key) };
    const counts = await transaction.get(queries.counts, parameters);
    const kinds = await transaction.all(queries.kinds, parameters);
    const used = await transaction.all(queries.usage, parameters);
    const usageOf = (isInherited: boolean) => used.flatMap(({ inherited, ...usage }) => (inherited === isInherited ? [usage] : []));
    return {
      sessions: counts?.sessions ?? 0,
      entries: counts?.entries ?? 0,
      inheritedEntries: (await transaction.get(queries.copies, parameters))?.count ?? 0,
      messages: counts?.messages ?? 0,
      payloadBytes: counts?.bytes ?? 0,
      byType: sumTypes(kinds),
      usage: usageOf(false),
      inheritedUsage: usageOf(true),
    };
  });
}
