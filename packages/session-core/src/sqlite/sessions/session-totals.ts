import type { SessionId } from "../../ids/ids.js";
import type { ModelUsage, SessionTotals } from "../../port/records.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

const branchCount = query<{ id: SessionId }, { branches: number }>(({ sql, p }) =>
  rawQuery(sql<{ branches: number }>`
    SELECT count(*) AS branches FROM tip WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id})`),
);

const usageOfSession = query<{ id: SessionId; inherited: number }, ModelUsage>(({ sql, p }) =>
  rawQuery(sql<ModelUsage>`
    SELECT provider, model, replies, input_tokens AS inputTokens, output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens,
      cache_write_tokens AS cacheWriteTokens, cost_usd AS costUsd, recorded_replies AS recordedReplies
    FROM usage_total WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id}) AND inherited = ${p.inherited}
    ORDER BY provider, model`),
);

// An index has the copies only.
const inheritedCount = query<{ id: SessionId }, { entries: number }>(({ sql, p }) =>
  rawQuery(sql<{ entries: number }>`
    SELECT count(*) AS entries FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id}) AND inherited = 1`),
);

/** Reads the branches and the usage of sessions. Unknown ids have none. Cost: four look-ups for each, and its copied entries in an index. */
export function readTotalsOf(connection: Connection, ids: readonly SessionId[]): ReadonlyMap<SessionId, SessionTotals> {
  return connection.read(
    () =>
      new Map(
        ids.map((id) => [
          id,
          {
            branches: connection.get(branchCount, { id })?.branches ?? 0,
            usage: connection.all(usageOfSession, { id, inherited: 0 }),
            inheritedUsage: connection.all(usageOfSession, { id, inherited: 1 }),
            inheritedEntries: connection.get(inheritedCount, { id })?.entries ?? 0,
          },
        ]),
      ),
  );
}
