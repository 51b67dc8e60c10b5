import {
  BoughError,
  type NewSession,
  SessionExistsError,
  type SessionId,
  SessionNotFoundError,
  type SessionRecord,
} from "@bough/session-core";
import * as records from "@bough/session-core/engine";
import {
  EMPTY_PATH,
  jsonText,
  MAIN_LEAF,
  type MetadataPatch,
  metadataRows,
  renamedTitle,
  type SessionColumns,
  type SessionKey,
  type SessionRecordRow,
  type SessionSeq,
  type SourceColumns,
  sessionColumns,
  toSessionRecord,
  toSessionSeq,
  validateWrite,
} from "@bough/session-core/engine";
import { writeBatch } from "./commit.js";
import type { Database, PgDatabase } from "./database.js";
import { findLeafState, type LockedSession, lockSession, PgLeafState } from "./facts.js";
import { openLockedLeaf } from "./leaves.js";
import { listOriginals, lockCopies, settleCopies } from "./origins.js";
import type { FirstWrites } from "./planned-session.js";
import { pgQuery, pgRaw, pgRepeatable } from "./query.js";
import { SESSION_TABLES } from "./schema.js";
import { isWritable, type KeyParameters, keyParameters, ofSession } from "./session-key.js";
import { listWords, textsOf, vectorOf } from "./words.js";

/** The columns of a `SessionRecordRow`, for SQL on the table `session`. */
export const RECORD_COLUMNS = `session.session_id AS id, session.kind, session.title, session.title_source, session.cwd, session.created_at_ms,
  session.active_at_ms, session.archived_at_ms, session.parent_session_id, session.parent_entry_id, session.parent_call_id,
  session.entry_count, session.message_count, session.payload_bytes, session.first_text, session.source_format, session.source_path,
  session.source_id, session.metadata_json`;

const recordOf = pgQuery<KeyParameters, SessionRecordRow>(({ sql, p }) =>
  pgRaw(sql<SessionRecordRow>`
    SELECT ${sql.raw(RECORD_COLUMNS)} FROM session
    WHERE ${ofSession(sql, p, "session")} AND session.seq = coalesce(${p.sessionSeq}::bigint, session.seq)`),
);

/** Returns the row of a session, or undefined. */
export async function findSessionRow(database: Database, key: SessionKey): Promise<SessionRecordRow | undefined> {
  return database.get(recordOf, keyParameters(key));
}

/** Returns the record of a session, or undefined. */
export async function findSessionRecord(database: Database, key: SessionKey): Promise<SessionRecord | undefined> {
  const row = await findSessionRow(database, key);
  return row && toSessionRecord(row);
}

type NewRow = Omit<SessionColumns, "id"> & {
  readonly session: SessionId;
  readonly seq: number;
  readonly keys: readonly string[];
  readonly members: readonly string[];
  /** Of the title; null: there is none. */
  readonly words: string | null;
};

// The row of the session first: where one exists, nothing is written.
const insertSession = pgQuery<NewRow, { id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId }>`
    WITH made AS (
      INSERT INTO session (tenant, session_id, seq, kind, title, title_source, cwd, created_at_ms, active_at_ms, parent_session_id,
        parent_entry_id, parent_call_id, source_format, source_path, source_id, metadata_json)
      SELECT ${p.tenant}, ${p.session}, ${p.seq}::bigint, ${p.kind}, ${p.title}, ${p.title_source}, ${p.cwd}, ${p.created_at_ms}::bigint,
        ${p.active_at_ms}::bigint, ${p.parent_session_id}, ${p.parent_entry_id}, ${p.parent_call_id}, ${p.source_format}, ${p.source_path},
        ${p.source_id}, ${p.metadata_json}
      WHERE ${isWritable(sql, p)}
      ON CONFLICT (tenant, session_id) DO NOTHING RETURNING tenant, session_id),
    leaves AS (INSERT INTO leaf (tenant, session_id, name, entry_seq) SELECT tenant, session_id, ${sql.lit(MAIN_LEAF)}, NULL FROM made),
    members AS (
      INSERT INTO session_metadata (tenant, session_id, key, value)
      SELECT tenant, session_id, given.* FROM made CROSS JOIN unnest(${p.keys}::text[], ${p.members}::text[]) AS given
      ON CONFLICT DO NOTHING),
    titles AS (
      INSERT INTO session_title (tenant, session_id, words)
      SELECT tenant, session_id, ${p.words}::text::tsvector FROM made WHERE ${p.words}::text IS NOT NULL)
    SELECT session_id AS id FROM made`),
);

