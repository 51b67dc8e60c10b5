import { SessionExistsError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import type * as port from "@bough/session-core/engine";
import {
  DifferentSessionError,
  deriveSessionId,
  type ExistingSession,
  fromStart,
  importInto,
  MAIN_LEAF,
  newSession,
  SessionDeletedError,
  type SessionRecordRow,
  type SourceSession,
  sessionColumns,
  toIndexedText,
} from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import { type LockedSession, lockSession } from "./facts.js";
import { readImportFacts, saveImport } from "./import-rows.js";
import { Asked, NotReadError, PlannedImport } from "./planned-import.js";
import type { Changes } from "./planned-session.js";
import { findSessionRow, insertNewSession } from "./session-rows.js";
import { listCollected } from "./word-list.js";
import type { WriteRules } from "./write-rules.js";

type Imported = Omit<port.ImportedSession, "claimedId">;

/** An import, with the rules of writes. */
interface ImportRun {
  readonly source: SourceSession;
  readonly options: port.ImportOptions;
  readonly rules: WriteRules;
}

/**
 * Imports a source session in one transaction. Existing entries are not changed, so importing again adds only new entries. If the session
 * with the source's id has other entries, the source becomes another session, as in `import/import-session.ts`.
 */
export async function importSession(
  database: PgDatabase,
  source: SourceSession,
  given: port.ImportOptions,
  rules: WriteRules,
): Promise<port.ImportedSession> {
  const claimedId = source.header.sessionId;
  let options = given;
  // Earlier imports of this file wrote to this session, whatever its id became.
  let sessionId = given.sync?.known?.sessionId ?? claimedId;
  for (;;) {
    try {
      return { ...(await importAs(database, sessionId, { source, options, rules })), claimedId };
    } catch (error) {
      if (error instanceof SessionDeletedError && options.sync !== undefined) {
        options = fromStart(options, options.sync);
        sessionId = claimedId;
      } else if (error instanceof DifferentSessionError) {
        sessionId = deriveSessionId(claimedId, sessionId, error.evidence);
      } else if (!isOutdated(error, sessionId)) throw error;
    }
  }
}

/** True if another writer has created or deleted the session, or has written to it, since the import read it. */
function isOutdated(error: unknown, id: SessionId): boolean {
  return (
    error instanceof OutdatedPlan ||
    ((error instanceof SessionExistsError || error instanceof SessionNotFoundError) && error.sessionId === id)
  );
}

/** An import that was planned without a lock is not the one that the session needs now. */
class OutdatedPlan extends Error {
  override readonly name = "OutdatedPlan";
}

async function importAs(database: PgDatabase, id: SessionId, run: ImportRun): Promise<Imported> {
  const row = await findSessionRow(database, id);
  return row === undefined ? importNew(database, id, run) : importExisting(database, id, run);
}

/** Plans the whole session before its transaction: nothing of it is on the server. */
async function importNew(database: PgDatabase, id: SessionId, { source, options, rules }: ImportRun): Promise<Imported> {
  const created = newSession(id, source.header, options);
  const from = { ...options, id: source.header.sessionId };
  const columns = sessionColumns(created, from);
  const empty = { id, seq: 0, lastSeq: 0, cwd: columns.cwd, firstText: null };
  const title = { title: columns.title, source: columns.title_source };
  const plan = new PlannedImport(database.tenant, empty, { ...NOTHING, title }, rules.fileTools);
  const imported = importInto(plan, undefined, source, options, rules.validateEntry);
  const changes = plan.takeChanges();
  plan.words.add(toIndexedText(columns.title ?? ""));
  await listCollected(database, plan.words.list());
  await database.write(async (transaction) => {
    await saveImport(transaction, await insertNewSession(transaction, created, from), plan, changes);
  });
  return imported;
}

const NOTHING = {
  leaves: new Map([[MAIN_LEAF, null]]),
  entries: [],
  runs: [],
  marks: [],
  values: new Map(),
  labels: new Map(),
  hasMainMoves: false,
};

/**
 * Plans an import into a session that exists; if it changes something, plans it again under the session's lock and writes it. The words
 * of new entries are listed between the two.
 */
async function importExisting(database: PgDatabase, id: SessionId, run: ImportRun): Promise<Imported> {
  const asked = Asked.of(run.source, run.options);
  const first = await database.read(async (transaction) => planExisting(transaction, await readSession(transaction, id), run, asked));
  if (!first.changesSomething) return first.imported;
  const words = first.plan.words.list();
  await listCollected(database, words);
  return database.write(async (transaction) => {
    await lockSession(transaction, id);
    const planned = await planExisting(transaction, await readSession(transaction, id), run, asked);
    if (planned.changes.entries.length > first.changes.entries.length) throw new OutdatedPlan();
    await saveImport(transaction, planned.session, planned.plan, planned.changes);
    return planned.imported;
  });
}

interface ReadSession {
  readonly session: LockedSession;
  readonly row: SessionRecordRow;
}

async function readSession(transaction: Database, id: SessionId): Promise<ReadSession> {
  const row = await findSessionRow(transaction, id);
  if (row === undefined) throw new SessionNotFoundError(id);
  // Entries are numbered without gaps.
  return { session: { id, seq: 0, lastSeq: row.entry_count, cwd: row.cwd, firstText: row.first_text }, row };
}

async function planExisting(transaction: Database, { session, row }: ReadSession, run: ImportRun, asked: Asked) {
  const { source, options, rules } = run;
  const existing: ExistingSession = { kind: row.kind, cwd: row.cwd, entryCount: row.entry_count, callId: row.parent_call_id };
  // Without entries, the folder of the source becomes that of the session before the first entry is written.
  const cwd = row.entry_count === 0 && options.append !== undefined ? (row.cwd ?? source.header.cwd ?? null) : row.cwd;
  for (;;) {
    const facts = await readImportFacts(transaction, row, asked);
    const plan = new PlannedImport(transaction.tenant, { ...session, cwd }, facts, rules.fileTools, asked);
    try {
      const imported = importInto(plan, existing, source, options, rules.validateEntry);
      if (!plan.isShort) return planned(session, plan, imported);
    } catch (error) {
      // Facts that were not read may be the reason of any error.
      if (!plan.isShort && !(error instanceof NotReadError)) throw error;
    }
  }
}

interface Planned {
  readonly session: LockedSession;
  readonly plan: PlannedImport;
  readonly changes: Changes;
  readonly imported: Imported;
  readonly changesSomething: boolean;
}

function planned(session: LockedSession, plan: PlannedImport, imported: Imported): Planned {
  const changes = plan.takeChanges();
  const { title, origin, call, reading } = plan.changed;
  const written = changes.entries.length + changes.leaves.size + changes.labels.size + changes.values.size;
  const changesSomething = written > 0 || [title, origin, call, reading].some((one) => one !== undefined);
  return { session, plan, changes, imported, changesSomething };
}
