import { assertJson, jsonText } from "../entry/json.js";
import { InvalidEntryError, SessionExistsError, SessionNotFoundError } from "../errors/session-errors.js";
import { type EntryId, isId, newSessionId, type SessionId } from "../ids/ids.js";
import { MAIN_LEAF, type NewSession, type SessionKey, type SessionRecord, type SessionRow } from "../port/records.js";
import { indexTitle, mergeIndex } from "../search/search-index.js";
import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { SessionSeq, SessionTable } from "../storage/schema.js";
import { indexMetadata } from "./session-metadata.js";
import { forgetSourceSession } from "./source-files.js";

/** A `SessionRow` inside the SQLite storage: its row number has the type of the tables. */
export interface SessionRef extends SessionRow {
  readonly seq: SessionSeq;
}

/** The columns of the table `session` that have no default. */
type NewSessionRow = Omit<
  SessionTable,
  "seq" | "entry_count" | "message_count" | "payload_bytes" | "row_count" | "row_bytes" | "first_text" | "archived_at_ms" | "listing"
>;

const insertSession = query<NewSessionRow>(({ db, p }) =>
  db.insertInto("session").values({
    id: p.id,
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
  }),
);

const sessionById = query<{ id: SessionId }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.id));

const insertLeaf = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.insertInto("leaf").values({ session_seq: p.session, name: p.name, entry_seq: null }),
);

/** Where an imported session came from. */
export interface SourceColumns {
  readonly format: string;
  readonly path: string;
  readonly id: string;
}

/**
 * Inserts a session and its leaf `main`, positioned before the first entry. Call it inside `write`.
 *
 * @throws {SessionExistsError | InvalidEntryError}
 */
export function insertNewSession(connection: Connection, session: NewSession, source?: SourceColumns): SessionRef {
  const id = session.id ?? newSessionId();
  if (!isId(id)) throw new InvalidEntryError("session id", "must be 1 to 128 visible characters without spaces");
  if (session.createdAtMs !== undefined && !Number.isSafeInteger(session.createdAtMs)) {
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
  }
  if (findSessionRow(connection, id) !== undefined) throw new SessionExistsError(id);
  const row = toColumns(id, session, source);
  connection.run(insertSession, row);
  const seq = requireSessionSeq(connection, id);
  connection.run(insertLeaf, { session: seq, name: MAIN_LEAF });
  if (row.title !== null) indexTitle(connection, seq, row.title);
  if (session.metadata !== undefined) indexMetadata(connection, seq, session.metadata);
  return { id, seq };
}

function toColumns(id: SessionId, session: NewSession, source: SourceColumns | undefined): NewSessionRow {
  const createdAt = session.createdAtMs ?? Date.now();
  // A title of only white space counts as no title.
  const title = toSingleLine(session.title ?? "") || null;
  return {
    id,
    kind: session.kind ?? "conversation",
    title,
    title_source: title === null ? null : (session.titleSource ?? "user"),
    cwd: session.cwd ?? null,
    created_at_ms: createdAt,
    active_at_ms: createdAt,
    parent_session_id: session.parent?.sessionId ?? null,
    parent_entry_id: session.parent?.entryId ?? null,
    parent_call_id: session.parent?.toolCallId ?? null,
    source_format: source?.format ?? null,
    source_path: source?.path ?? null,
    source_id: source?.id ?? null,
    metadata_json: metadataJson(session.metadata),
  };
}

function metadataJson(metadata: NewSession["metadata"]): string | null {
  if (metadata === undefined) return null;
  assertJson(metadata, "metadata");
  return jsonText(metadata, "The metadata of the session");
}

/** Returns the id in a session key. */
export function sessionIdOf(key: SessionKey): SessionId {
  return typeof key === "string" ? key : key.id;
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
export function resolveSession(connection: Connection, key: SessionKey): SessionRef {
  return { id: sessionIdOf(key), seq: requireSessionSeq(connection, key) };
}

/** Returns the row number of a session, the foreign key of other tables. @throws {SessionNotFoundError} */
export function requireSessionSeq(connection: Connection, key: SessionKey): SessionSeq {
  const row = connection.get(seqById, { id: sessionIdOf(key) });
  if (row === undefined || !matchesKey(key, row)) throw new SessionNotFoundError(sessionIdOf(key));
  return row.seq;
}

/** Converts a row to a record of the port. */
export function toSessionRecord(row: SessionTable): SessionRecord {
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    titleSource: row.title_source,
    cwd: row.cwd,
    createdAtMs: row.created_at_ms,
    activeAtMs: row.active_at_ms,
    archivedAtMs: row.archived_at_ms,
    parent: parentOf(row),
    entryCount: row.entry_count,
    messageCount: row.message_count,
    payloadBytes: row.payload_bytes,
    firstText: row.first_text,
    source: sourceOf(row),
    metadata: row.metadata_json === null ? {} : JSON.parse(row.metadata_json),
  };
}

function parentOf(row: SessionTable): SessionRecord["parent"] {
  if (row.parent_session_id === null) return null;
  return { sessionId: row.parent_session_id, entryId: row.parent_entry_id, toolCallId: row.parent_call_id };
}

function sourceOf(row: SessionTable): SessionRecord["source"] {
  if (row.source_format === null || row.source_path === null || row.source_id === null) return null;
  return { format: row.source_format, path: row.source_path, id: row.source_id };
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
    if (source === "auto" && row.title_source === "user") return;
    const line = title === null ? "" : toSingleLine(title);
    const newTitle = line === "" ? null : line;
    if (newTitle === row.title && source === row.title_source) return;
    connection.run(setTitle, { session: row.seq, title: newTitle, source: newTitle === null ? null : source });
    indexTitle(connection, row.seq, newTitle);
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

/** Maximum length of a title, label or leaf name, in UTF-16 code units. */
const MAX_LENGTH = 500;

/**
 * Converts a name to a single line: runs of white space and control characters become one space, lone surrogates become
 * U+FFFD. Line-based screens and files cannot show a name with a line break.
 */
export function toSingleLine(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.slice(0, MAX_LENGTH).toWellFormed();
}

// Zero-width characters except the joiners that scripts and emoji need, marks of the writing direction, fillers, tags.
const HIDDEN =
  /\u034f|[\u180b-\u180f]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Converts a leaf name to a single line without hidden characters: users type it after `@`, so no two names may look alike. */
export function toLeafName(text: string): string {
  return toSingleLine(text.replace(HIDDEN, ""));
}
