import type { SessionId } from "../ids/ids.js";
import type { Violation } from "../port/session-storage.js";
import type { PgDatabase } from "./database.js";

export async function* findViolations(database: PgDatabase, id?: SessionId): AsyncGenerator<Violation> {
  throw new Error("not built yet");
}
