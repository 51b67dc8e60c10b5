import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";

export async function readContextPath(
  database: PgDatabase,
  key: records.SessionKey,
  at: records.ContextEnd,
  knownSeq: number | null,
): Promise<records.ContextPath> {
  throw new Error("not built yet");
}
