import type { Entry } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type * as port from "../port/session-storage.js";
import type { FileOperation } from "../tools/file-operations.js";
import type { PgDatabase } from "./database.js";

export async function scanPath(database: PgDatabase, key: records.SessionKey, scan: records.PathScanFrom): Promise<records.Page<Entry>> {
  throw new Error("not built yet");
}

export async function readPathSeqs(
  database: PgDatabase,
  key: records.SessionKey,
  leafId: EntryId | null,
  stopAt?: EntryId,
): Promise<readonly number[]> {
  throw new Error("not built yet");
}

export async function findCommonAncestor(database: PgDatabase, key: records.SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
  throw new Error("not built yet");
}

export async function readFileOperations(
  database: PgDatabase,
  key: records.SessionKey,
  range: port.PathRange,
): Promise<readonly FileOperation[]> {
  throw new Error("not built yet");
}