const sessionWithSeq = pgQuery<{ session: SessionId; seq: number }, { id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId }>`SELECT session_id AS id FROM session WHERE ${ofSession(sql, p, "session")} AND seq = ${p.seq}`),
);

/**
 * Inserts a session and its leaf `main`, positioned before the first entry. In a transaction, it then holds the session's row. One statement.
 *
 * @throws {SessionExistsError | InvalidEntryError}
 */
export async function insertNewSession(database: Database, given: NewSession, source?: SourceColumns): Promise<LockedSession> {
  const { id, ...columns } = sessionColumns(given, source);
  const members = metadataRows(given.metadata);
  const seq = newSessionSeq();
  const parameters = {
    session: id,
    seq,
    ...columns,
    keys: members.map(({ key }) => key),
    members: members.map(({ value }) => value),
    words: columns.title === null ? null : vectorOf(columns.title, database.tenant),
  };
  const row = await database.once(insertSession, parameters, () => database.get(sessionWithSeq, { session: id, seq }));
  if (row === undefined) {
    await database.requireWritable();
    throw new SessionExistsError(id);
  }
  return { id, seq, lastSeq: 0, cwd: columns.cwd, firstText: null };
}

let newestSeq = 0;

/**
 * A number that no other session of the same id has, without a counter that all writers would share. It also orders sessions of the same
 * activity: those of a process by their creation.
 */
function newSessionSeq(): SessionSeq {
  newestSeq = Math.max(newestSeq + 1, Date.now() * 1000 + Math.floor(Math.random() * 1000));
  return toSessionSeq(newestSeq);
}

const setTitle = pgQuery<{ session: SessionId; title: string | null; source: string | null; words: string | null }>(({ sql, p }) =>
  pgRaw(sql`
    WITH removed AS (DELETE FROM session_title WHERE ${ofSession(sql, p, "session_title")} AND ${p.words}::text IS NULL),
    put AS (
      INSERT INTO session_title (tenant, session_id, words)
      SELECT ${p.tenant}, ${p.session}, ${p.words}::text::tsvector WHERE ${p.words}::text IS NOT NULL
      ON CONFLICT (tenant, session_id) DO UPDATE SET words = excluded.words)
    UPDATE session SET title = ${p.title}, title_source = ${p.source} WHERE ${ofSession(sql, p, "session")}`),
);

/** Sets the title of a session and its words; null removes both. */
export async function saveTitle(
  transaction: Database,
  session: SessionId,
  { title, source }: { readonly title: string | null; readonly source: "user" | "auto" | null },
): Promise<void> {
  await transaction.run(setTitle, { session, title, source, words: title === null ? null : vectorOf(title, transaction.tenant) });
}

const putMetadata = pgQuery<{ session: SessionId; json: string; keys: readonly string[]; members: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`
    WITH removed AS (
      DELETE FROM session_metadata WHERE ${ofSession(sql, p, "session_metadata")} AND NOT key = ANY(${p.keys}::text[])),
    put AS (
      INSERT INTO session_metadata (tenant, session_id, key, value)
      SELECT DISTINCT ON (key) ${p.tenant}, ${p.session}, key, value
      FROM unnest(${p.keys}::text[], ${p.members}::text[]) WITH ORDINALITY AS given (key, value, ordinal) ORDER BY key, ordinal
      ON CONFLICT (tenant, session_id, key) DO UPDATE SET value = excluded.value)
    UPDATE session SET metadata_json = ${p.json} WHERE ${ofSession(sql, p, "session")}`),
);

