import { createHash } from "node:crypto";
import type { SessionId } from "../ids/ids.js";
import type { NewSession } from "../port/records.js";
import type { ImportedSession, ImportOptions } from "../port/session-storage.js";
import { findRow, insertNewSession, linkToCall } from "../sessions/session-rows.js";
import type { SourceHeader, SourceSession } from "../source/source-session.js";
import type { Connection } from "../storage/connection.js";
import type { FileTools } from "../tools/known-tools.js";
import { DifferentSession, type Judge, SessionImport } from "./session-import.js";

/**
 * Brings one source session into the store, in one transaction: all of it or nothing. What is there already is left as
 * it is, so importing again adds only what is new.
 *
 * When the session of the claimed id holds other entries, the source becomes a session of its own, whose id is made
 * from the first difference: the same one at the next import.
 */
export function importSource(
  connection: Connection,
  source: SourceSession,
  options: ImportOptions,
  judge: Judge,
  fileTools: FileTools,
): ImportedSession {
  const claimedId = source.header.sessionId;
  for (let sessionId = claimedId; ; ) {
    try {
      const imported = connection.write(() => importInto(connection, sessionId, source, options, judge, fileTools));
      return { ...imported, claimedId };
    } catch (error) {
      if (!(error instanceof DifferentSession)) throw error;
      sessionId = otherId(claimedId, sessionId, error.evidence);
    }
  }
}

function otherId(claimed: SessionId, tried: SessionId, evidence: string): SessionId {
  const digest = createHash("sha256").update(tried).update("\n").update(evidence).digest("hex");
  return `${claimed.slice(0, 100)}~${digest.slice(0, 8)}`;
}

function importInto(
  connection: Connection,
  sessionId: SessionId,
  source: SourceSession,
  options: ImportOptions,
  judge: Judge,
  fileTools: FileTools,
) {
  const existing = findRow(connection, sessionId);
  const seq =
    existing?.seq ?? insertNewSession(connection, newSession(sessionId, source.header), { ...options, id: source.header.sessionId });
  const target = { id: sessionId, seq, fileTools };
  // A session without an entry has nothing that could differ.
  const isNew = existing === undefined || existing.entry_count === 0;
  const imported = new SessionImport(connection, target, options, judge, isNew).run(source);
  const { parent } = source.header;
  // The call that started an agent may have been written after the agent was imported first.
  if (existing?.kind === "subagent" && existing.parent_call_id === null && parent?.toolCallId !== undefined) {
    linkToCall(connection, seq, { sessionId: parent.sessionId, entryId: parent.entryId ?? null, toolCallId: parent.toolCallId });
  }
  return imported;
}

function newSession(id: SessionId, header: SourceHeader): NewSession {
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
