import type { Validate } from "../entry/load-validation.js";
import type { SessionId } from "../ids/ids.js";
import { MAIN_LEAF, type NewSession } from "../port/records.js";
import type { ImportedSession, ImportOptions } from "../port/session-storage.js";
import type { SyncedImport } from "../port/source-files.js";
import { findSessionRow, insertNewSession, linkToCall, setSessionOrigin } from "../sessions/session-rows.js";
import { setSourceSession } from "../sessions/source-files.js";
import { findValue, setValue } from "../sessions/values.js";
import type { SourceHeader, SourceSession } from "../source/source-session.js";
import { checkpointRarely, checkpointUsually } from "../storage/checkpoint.js";
import type { Connection } from "../storage/connection.js";
import type { SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { findLeaf } from "../tree/leaves.js";
import { readPathState } from "../tree/path-state.js";
import { DifferentSessionError, deriveSessionId } from "./different-session.js";
import { SessionImporter } from "./session-importer.js";

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
  // What this file gave earlier is in this session, whatever its id became.
  for (let sessionId = options.sync?.known?.sessionId ?? claimedId; ; ) {
    try {
      const imported = writeInBulk(connection, () => importInto(connection, sessionId, source, options, validate, fileTools));
      return { ...imported, claimedId };
    } catch (error) {
      if (error instanceof SessionDeletedError && options.sync !== undefined) {
        const whole = { ...options, sync: { ...options.sync, known: undefined, from: undefined } };
        return importSession(connection, source, whole, validate, fileTools);
      }
      if (!(error instanceof DifferentSessionError)) throw error;
      sessionId = deriveSessionId(claimedId, sessionId, error.evidence);
    }
  }
}

/** The session of an earlier sync was deleted since the sync looked. */
class SessionDeletedError extends Error {
  override readonly name = "SessionDeleted";
}

function writeInBulk<T>(connection: Connection, body: () => T): T {
  checkpointRarely(connection);
  try {
    return connection.write(body);
  } finally {
    if (connection.open) checkpointUsually(connection);
  }
}

function importInto(
  connection: Connection,
  sessionId: SessionId,
  source: SourceSession,
  options: ImportOptions,
  validate: Validate,
  fileTools: FileTools,
) {
  const existing = findSessionRow(connection, sessionId);
  if (existing === undefined && options.sync?.known !== undefined) throw new SessionDeletedError();
  options.append?.begin((key) => existing && findValue(connection, { id: sessionId, seq: existing.seq }, key)?.value);
  const { seq } =
    existing ?? insertNewSession(connection, toNewSession(sessionId, source.header), { ...options, id: source.header.sessionId });
  const target = { id: sessionId, seq, fileTools };
  const { cwd, createdAtMs } = source.header;
  // The first lines of a transcript may have neither.
  if (existing?.entry_count === 0 && options.append !== undefined && createdAtMs !== undefined)
    setSessionOrigin(connection, seq, existing.cwd ?? cwd ?? null, createdAtMs);
  // A session without entries cannot differ.
  const isNew = existing === undefined || existing.entry_count === 0;
  const importer = new SessionImporter(connection, target, options, validate, isNew);
  const imported = importer.run(source);
  for (const [key, value] of options.append?.values(importer.stored) ?? []) setValue(connection, seq, key, value);
  if (options.sync !== undefined) keepReading(connection, seq, source, { ...options, sync: options.sync }, importer);
  const { parent } = source.header;
  // The call that started an agent may have been written after the agent was first imported.
  if (existing?.kind === "subagent" && existing.parent_call_id === null && parent?.toolCallId !== undefined) {
    linkToCall(connection, seq, { sessionId: parent.sessionId, entryId: parent.entryId ?? null, toolCallId: parent.toolCallId });
  }
  return imported;
}

/** Keeps how the session was read, for the next sync. */
function keepReading(
  connection: Connection,
  session: SessionSeq,
  source: SourceSession,
  { path, sync }: ImportOptions & { sync: SyncedImport },
  importer: SessionImporter,
) {
  const position = importer.hasUpdates ? undefined : source.position?.();
  const checksum = position && sync.checksumAt(position);
  const leaf = findLeaf(connection, session, MAIN_LEAF)?.seq ?? null;
  setSourceSession(connection, {
    path,
    sourceId: source.header.sessionId,
    session,
    revision: source.revision ?? null,
    leafId: leaf === null ? null : readPathState(connection, leaf).entryId,
    title: importer.title,
    position: position === undefined || checksum === undefined ? null : { ...position, checksum, lastId: importer.lastId },
  });
}

function toNewSession(id: SessionId, header: SourceHeader): NewSession {
  const { parent } = header;
  return {
    id,
    kind: header.kind,
    title: header.title,
    titleSource: header.title === undefined ? undefined : "auto",
    cwd: header.cwd,
    createdAtMs: header.createdAtMs,
    metadata: header.metadata,
    parent: parent && { sessionId: parent.sessionId, entryId: parent.entryId ?? null, toolCallId: parent.toolCallId ?? null },
  };
}
