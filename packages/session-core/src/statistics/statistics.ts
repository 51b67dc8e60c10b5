import { type RawBuilder, sql } from "kysely";
import type { SessionKey } from "../port/records.js";
import type { ModelUsage, Statistics } from "../port/statistics.js";
import { sessionSeq } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery, plain } from "../storage/query.js";

interface CountRow {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly payloadBytes: number;
}

/** Figures of a session, or of the whole store: sums of session rows and of an index, never of payloads. */
export function statistics(connection: Connection, key?: SessionKey): Statistics {
  return connection.read(() => {
    const session = key === undefined ? undefined : sessionSeq(connection, key);
    const within = (column: string): RawBuilder<boolean> => (session === undefined ? sql`TRUE` : sql`${sql.ref(column)} = ${session}`);
    const counts = one<CountRow>(
      connection,
      sql`SELECT count(*) AS sessions, coalesce(sum(entry_count), 0) AS entries, coalesce(sum(message_count), 0) AS messages,
        coalesce(sum(payload_bytes), 0) AS payloadBytes FROM session WHERE ${within("seq")}`,
    );
    const types = rows<{ type: string; count: number }>(
      connection,
      sql`SELECT type, count(*) AS count FROM entry WHERE ${within("session_seq")} GROUP BY type ORDER BY type`,
    );
    return {
      sessions: counts?.sessions ?? 0,
      entries: counts?.entries ?? 0,
      messages: counts?.messages ?? 0,
      payloadBytes: counts?.payloadBytes ?? 0,
      byType: Object.fromEntries(types.map(({ type, count }) => [type, count])),
      usage: usage(connection, within("session_seq"), 0),
      inheritedUsage: usage(connection, within("session_seq"), 1),
    };
  });
}

function usage(connection: Connection, within: RawBuilder<boolean>, inherited: 0 | 1): readonly ModelUsage[] {
  return rows<ModelUsage>(
    connection,
    sql`SELECT provider, model, sum(replies) AS replies, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
        sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens, sum(cost_usd) AS costUsd
      FROM usage_total WHERE ${within} AND inherited = ${inherited}
      GROUP BY provider, model ORDER BY costUsd DESC, outputTokens DESC, model`,
  );
}

function rows<R>(connection: Connection, statement: RawBuilder<unknown>): R[] {
  return connection.all(
    onceQuery<R>(() => plain(statement as RawBuilder<R>)),
    {},
  );
}

function one<R>(connection: Connection, statement: RawBuilder<unknown>): R | undefined {
  return rows<R>(connection, statement)[0];
}
