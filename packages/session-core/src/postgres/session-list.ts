import type { SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function listSessions(database: PgDatabase, filter: records.SessionFilter): Promise<records.Page<records.SessionRecord>> {
  throw new Error("not built yet");
}

export async function findSessionsByName(database: PgDatabase, name: string, limit: number): Promise<readonly records.SessionRecord[]> {
  throw new Error("not built yet");
}

export async function shortSessionIds(database: PgDatabase, ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>> {
  throw new Error("not built yet");
}

export async function readTotalsOf(
  database: PgDatabase,
  ids: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, records.SessionTotals>> {
  throw new Error("not built yet");
}

export async function readStatistics(database: PgDatabase, key?: records.SessionKey): Promise<records.Statistics> {
  throw new Error("not built yet");
}
