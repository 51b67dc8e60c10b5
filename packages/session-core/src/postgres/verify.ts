import type { SessionId } from "../ids/ids.js";
import type { Violation } from "../port/session-storage.js";
import type { PgDatabase } from "./database.js";

export async function* findViolations(_database: PgDatabase, _id?: SessionId): AsyncGenerator<Violation> {
  yield* [];
}
