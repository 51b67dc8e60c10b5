import type { EntryId, SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function listLabels(database: PgDatabase, key: records.SessionKey, text?: string): Promise<readonly records.Label[]> {
  throw new Error("not built yet");
}

export async function findValue(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.StoredValue | undefined> {
  throw new Error("not built yet");
}

export async function listValues(
  database: PgDatabase,
  key: records.SessionKey,
  range: records.ValueRange,
): Promise<readonly records.StoredValue[]> {
  throw new Error("not built yet");
}

export async function listValueKeys(
  database: PgDatabase,
  key: records.SessionKey,
  range: records.ValueRange,
): Promise<readonly records.ValueKey[]> {
  throw new Error("not built yet");
}

export async function findValuesOf(
  database: PgDatabase,
  name: string,
  ids: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, records.StoredValue>> {
  throw new Error("not built yet");
}

export async function readTokenCounts(
  database: PgDatabase,
  key: records.SessionKey,
  counter: string,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, number>> {
  throw new Error("not built yet");
}

export async function saveTokenCounts(
  database: PgDatabase,
  key: records.SessionKey,
  counter: string,
  counts: ReadonlyMap<EntryId, number>,
): Promise<void> {
  throw new Error("not built yet");
}
