import type { Finding } from "../port/finding.js";
import type { Connection } from "../storage/connection.js";

/** SQLite's own checks: pages, indexes, constraints, and references between tables. Reads the whole file. */
export function* fileFindings(connection: Connection): Generator<Finding, void, void> {
  for (const row of connection.freshPragma("integrity_check")) {
    const text = String(Object.values(row)[0]);
    if (text !== "ok") yield { rule: "file-damaged", sessionId: null, entryId: null, message: `SQLite found: ${text}.` };
  }
  for (const row of connection.freshPragma("foreign_key_check")) {
    const message = `Row ${String(row["rowid"])} of table ${String(row["table"])} refers to a missing row of ${String(row["parent"])}.`;
    yield { rule: "dangling-reference", sessionId: null, entryId: null, message };
  }
}
