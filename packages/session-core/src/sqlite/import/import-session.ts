import type { Validate } from "../../entry/load-validation.js";
import type { SessionId } from "../../ids/ids.js";
import type { ImportedSession, ImportOptions } from "../../port/session-storage.js";
import type { SourceSession } from "../../port/source.js";
import { DifferentSessionError, deriveSessionId } from "../../rules/import/different-session.js";
import { fromStart, importInto, newSession } from "../../rules/import/import-into.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { checkpointRarely, checkpointUsually } from "../file/open-database.js";
import { findSessionRow, insertNewSession } from "../sessions/session-rows.js";
import { StoredImport } from "./stored-import.js";

/**
 * Imports a source session in one transaction. Existing entries are not changed, so importing again adds only new entries.
 *
 * If the session with the source's id has other entries, the source becomes another session, whose id is derived from the first
 * difference and therefore the same at the next import.
 */
export function importSession(
  connection: Connection,
  source: SourceSession,
  options: ImportOptions,
  validate: Validate,
  fileTools: FileTools,
): ImportedSession {
  const claimedId = source.header.sessionId;
  // The session with the entries of earlier imports of this file, whatever its id is now.
  for (let sessionId = options.sync?.known?.sessionId ?? claimedId; ; ) {
    try {
      const imported = writeInBulk(connection, () => importIntoFile(connection, sessionId, source, options, validate, fileTools));
      return { ...imported, claimedId };
    } catch (error) {
      const again = fromStart(options, error);
      if (again !== undefined) return importSession(connection, source, again, validate, fileTools);
      if (!(error instanceof DifferentSessionError)) throw error;
      sessionId = deriveSessionId(claimedId, sessionId, error.evidence);
    }
  }
}

function writeInBulk<T>(connection: Connection, body: () => T): T {
  checkpointRarely(connection);
  try {
    return connection.write(body);
  } finally {
    if (connection.open) checkpointUsually(connection);
  }
}

function importIntoFile(
  connection: Connection,
  sessionId: SessionId,
  source: SourceSession,
  options: ImportOptions,
  validate: Validate,
  fileTools: FileTools,
) {
  const row = findSessionRow(connection, sessionId);
  const { seq } =
    row ?? insertNewSession(connection, newSession(sessionId, source.header, options), { ...options, id: source.header.sessionId });
  const existing = row && { kind: row.kind, cwd: row.cwd, entryCount: row.entry_count, callId: row.parent_call_id };
  return importInto(new StoredImport(connection, { id: sessionId, seq, fileTools }), existing, source, options, validate);
}
