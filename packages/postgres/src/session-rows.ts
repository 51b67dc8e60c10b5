import { type NewSession, SessionExistsError, type SessionId, type SessionRecord } from "@bough/session-core";
import {
  MAIN_LEAF,
  metadataRows,
  type SessionColumns,
  type SessionKey,
  type SessionRecordRow,
  type SourceColumns,
  sessionColumns,
  toSessionRecord,
} from "@bough/session-core/engine";
import type { Database } from "./database.js";
import type { LockedSession } from "./facts.js";
import { pgQuery, pgRaw } from "./query.js";
import { isWritable, type KeyParameters, keyParameters, ofSession } from "./session-key.js";
import { vectorOf } from "./words.js";

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
function newSessionSeq(): number {
  newestSeq = Math.max(newestSeq + 1, Date.now() * 1000 + Math.floor(Math.random() * 1000));
  return newestSeq;
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
