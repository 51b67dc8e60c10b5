import { SessionExistsError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import * as records from "@bough/session-core/engine";
import { EMPTY_PATH, jsonText, type MetadataPatch, renamedTitle, toSessionRecord, validateWrite } from "@bough/session-core/engine";
import { writeBatch } from "./commit.js";
import type { Database, PgDatabase } from "./database.js";
import { type LockedSession, lockSession } from "./facts.js";
import { findLeafState, PgLeafState } from "./leaf-state.js";
import { openLockedLeaf } from "./leaves.js";
import { listOriginals, lockCopies, settleCopies } from "./origins.js";
import { pgQuery, pgRaw, pgRepeatable } from "./query.js";
import { SESSION_TABLES } from "./schema.js";
import { isWritable, ofSession } from "./session-key.js";
import { findSessionRecord, findSessionRow, insertNewSession, saveMetadata, saveTitle } from "./session-rows.js";
import { listWords, textsOf } from "./word-list.js";
import type { FirstWrites } from "./write-rules.js";

/** Creates a session with its first writes. @throws {SessionExistsError | InvalidEntryError} */
export async function createSession(database: PgDatabase, session: records.NewSession, first: FirstWrites): Promise<records.SessionRecord> {
  await listFirst(database, session.title, first);
  const id = first === undefined ? (await insertNewSession(database, session)).id : undefined;
  if (id !== undefined) return requireRecord(database, id);
  return database.write(async (transaction) => {
    const made = await insertNewSession(transaction, session);
    await writeFirst(transaction, made, first);
    return requireRecord(transaction, made.id);
  });
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
  const found = await findLeafState(database, id, leafName);
  if (found?.leaf !== undefined) return { row: { id, seq: found.session.seq }, leaf: found.leaf };
  if (found === undefined && missing === undefined) throw new SessionNotFoundError(id);
  if (found === undefined) await listFirst(database, missing?.session.title, missing?.first);
  try {
    return await database.write(async (transaction) => {
      const session = await openOrCreate(transaction, id, found === undefined ? missing : undefined);
      const leaf = await openLockedLeaf(transaction, session, leafName);
      return { row: { id, seq: session.seq }, leaf };
    });
  } catch (error) {
    // Another writer has created it since.
    if (found !== undefined || !(error instanceof SessionExistsError)) throw error;
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

/** Returns the record of a session, or undefined. */
export async function findSession(database: PgDatabase, key: records.SessionKey): Promise<records.SessionRecord | undefined> {
  return findSessionRecord(database, key);
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
