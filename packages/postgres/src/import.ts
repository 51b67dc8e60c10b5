import {
  type EntryId,
  type EntryPayload,
  type FileTools,
  type Label,
  SessionExistsError,
  type SessionId,
  SessionNotFoundError,
} from "@bough/session-core";
import type * as port from "@bough/session-core/engine";
import {
  DifferentSessionError,
  deriveSessionId,
  type EntryPathState,
  type EntrySeq,
  type ExistingSession,
  fromStart,
  type GivenTitle,
  type ImportedEntry,
  type ImportOptions,
  type ImportTarget,
  importInto,
  MAIN_LEAF,
  type NewReading,
  newSession,
  type PathState,
  parseEncoded,
  parseStoredPayload,
  renamedTitle,
  type SessionRecordRow,
  type SourceSession,
  sessionColumns,
  toIndexedText,
  toLeafName,
  toSessionSeq,
  type ValidatedEntry,
  WordCollector,
  type WrittenEntry,
} from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import { type Facts, type LockedSession, lockSession, readFacts, typeOf } from "./facts.js";
import { connectCopies } from "./origins.js";
import { type Changes, PlannedSession, type WriteRules } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import { saveChanges } from "./save-changes.js";
import { ofSession } from "./session-key.js";
import { findSessionRow, insertNewSession, saveTitle } from "./sessions.js";
import { setSourceSession } from "./source-files.js";
import { listCollected, textToWrite } from "./words.js";

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
      const again = fromStart(options, error);
      if (again !== undefined) {
        options = again;
        sessionId = again.sync?.known?.sessionId ?? claimedId;
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
  const empty = { id, seq: toSessionSeq(0), lastSeq: 0, cwd: columns.cwd, firstText: null };
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
  return { session: { id, seq: toSessionSeq(0), lastSeq: row.entry_count, cwd: row.cwd, firstText: row.first_text }, row };
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

/** The facts of a session that an import needs: those of a batch, and more. */
interface ImportFacts extends Facts {
  readonly labels: ReadonlyMap<EntrySeq, Omit<Label, "entryId">>;
  readonly hasMainMoves: boolean;
  readonly title: GivenTitle;
}

/** The names that were read of a session: ids of entries, names of leaves and keys of values. */
class Asked {
  readonly ids = new Set<EntryId>();
  readonly leaves = new Set([MAIN_LEAF]);
  readonly values = new Set<string>();

  /** Reads the source for the names in it. */
  static of(source: SourceSession, { sync, append }: ImportOptions): Asked {
    const asked = new Asked();
    asked.#addIds(sync?.from?.lastId, sync?.known?.leafId, append?.after, append?.leaf);
    for (const record of source.records(sync?.from)) {
      if (record.kind === "entry") asked.#addIds(record.id, record.parentId);
      if (record.kind === "label" || record.kind === "leaf") asked.#addIds(record.entryId);
      if (record.kind === "leaf") asked.leaves.add(toLeafName(record.name));
      if (record.kind === "value") asked.values.add(record.key.toWellFormed());
    }
    return asked;
  }

  #addIds(...ids: readonly (EntryId | null | undefined)[]): void {
    for (const id of ids) if (typeof id === "string") this.ids.add(id);
  }

  get size(): number {
    return this.ids.size + this.leaves.size + this.values.size;
  }
}

/** The import looked up a name that was not read. `Asked` contains it now, so that the caller reads it and plans again. */
class NotReadError extends Error {
  override readonly name = "NotRead";
}

/** The changes of an import that a batch cannot make. */
interface ImportChanges {
  readonly title: GivenTitle | undefined;
  readonly origin: { readonly cwd: string | null; readonly createdAtMs: number } | undefined;
  readonly call: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string } | undefined;
  readonly reading: NewReading | undefined;
}

/**
 * A session as an import needs it, and the changes of the import. `asked` lists the names that were read; undefined for a new session,
 * which has none. A look-up of any other name adds it to `asked`, and `settle` throws `NotReadError`.
 */