/** Replaces the metadata of a session, and the members by which it is found. */
export async function saveMetadata(
  transaction: Database,
  session: SessionId,
  metadata: Readonly<Record<string, unknown>>,
  json: string,
): Promise<void> {
  const members = metadataRows(metadata);
  const [keys, values] = [members.map(({ key }) => key), members.map(({ value }) => value)];
  await transaction.run(putMetadata, { session, json, keys, members: values });
}

/** Creates a session with its first writes. @throws {SessionExistsError | InvalidEntryError} */
export async function createSession(database: PgDatabase, session: records.NewSession, first: FirstWrites): Promise<records.SessionRecord> {
  await listFirstOfNew(database, session, first);
  const id = first === undefined ? (await insertNewSession(database, session)).id : undefined;
  if (id !== undefined) return requireRecord(database, id);
  return database.write(async (transaction) => {
    const made = await insertNewSession(transaction, session);
    await writeFirst(transaction, made, first);
    return requireRecord(transaction, made.id);
  });
}

/** Lists the words of a new session. That its id exists is said before that its writes are invalid, as a file does. */
async function listFirstOfNew(database: PgDatabase, { id, title }: records.NewSession, first: FirstWrites): Promise<void> {
  try {
    await listFirst(database, title, first);
  } catch (error) {
    if (!(error instanceof BoughError) || id === undefined || (await findSessionRecord(database, id)) === undefined) throw error;
    throw new SessionExistsError(id);
  }
}

/** Lists the words of a new session. */
export async function listFirst(database: PgDatabase, title: string | null | undefined, first: FirstWrites): Promise<void> {
  const writes = first === undefined ? [] : first.writes.map((write) => validateWrite(write, first.rules.validateEntry));
  await listWords(database, [title ?? "", ...textsOf(writes)]);
}

/** Does the first writes of a new session at its leaf `main`. */
export async function writeFirst(transaction: Database, session: LockedSession, first: FirstWrites): Promise<void> {
  if (first === undefined) return;
  const writes = first.writes.map((write) => validateWrite(write, first.rules.validateEntry));
  const seen = (await findLeafState(transaction, session, records.MAIN_LEAF))?.leaf ?? new PgLeafState(EMPTY_PATH, session);
  await writeBatch(transaction, session, { leafName: records.MAIN_LEAF, seen, onConflict: "error" }, writes, first.rules);
}

async function requireRecord(database: Database, id: SessionId): Promise<records.SessionRecord> {
  const record = await findSessionRecord(database, id);
  if (record === undefined) throw new SessionNotFoundError(id);
  return record;
}

/**
 * Returns a session and one of its leaves, which is created at the position of `main` if it is missing. An unknown session is created if
 * `missing` is given. One statement if both exist.
 *
 * @throws {SessionNotFoundError | InvalidEntryError}
 */
export async function openSession(
  database: PgDatabase,
  id: SessionId,
  leafName: string,
  missing?: { readonly session: Omit<records.NewSession, "id">; readonly first: FirstWrites },
): Promise<records.OpenedSession> {
  const state = await findLeafState(database, id, leafName);
  if (state?.leaf !== undefined) return { row: { id, seq: state.session.seq }, leaf: state.leaf };
  if (state === undefined && missing === undefined) throw new SessionNotFoundError(id);
  if (state === undefined) await listFirst(database, missing?.session.title, missing?.first);
  try {
    return await database.write(async (transaction) => {
      const session = await openOrCreate(transaction, id, state === undefined ? missing : undefined);
      const leaf = await openLockedLeaf(transaction, session, leafName);
      return { row: { id, seq: session.seq }, leaf };
    });
  } catch (error) {
    // Another writer has created it since.
    if (state !== undefined || !(error instanceof SessionExistsError)) throw error;
    return openSession(database, id, leafName, missing);
  }
}

