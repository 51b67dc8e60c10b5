import type { SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { PgDatabase } from "./database.js";
import type { FirstWrites } from "./write-rules.js";

export async function forkSession(
  database: PgDatabase,
  id: SessionId,
  fork: records.Fork,
  first: FirstWrites,
): Promise<records.SessionRecord> {
  throw new Error("not built yet");
}
