import type { SessionId } from "../ids/ids.js";
import type { Finding } from "../port/finding.js";
import type { Connection } from "../storage/connection.js";
import { fileFindings } from "./file-rules.js";
import { payloadFindings } from "./payload-rules.js";
import { structureFindings } from "./structure-rules.js";

/** Everything that does not hold, cheapest checks first; of the file itself only when no session is named. */
export function* findings(connection: Connection, sessionId: SessionId | undefined): Generator<Finding, void, void> {
  if (sessionId === undefined) yield* fileFindings(connection);
  yield* structureFindings(connection, sessionId);
  yield* payloadFindings(connection, sessionId);
}
