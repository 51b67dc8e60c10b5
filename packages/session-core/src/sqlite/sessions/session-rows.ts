import { jsonText } from "../../entry/json.js";
import { SessionExistsError, SessionNotFoundError } from "../../errors/session-errors.js";
import type { EntryId, SessionId, SessionSeq } from "../../ids/ids.js";
import { MAIN_LEAF, type NewSession, type SessionKey, type SessionRow } from "../../port/records.js";
import type { MetadataPatch } from "../../port/writes.js";
import {
  renamedTitle,
  type SessionColumns,
  type SourceColumns,
  sessionColumns,
  sessionIdOf,
  shortenId,
} from "../../rules/session-columns.js";
import { metadataRows } from "../../rules/session-filter.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";
import type { SessionTable } from "../schema.js";
import { indexTitle, mergeIndex } from "../search/search-index.js";
import { forgetSourceSession } from "./source-files.js";

/** The columns that an insert and a copy set. */
export function givenColumns(p: Omit<SessionColumns, "id">) {
  return {
    kind: p.kind,
    title: p.title,
    title_source: p.title_source,
    cwd: p.cwd,
    created_at_ms: p.created_at_ms,
    active_at_ms: p.active_at_ms,
    parent_session_id: p.parent_session_id,
    parent_entry_id: p.parent_entry_id,
    parent_call_id: p.parent_call_id,
    source_format: p.source_format,
    source_path: p.source_path,
    source_id: p.source_id,
    metadata_json: p.metadata_json,
  };
}

// Changes no row if there is a session of this id. No RETURNING: with it, SQLite also looks for rows of a session that is new in every table.
const insertSession = query<SessionColumns>(({ db, p }) =>
  db
    .insertInto("session")
    .values({ id: p.id, ...givenColumns(p) })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

const sessionById = query<{ id: SessionId }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.id));

const insertLeaf = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.insertInto("leaf").values({ session_seq: p.session, name: p.name, entry_seq: null }),
);

/**
 * Inserts a session and its leaf `main`, positioned before the first entry. Call it inside `write`.
 *
 * @throws {SessionExistsError | InvalidEntryError}
 */
export function insertNewSession(connection: Connection, session: NewSession, source?: SourceColumns): SessionRow {
  const row = sessionColumns(session, source);
  const { id } = row;
  if (connection.run(insertSession, row) === 0) throw new SessionExistsError(id);
  const seq = requireSessionSeq(connection, id);
  connection.run(insertLeaf, { session: seq, name: MAIN_LEAF });
  if (row.title !== null) indexTitle(connection, seq, row.title);
  if (session.metadata !== undefined) insertMetadata(connection, seq, session.metadata);
  return { id, seq };
}

function matchesKey(key: SessionKey, { seq }: { readonly seq: SessionSeq }): boolean {
  return typeof key === "string" || key.seq === seq;
}

/** Returns the row of a session, or undefined. */
export function findSessionRow(connection: Connection, key: SessionKey): SessionTable | undefined {
  const row = connection.get(sessionById, { id: sessionIdOf(key) });
  return row !== undefined && matchesKey(key, row) ? row : undefined;
}

/** Returns the row of a session. @throws {SessionNotFoundError} */
export function requireSessionRow(connection: Connection, id: SessionId): SessionTable {
  const row = findSessionRow(connection, id);
  if (row === undefined) throw new SessionNotFoundError(id);
  return row;
}

const seqById = query<{ id: SessionId }, { seq: SessionSeq }>(({ db, p }) => db.selectFrom("session").select("seq").where("id", "=", p.id));

/** Resolves a session key to id and row number. @throws {SessionNotFoundError} */
export function resolveSession(connection: Connection, key: SessionKey): SessionRow {
  return { id: sessionIdOf(key), seq: requireSessionSeq(connection, key) };
}

/** Returns the row number of a session, the foreign key of other tables. @throws {SessionNotFoundError} */
export function requireSessionSeq(connection: Connection, key: SessionKey): SessionSeq {
  const row = connection.get(seqById, { id: sessionIdOf(key) });
  if (row === undefined || !matchesKey(key, row)) throw new SessionNotFoundError(sessionIdOf(key));
  return row.seq;
}

const setTitle = query<{ session: SessionSeq; title: string | null; source: "user" | "auto" | null }>(({ db, p }) =>
  db.updateTable("session").set({ title: p.title, title_source: p.source }).where("seq", "=", p.session),
);

/**
 * Sets the title of a session; null or white space removes it. An automatic title never replaces a title that a person
 * gave. Does not change `active_at_ms`, so lists keep their order.
 */
export function renameSession(connection: Connection, id: SessionId, title: string | null, source: "user" | "auto"): void {
  connection.write(() => {
    const row = requireSessionRow(connection, id);
    const renamed = renamedTitle(row, title, source);
    if (renamed === undefined) return;
    connection.run(setTitle, { session: row.seq, ...renamed });
    indexTitle(connection, row.seq, renamed.title);
  });
}

const setParent = query<{ session: SessionSeq; parent: SessionId; entry: EntryId | null; call: string }>(({ db, p }) =>
  db
    .updateTable("session")
    .set({ parent_session_id: p.parent, parent_entry_id: p.entry, parent_call_id: p.call })
    .where("seq", "=", p.session),
);

