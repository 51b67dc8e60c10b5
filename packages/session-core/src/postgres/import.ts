import type * as port from "../port/session-storage.js";
import type { SourceSession } from "../source/source-session.js";
import type { PgDatabase } from "./database.js";
import type { WriteRules } from "./write-rules.js";

export async function importSession(
  database: PgDatabase,
  source: SourceSession,
  options: port.ImportOptions,
  rules: WriteRules,
): Promise<port.ImportedSession> {
  throw new Error("not built yet");
}