class PlannedImport extends PlannedSession implements ImportTarget {
  readonly #facts: ImportFacts;
  readonly #asked: Asked | undefined;
  readonly #askedBefore: number;
  readonly #ownIds = new Set<EntryId>();
  readonly #ownValues = new Map<string, unknown>();
  readonly #changed: { -readonly [K in keyof ImportChanges]: ImportChanges[K] } = {
    title: undefined,
    origin: undefined,
    call: undefined,
    reading: undefined,
  };
  /** The words of the new entries. */
  readonly words = new WordCollector();
  #references: ReadonlySet<SessionId> = new Set();
  title: GivenTitle;

  constructor(tenant: string, session: LockedSession, facts: ImportFacts, fileTools: FileTools, asked?: Asked) {
    super(tenant, session, facts, fileTools);
    this.#facts = facts;
    this.#asked = asked;
    this.#askedBefore = asked?.size ?? 0;
    this.title = facts.title;
  }

  get changed(): ImportChanges {
    return this.#changed;
  }

  /** True if the import looked up a name that was not read. */
  get isShort(): boolean {
    return this.#asked !== undefined && this.#asked.size > this.#askedBefore;
  }

  settle(references: ReadonlySet<SessionId>): void {
    if (this.isShort) throw new NotReadError();
    this.#references = references;
  }

  /** The sessions to which new entries refer. */
  get references(): ReadonlySet<SessionId> {
    return this.#references;
  }

  override find(id: EntryId): EntrySeq | undefined {
    if (!this.#ownIds.has(id)) this.#asked?.ids.add(id);
    return super.find(id);
  }

  payloadOf(id: EntryId): EntryPayload | undefined {
    const fact = this.find(id) === undefined ? undefined : this.factOf(id);
    return fact?.payload == null ? undefined : parseStoredPayload(typeOf(fact.kind), fact.payload);
  }

  override findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    const { id } = entry;
    if (id === undefined || this.find(id) === undefined) return undefined;
    // Known only as the place of a leaf: its payload was not read.
    return this.factOf(id)?.payload === null ? undefined : super.findEqual(entry, parent);
  }

  override write(parent: PathState, entry: ImportedEntry): EntryPathState {
    const state = super.write(parent, entry);
    this.#ownIds.add(state.entryId);
    this.words.add(toIndexedText(textToWrite(entry.payload)));
    return state;
  }

  writeNew(parent: PathState, entry: ImportedEntry): WrittenEntry {
    const known = this.findEqual(entry);
    return known === undefined ? { state: this.write(parent, entry), isKnown: false } : { state: known, isKnown: true };
  }

  override findLeaf(name: string): EntrySeq | null | undefined {
    this.#asked?.leaves.add(name);
    return super.findLeaf(name);
  }

  hasLeafMoves(): boolean {
    return this.#facts.hasMainMoves;
  }

  findLabel(entry: EntrySeq): Omit<Label, "entryId"> | undefined {
    return this.#facts.labels.get(entry);
  }

  presentValue(key: string): unknown {
    const stored = key.toWellFormed();
    if (this.#ownValues.has(stored)) return this.#ownValues.get(stored);
    if (this.#asked !== undefined && !this.#asked.values.has(stored)) {
      this.#asked.values.add(stored);
      throw new NotReadError();
    }
    const json = this.#facts.values.get(stored);
    return json === undefined ? undefined : parseEncoded(json);
  }

  override setValue(key: string, value: unknown): void {
    super.setValue(key, value);
    this.#ownValues.set(key.toWellFormed(), value);
  }

  rename(title: string | null, source: "user" | "auto"): void {
    const renamed = renamedTitle({ title: this.title.title, title_source: this.title.source }, title, source);
    if (renamed === undefined) return;
    this.title = renamed;
    this.#changed.title = renamed;
    this.words.add(toIndexedText(renamed.title ?? ""));
  }

  setOrigin(cwd: string | null, createdAtMs: number): void {
    this.#changed.origin = { cwd, createdAtMs };
  }

  linkToCall(call: NonNullable<ImportChanges["call"]>): void {
    this.#changed.call = call;
  }

  keepReading(reading: NewReading): void {
    this.#changed.reading = reading;
  }
}

type LabelRow = { readonly seq: EntrySeq; readonly label: string; readonly createdAtMs: number };

const labelsOf = pgQuery<{ session: SessionId }, LabelRow>(({ sql, p }) =>
  pgRaw(sql<LabelRow>`
    SELECT entry_seq AS seq, label, created_at_ms AS "createdAtMs" FROM label WHERE ${ofSession(sql, p, "label")}`),
);

const anyMove = pgQuery<{ session: SessionId; name: string }, { found: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT 1 FROM leaf_move WHERE ${ofSession(sql, p, "leaf_move")} AND leaf_name = ${p.name} AND state IN ('done', 'undone')) AS found`),
);

/** Reads what an import asks about a session. Three statements. */
async function readImportFacts(transaction: Database, row: SessionRecordRow, asked: Asked): Promise<ImportFacts> {
  const session = row.id;
  const wanted = {
    leaves: [...asked.leaves],
    ids: [],
    written: [...asked.ids],
    values: [...asked.values],
    needsRuns: true,
    needsMarks: true,
  };
  const facts = await readFacts(transaction, session, wanted);
  const labels = await transaction.all(labelsOf, { session });
  const moves = await transaction.get(anyMove, { session, name: MAIN_LEAF });
  return {
    ...facts,
    labels: new Map(labels.map(({ seq, ...label }) => [seq, label])),
    hasMainMoves: moves?.found === true,
    title: { title: row.title, source: row.title_source },
  };
}

const setOrigin = pgQuery<{ session: SessionId; cwd: string | null; createdAtMs: number }>(({ sql, p }) =>
  pgRaw(sql`UPDATE session SET cwd = ${p.cwd}, created_at_ms = ${p.createdAtMs} WHERE ${ofSession(sql, p, "session")}`),
);

const setCall = pgQuery<{ session: SessionId; sessionId: SessionId; entryId: EntryId | null; toolCallId: string }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET parent_session_id = ${p.sessionId}, parent_entry_id = ${p.entryId}, parent_call_id = ${p.toolCallId}
    WHERE ${ofSession(sql, p, "session")}`),
);

/** Writes what an import changes. The caller holds the session's row. */
async function saveImport(transaction: Database, session: LockedSession, plan: PlannedImport, changes: Changes): Promise<void> {
  const { id } = session;
  const { title, origin, call, reading } = plan.changed;
  await saveChanges(transaction, session, changes);
  const [first] = changes.entries;
  if (first !== undefined) await connectCopies(transaction, id, { from: first.seq, references: plan.references });
  if (title !== undefined) await saveTitle(transaction, id, title);
  if (origin !== undefined) await transaction.run(setOrigin, { session: id, ...origin });
  if (call !== undefined) await transaction.run(setCall, { session: id, ...call });
  if (reading !== undefined) await setSourceSession(transaction, { ...reading, sessionId: id });
}