async function openOrCreate(
  transaction: Database,
  id: SessionId,
  missing: { readonly session: Omit<records.NewSession, "id">; readonly first: FirstWrites } | undefined,
): Promise<LockedSession> {
  if (missing === undefined) return lockSession(transaction, id);
  const session = await insertNewSession(transaction, { ...missing.session, id });
  await writeFirst(transaction, session, missing.first);
  return session;
}

/**
 * Sets the title of a session; null or white space removes it. An automatic title never replaces a title that a person gave. Does not
 * change `active_at_ms`, so lists keep their order.
 */
export async function renameSession(database: PgDatabase, id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
  await listWords(database, title === null ? [] : [title]);
  await database.write(async (transaction) => {
    await lockSession(transaction, id);
    const row = await findSessionRow(transaction, id);
    const renamed = row && renamedTitle(row, title, source);
    if (renamed !== undefined) await saveTitle(transaction, id, renamed);
  });
}

const setArchived = pgRepeatable<{ session: SessionId; at: number | null }>(({ sql, p }) =>
  pgRaw(sql`UPDATE session SET archived_at_ms = ${p.at}::bigint WHERE ${isWritable(sql, p)} AND ${ofSession(sql, p, "session")}`),
);

/** Archives or unarchives a session. Lists omit archived sessions by default. */
export async function archiveSession(database: PgDatabase, id: SessionId, archived: boolean): Promise<void> {
  const changed = await database.run(setArchived, { session: id, at: archived ? Date.now() : null });
  if (changed > 0) return;
  await database.requireWritable();
  throw new SessionNotFoundError(id);
}

const lockForDeletion = pgQuery<{ session: SessionId }, { id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId }>`SELECT session_id AS id FROM session WHERE ${ofSession(sql, p, "session")} FOR UPDATE`),
);

const forgetSources = pgQuery<{ session: SessionId }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE source_session SET session_id = NULL, revision = NULL, leaf_id = NULL, title = NULL, position_json = NULL, held_until_ms = NULL
    WHERE ${ofSession(sql, p, "source_session")}`),
);

const deletions = SESSION_TABLES.map((table) =>
  pgQuery<{ session: SessionId }>(({ sql, p }) => pgRaw(sql`DELETE FROM ${sql.table(table)} WHERE ${ofSession(sql, p, table)}`)),
);

/**
 * Deletes a session with its entries, labels, values, usage and words. Forks and subagents' sessions are kept. The server removes the
 * deleted rows from its files when it vacuums the tables.
 */
export async function deleteSession(database: PgDatabase, id: SessionId): Promise<void> {
  await database.write(async (transaction) => {
    await lockCopies(transaction);
    // A writer that waits for the row finds no session afterwards.
    if ((await transaction.get(lockForDeletion, { session: id })) === undefined) throw new SessionNotFoundError(id);
    const originals = await listOriginals(transaction, id);
    await transaction.run(forgetSources, { session: id });
    for (const deletion of deletions) await transaction.run(deletion, { session: id });
    // Of entries that other sessions have copied, one of the copies becomes the original.
    await settleCopies(transaction, originals);
  });
}

/** Sets members of the metadata of a session; those that are undefined are removed, others stay. */
export async function setMetadata(database: PgDatabase, key: records.SessionKey, patch: MetadataPatch): Promise<void> {
  await database.write(async (transaction) => {
    const { id } = await lockSession(transaction, key);
    const row = await findSessionRow(transaction, id);
    const metadata = { ...(row && toSessionRecord(row).metadata), ...patch };
    await saveMetadata(transaction, id, metadata, jsonText(metadata, "The metadata of the session"));
  });
}
