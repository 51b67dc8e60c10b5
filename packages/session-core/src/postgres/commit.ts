import type { Batch, BatchResult } from "../port/writes.js";
import type { PgDatabase } from "./database.js";
import type { WriteRules } from "./write-rules.js";

export async function commitBatch(database: PgDatabase, batch: Batch, rules: WriteRules): Promise<BatchResult> {
  throw new Error("not built yet");
}
