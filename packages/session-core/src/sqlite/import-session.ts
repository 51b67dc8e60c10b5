import type { EntryPayload } from "../entry/entry.js";
import type { EntryId, EntrySeq, SessionId } from "../ids/ids.js";
import type { Label } from "../port/records.js";
import type { ImportedSession, ImportOptions, ImportOutcome, SessionImport } from "../port/session-storage.js";
import type { SourceSession } from "../port/source.js";
import type { Validate } from "../rules/batch-writer.js";
import type { PathState } from "../rules/derived-columns.js";
import { DifferentSessionError, deriveSessionId } from "../rules/import/different-session.js";
import { fromStart, importInto, newSession } from "../rules/import/import-into.js";
import type { GivenTitle, ImportedEntry, ImportTarget, NewReading, WrittenEntry } from "../rules/import/import-target.js";
import type { FileTools } from "../tools/known-tools.js";
import type { Connection } from "./file/connection.js";
import { checkpointRarely, checkpointUsually } from "./file/open-database.js";
import {
  findSessionRow,
  insertNewSession,
  linkToCall,
  renameSession,
  requireSessionRow,
  setSessionOrigin,
} from "./sessions/session-rows.js";
import { setSourceSession } from "./sessions/source-files.js";
import { findValue } from "./sessions/values.js";
import { findLabel } from "./tree/annotations.js";
import { StoredSession } from "./tree/commit.js";
import { findEntryRow, findEntrySeq, parsePayload } from "./tree/entry-rows.js";
import { isTip, type WriteTarget } from "./tree/entry-writer.js";
import { hasLeafMoves } from "./tree/leaves.js";
import { connectCopies } from "./tree/origins.js";

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

/** A session in the file that an import writes to. Each answer and each change is a statement. */
class StoredImport extends StoredSession implements ImportTarget {
  readonly #connection: Connection;
  readonly #session: WriteTarget;

  constructor(connection: Connection, session: WriteTarget) {
    super(connection, session);
    this.#connection = connection;
    this.#session = session;
  }

  find(id: EntryId): EntrySeq | undefined {
    return findEntrySeq(this.#connection, this.#session.seq, id);
  }

  payloadOf(id: EntryId): EntryPayload | undefined {
    const row = findEntryRow(this.#connection, this.#session.seq, id);
    return row && parsePayload(this.#connection, row);
  }

  isTip(seq: EntrySeq): boolean {
    return isTip(this.#connection, this.#session.seq, seq);
  }

  writeNew(parent: PathState, entry: ImportedEntry): WrittenEntry {
    return this.writer.appendNew(parent, entry);
  }

  hasLeafMoves(name: string): boolean {
    return hasLeafMoves(this.#connection, this.#session.seq, name);
  }

  findLabel(entry: EntrySeq): Omit<Label, "entryId"> | undefined {
    return findLabel(this.#connection, this.#session.seq, entry);
  }

  presentValue(key: string): unknown {
    return findValue(this.#connection, this.#session, key)?.value;
  }

  get title(): GivenTitle {
    const { title, title_source: source } = requireSessionRow(this.#connection, this.id);
    return { title, source };
  }

  rename(title: string | null, source: "user" | "auto"): void {
    renameSession(this.#connection, this.id, title, source);
  }

  setOrigin(cwd: string | null, createdAtMs: number): void {
    setSessionOrigin(this.#connection, this.#session.seq, cwd, createdAtMs);
  }

  linkToCall(call: Parameters<ImportTarget["linkToCall"]>[0]): void {
    linkToCall(this.#connection, this.#session.seq, call);
  }

  keepReading(reading: NewReading): void {
    setSourceSession(this.#connection, { ...reading, session: this.#session.seq });
  }

  settle(references: ReadonlySet<SessionId>): void {
    this.flushTotals();
    const { firstWritten: from } = this.writer;
    if (from !== undefined) connectCopies(this.#connection, this.#session, { from, references });
  }
}
