import type { EntryId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function listChildren(
  database: PgDatabase,
  key: records.SessionKey,
  id: EntryId | null,
): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}

export async function listBranchPoints(database: PgDatabase, key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}

export async function listTips(database: PgDatabase, key: records.SessionKey): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}

export async function findTipBelow(database: PgDatabase, key: records.SessionKey, id: EntryId): Promise<EntryId> {
  throw new Error("not built yet");
}

export async function readOutline(
  database: PgDatabase,
  key: records.SessionKey,
  listing: records.EntryListing,
): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}

export async function readOutlinePath(
  database: PgDatabase,
  key: records.SessionKey,
  leafId: EntryId | null,
  limit: number,
): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}

export async function readOutlineAt(
  database: PgDatabase,
  key: records.SessionKey,
  seqs: readonly number[],
): Promise<readonly records.OutlineRow[]> {
  throw new Error("not built yet");
}
