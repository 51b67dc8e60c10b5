import type { SessionId } from "../../ids/ids.js";
import type { ImportedSession, ImportOptions, ImportOutcome, SessionImport } from "../../port/session-storage.js";
import type { SourceSession } from "../../port/source.js";
import type { Validate } from "../../rules/batch-writer.js";
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
  { source, options }: SessionImport,
  validate: Validate,
  fileTools: FileTools,
): ImportedSession {
  return importWithin((body) => writeInBulk(connection, body), connection, { source, options }, { validate, fileTools });
}

/**
 * Imports sessions in one transaction, each in a savepoint: what a session has written is rolled back if it fails, and the others are
 * committed. Cost against a transaction for each: without its commit, its wait for the disk and its check of the file, a session of ten
 * entries takes half.
 */
export function importSessions(
  connection: Connection,
  imports: readonly SessionImport[],
  validate: Validate,
  fileTools: FileTools,
): readonly ImportOutcome[] {
  return writeInBulk(connection, () =>
    imports.map((one) =>
      outcomeOf(connection, () => importWithin((body) => connection.writePart(body), connection, one, { validate, fileTools })),
    ),
  );
}

function outcomeOf(connection: Connection, work: () => ImportedSession): ImportOutcome {
  try {
    return { status: "fulfilled", value: work() };
  } catch (reason) {
    // Then the sessions before are not written either.
    if (!connection.inTransaction) throw reason;
    return { status: "rejected", reason };
  }
}

/** `transact` rolls back what its body has written if the body throws: a session with other entries is tried again as another one. */
function importWithin(
  transact: <T>(body: () => T) => T,
  connection: Connection,
  { source, options }: SessionImport,
  rules: { readonly validate: Validate; readonly fileTools: FileTools },
): ImportedSession {
  const claimedId = source.header.sessionId;
  // The session with the entries of earlier imports of this file, whatever its id is now.
  for (let sessionId = options.sync?.known?.sessionId ?? claimedId; ; ) {
    try {
      const imported = transact(() => importIntoFile(connection, sessionId, source, options, rules.validate, rules.fileTools));
      return { ...imported, claimedId };
    } catch (error) {
      const again = fromStart(options, error);
      if (again !== undefined) return importWithin(transact, connection, { source, options: again }, rules);
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
