import type { Entry } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function readEntry(database: PgDatabase, key: records.SessionKey, id: EntryId): Promise<Entry> {
  throw new Error("not built yet");
}

export async function readEntriesById(
  database: PgDatabase,
  key: records.SessionKey,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, Entry>> {
  throw new Error("not built yet");
}

export async function findEntryIds(
  database: PgDatabase,
  key: records.SessionKey,
  prefix: string,
  limit: number,
): Promise<readonly EntryId[]> {
  throw new Error("not built yet");
}

export async function shortEntryIds(
  database: PgDatabase,
  key: records.SessionKey,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, string>> {
  throw new Error("not built yet");
}

export async function readEntriesAt(database: PgDatabase, key: records.SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
  throw new Error("not built yet");
}

export async function listEntries(database: PgDatabase, key: records.SessionKey, listing: records.EntryListing): Promise<readonly Entry[]> {
  throw new Error("not built yet");
}
