import type { SessionId } from "../../ids/ids.js";
import { MAIN_LEAF, type NewSession } from "../../port/records.js";
import type { ImportedSession, ImportOptions } from "../../port/session-storage.js";
import { ReadFromStartError, type SourceHeader, type SourceSession, type SyncedImport } from "../../port/source.js";
import type { Validate } from "../batch-writer.js";
import { assertSessionTime } from "../session-columns.js";
import type { ExistingSession, ImportTarget, NewReading } from "./import-target.js";
import { toStoredMs } from "./repair.js";
import { SessionImporter } from "./session-importer.js";

/** The session of an earlier sync was deleted after the sync read its record: the caller imports it from the start. */
class SessionDeletedError extends Error {
  override readonly name = "SessionDeleted";
}

/** The options with which an import is tried again after one of these errors, from the start of its source; undefined: it is another error. */
export function fromStart(options: ImportOptions, error: unknown): ImportOptions | undefined {
  const { sync } = options;
  if (sync !== undefined && error instanceof SessionDeletedError)
    return { ...options, sync: { ...sync, known: undefined, from: undefined } };
  if (sync?.from !== undefined && error instanceof ReadFromStartError) return { ...options, sync: { ...sync, from: undefined } };
  return undefined;
}

/** Imports a source session into one session; `existing`: as it was before, undefined: the import has created it. */
export function importInto(
  target: ImportTarget,
  existing: ExistingSession | undefined,
  source: SourceSession,
  options: ImportOptions,
  validate: Validate,
): Omit<ImportedSession, "claimedId"> {
  if (existing === undefined && options.sync?.known !== undefined) throw new SessionDeletedError();
  options.append?.begin((key) => existing && target.presentValue(key));
  const { cwd, createdAtMs, parent } = source.header;
  // Entries without a time get it.
  assertSessionTime(createdAtMs);
  // The first lines of a transcript may have neither.
  if (existing?.entryCount === 0 && options.append !== undefined && createdAtMs !== undefined)
    target.setOrigin(existing.cwd ?? cwd ?? null, createdAtMs);
  // A session without entries cannot differ.
  const isNew = existing === undefined || existing.entryCount === 0;
  const importer = new SessionImporter(target, options, validate, isNew);
  const imported = importer.run(source);
  for (const [key, value] of options.append?.values(importer.stored) ?? []) target.setValue(key, value);
  if (options.sync !== undefined) target.keepReading(readingOf(target, source, { ...options, sync: options.sync }, importer));
  // The call that started an agent may have been written after the agent was first imported.
  if (existing?.kind === "subagent" && existing.callId === null && parent?.toolCallId !== undefined)
    target.linkToCall({ sessionId: parent.sessionId, entryId: parent.entryId ?? null, toolCallId: parent.toolCallId });
  return imported;
}

/** Returns the record of this reading for the next sync. */
function readingOf(
  target: ImportTarget,
  source: SourceSession,
  { path, sync }: ImportOptions & { sync: SyncedImport },
  importer: SessionImporter,
): NewReading {
  const position = importer.hasOtherIds ? undefined : source.position?.();
  const checksum = position && sync.checksumAt(position);
  return {
    path,
    sourceId: source.header.sessionId,
    // The next sync reads the part that was left out, even if the source does not change.
    revision: importer.heldUntilMs === null ? (source.revision ?? null) : null,
    leafId: target.stateAt(target.findLeaf(MAIN_LEAF) ?? null).entryId,
    title: importer.title,
    position: position === undefined || checksum === undefined ? null : { ...position, checksum, lastId: importer.lastId },
    heldUntilMs: importer.heldUntilMs,
  };
}

/** The session that a source creates. One that names itself as the session before it has none. */
export function newSession(id: SessionId, header: SourceHeader, { writtenAtMs }: ImportOptions): NewSession {
  const parent = header.parent?.sessionId === header.sessionId ? undefined : header.parent;
  return {
    id,
    kind: header.kind,
    title: header.title,
    titleSource: header.title === undefined ? undefined : "auto",
    cwd: header.cwd,
    createdAtMs: header.createdAtMs ?? (writtenAtMs === undefined ? undefined : toStoredMs(writtenAtMs)),
    metadata: header.metadata,
    parent: parent && { sessionId: parent.sessionId, entryId: parent.entryId ?? null, toolCallId: parent.toolCallId ?? null },
  };
}