/** Links the session of a subagent to the tool call that started it. Call it inside `write`. */
export function linkToCall(
  connection: Connection,
  session: SessionSeq,
  { sessionId, entryId, toolCallId }: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string },
): void {
  connection.run(setParent, { session, parent: sessionId, entry: entryId, call: toolCallId });
}

const setOrigin = query<{ session: SessionSeq; cwd: string | null; at: number }>(({ db, p }) =>
  db.updateTable("session").set({ cwd: p.cwd, created_at_ms: p.at }).where("seq", "=", p.session),
);

/** Sets folder and time of a session whose first lines did not have them. Call it inside `write`. */
export function setSessionOrigin(connection: Connection, session: SessionSeq, cwd: string | null, createdAtMs: number): void {
  connection.run(setOrigin, { session, cwd, at: createdAtMs });
}

const setArchived = query<{ session: SessionSeq; at: number | null }>(({ db, p }) =>
  db.updateTable("session").set({ archived_at_ms: p.at }).where("seq", "=", p.session),
);

/** Archives or unarchives a session. Lists omit archived sessions by default. */
export function archiveSession(connection: Connection, id: SessionId, archived: boolean): void {
  connection.write(() => connection.run(setArchived, { session: requireSessionSeq(connection, id), at: archived ? Date.now() : null }));
}

const recordDeletedSeq = query<{ session: SessionSeq }>(({ db, sql, p }) =>
  db.updateTable("store_state").set({
    deleted_seq: sql`max(deleted_seq, coalesce((SELECT max(seq) FROM entry WHERE session_seq = ${p.session}), 0))`,
  }),
);
const removeTexts = query<{ session: SessionSeq }>(({ db, p }) =>
  db.deleteFrom("entry_text").where("rowid", "in", db.selectFrom("entry").select("seq").where("session_seq", "=", p.session)),
);
const deleteLeaves = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("leaf").where("session_seq", "=", p.session));
const removeSession = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("session").where("seq", "=", p.session));

/**
 * Deletes a session with its entries, labels, values, usage and search index. `secure_delete` overwrites the freed pages; the
 * caller must truncate the WAL. Forks and subagents' sessions are kept.
 *
 * Cost: linear in the session and in the whole search index, whose segments are merged so that no deleted word is left in them.
 */
export function deleteSession(connection: Connection, id: SessionId): void {
  connection.write(() => {
    const session = requireSessionSeq(connection, id);
    connection.run(recordDeletedSeq, { session });
    connection.run(removeTexts, { session });
    indexTitle(connection, session, null);
    connection.run(deleteLeaves, { session });
    forgetSourceSession(connection, session);
    connection.run(removeSession, { session });
    mergeIndex(connection);
  });
}

const removeRows = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("session_metadata").where("session_seq", "=", p.session));
const insertRow = query<{ session: SessionSeq; key: string; value: string }>(({ db, p }) =>
  db
    .insertInto("session_metadata")
    .values({ key: p.key, value: p.value, session_seq: p.session })
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Replaces the members by which a session is found, so that they are those of `metadata`: every change of `metadata_json` needs it.
 * Call it inside `write`.
 */
export function indexMetadata(connection: Connection, session: SessionSeq, metadata: Readonly<Record<string, unknown>>): void {
  connection.run(removeRows, { session });
  insertMetadata(connection, session, metadata);
}

function insertMetadata(connection: Connection, session: SessionSeq, metadata: Readonly<Record<string, unknown>>): void {
  for (const { key, value } of metadataRows(metadata)) connection.run(insertRow, { session, key, value });
}

const metadataOf = query<{ session: SessionSeq }, { metadata_json: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("metadata_json").where("seq", "=", p.session),
);
const putMetadata = query<{ session: SessionSeq; json: string }>(({ db, p }) =>
  db.updateTable("session").set({ metadata_json: p.json }).where("seq", "=", p.session),
);

/** Sets members of the metadata of a session; those that are undefined are removed, others stay. Call it inside `write`. */
export function setMetadata(connection: Connection, { seq }: { readonly seq: SessionSeq }, patch: MetadataPatch): void {
  const present: MetadataPatch = JSON.parse(connection.get(metadataOf, { session: seq })?.metadata_json ?? "{}");
  const metadata = { ...present, ...patch };
  // JSON has no members that are undefined.
  connection.run(putMetadata, { session: seq, json: jsonText(metadata, "The metadata of the session") });
  indexMetadata(connection, seq, metadata);
}

const sessionBefore = query<{ id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("session").select("id").where("id", "<", p.id).orderBy("id", "desc").limit(1),
);
// A prefix of a conversation and of its own subagents means the conversation. `/` is the character after the dot between their ids.
const sessionAfter = query<{ id: string }, { id: string }>(({ db, sql, p }) =>
  db
    .selectFrom("session")
    .select("id")
    .where("id", ">", p.id)
    .where(sql<boolean>`(id < ${p.id} || '.' OR id >= ${p.id} || '/')`)
    .orderBy("id")
    .limit(1),
);

/** For each session id its shortest unique prefix of at least four characters. One that subagents share means the conversation. */
export function shortSessionIds(connection: Connection, ids: readonly SessionId[]): ReadonlyMap<SessionId, string> {
  const short = new Map<SessionId, string>();
  for (const id of ids) short.set(id, shortenId(id, [connection.get(sessionBefore, { id })?.id, connection.get(sessionAfter, { id })?.id]));
  return short;
}
