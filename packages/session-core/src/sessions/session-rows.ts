import { assertJson, jsonText } from "../entry/json.js";
import { InvalidEntryError, SessionExistsError, SessionNotFoundError } from "../errors/session-errors.js";
import { type EntryId, isId, newSessionId, type SessionId } from "../ids/ids.js";
import { MAIN_LEAF, type NewSession, type SessionKey, type SessionRecord } from "../port/records.js";
import { indexTitle } from "../search/search-index.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { SessionSeq, SessionTable } from "../storage/schema.js";

const insertSession = query<
  Omit<SessionTable, "seq" | "entry_count" | "message_count" | "payload_bytes" | "first_text" | "archived_at_ms">
>(({ db, p }) =>
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
    // Filled by the table's defaults; named here because Kysely's types know no defaults.
    entry_count: 0,
    message_count: 0,
    payload_bytes: 0,
    first_text: null,
    archived_at_ms: null,
  } as never),
);

const sessionById = query<{ id: SessionId }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.id));

const insertLeaf = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.insertInto("leaf").values({ session_seq: p.session, name: p.name, entry_seq: null }),
);

const rowBySeq = query<{ seq: SessionSeq }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("seq", "=", p.seq));

/** What an import knows of a session beyond what a caller can say. */
export interface SourceColumns {
  readonly format: string;
  readonly path: string;
  readonly id: string;
}

/** Writes a new session with its leaf `main` before the first entry. Call it inside `write`. */
export function insertNewSession(connection: Connection, session: NewSession, source?: SourceColumns): SessionSeq {
  const id = session.id ?? newSessionId();
  if (!isId(id)) throw new InvalidEntryError("session id", "must be 1 to 128 visible characters without spaces");
  if (session.createdAtMs !== undefined && !Number.isSafeInteger(session.createdAtMs)) {
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
  }
  if (findRow(connection, id) !== undefined) throw new SessionExistsError(id);
  const row = columns(id, session, source);
  const seq = connection.run(insertSession, row).rowid as SessionSeq;
  connection.run(insertLeaf, { session: seq, name: MAIN_LEAF });
  if (row.title !== null) indexTitle(connection, seq, row.title);
  return seq;
}

function columns(id: SessionId, session: NewSession, source: SourceColumns | undefined) {
  const createdAt = session.createdAtMs ?? Date.now();
  // A title of white space is none.
  const title = singleLine(session.title ?? "") || null;
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
  } as const;
}

function metadataJson(metadata: NewSession["metadata"]): string | null {
  if (metadata === undefined) return null;
  assertJson(metadata, "metadata");
  return jsonText(metadata, "The metadata of the session");
}

/** The row of a session that was just written. @throws {SessionNotFoundError} */
export function rowAt(connection: Connection, seq: SessionSeq): SessionTable {
  const row = connection.get(rowBySeq, { seq });
  if (row === undefined) throw new SessionNotFoundError(`in row ${seq}`);
  return row;
}

/** The id of a session that is named in either way. */
export function idOf(key: SessionKey): SessionId {
  return typeof key === "string" ? key : key.id;
}

function isMeant(key: SessionKey, { seq }: { readonly seq: SessionSeq }): boolean {
  return typeof key === "string" || key.seq === seq;
}

/** The row of a session, or undefined. */
export function findRow(connection: Connection, key: SessionKey): SessionTable | undefined {
  const row = connection.get(sessionById, { id: idOf(key) });
  return row !== undefined && isMeant(key, row) ? row : undefined;
}

/** The row of a session. @throws {SessionNotFoundError} */
export function sessionRow(connection: Connection, id: SessionId): SessionTable {
  const row = findRow(connection, id);
  if (row === undefined) throw new SessionNotFoundError(id);
  return row;
}

const seqById = query<{ id: SessionId }, { seq: SessionSeq }>(({ db, p }) => db.selectFrom("session").select("seq").where("id", "=", p.id));

/** The row number of a session: what every other table refers to it by. @throws {SessionNotFoundError} */
export function sessionSeq(connection: Connection, key: SessionKey): SessionSeq {
  const row = connection.get(seqById, { id: idOf(key) });
  if (row === undefined || !isMeant(key, row)) throw new SessionNotFoundError(idOf(key));
  return row.seq;
}

/** A row as the port gives it. */
export function recordOf(row: SessionTable): SessionRecord {
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
    metadata: row.metadata_json === null ? {} : (JSON.parse(row.metadata_json) as Record<string, unknown>),
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
 * Gives a session a title; null or white space takes it away. An automatic title never replaces one that a person
 * gave (regression R171). The leaf and the order of the list stay as they are.
 */
export function renameSession(connection: Connection, id: SessionId, title: string | null, source: "user" | "auto"): void {
  connection.write(() => {
    const row = sessionRow(connection, id);
    if (source === "auto" && row.title_source === "user") return;
    const line = title === null ? "" : singleLine(title);
    const given = line === "" ? null : line;
    if (given === row.title && source === row.title_source) return;
    connection.run(setTitle, { session: row.seq, title: given, source: given === null ? null : source });
    indexTitle(connection, row.seq, given);
  });
}

const setParent = query<{ session: SessionSeq; parent: SessionId; entry: EntryId | null; call: string }>(({ db, p }) =>
  db
    .updateTable("session")
    .set({ parent_session_id: p.parent, parent_entry_id: p.entry, parent_call_id: p.call })
    .where("seq", "=", p.session),
);

/** Links the session of an agent to the call that started it. Call it inside `write`. */
export function linkToCall(
  connection: Connection,
  session: SessionSeq,
  { sessionId, entryId, toolCallId }: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string },
): void {
  connection.run(setParent, { session, parent: sessionId, entry: entryId, call: toolCallId });
}

const setArchived = query<{ session: SessionSeq; at: number | null }>(({ db, p }) =>
  db.updateTable("session").set({ archived_at_ms: p.at }).where("seq", "=", p.session),
);

/** Puts a session away from lists, or back; nothing of it changes. */
export function archiveSession(connection: Connection, id: SessionId, archived: boolean): void {
  connection.write(() => connection.run(setArchived, { session: sessionSeq(connection, id), at: archived ? Date.now() : null }));
}

const rememberDeleted = query<{ session: SessionSeq }>(({ db, sql, p }) =>
  db.updateTable("store_state").set({
    deleted_seq: sql`max(deleted_seq, coalesce((SELECT max(seq) FROM entry WHERE session_seq = ${p.session}), 0))`,
  }),
);
const removeTexts = query<{ session: SessionSeq }>(({ db, p }) =>
  db.deleteFrom("entry_text").where("rowid", "in", db.selectFrom("entry").select("seq").where("session_seq", "=", p.session)),
);
const detachLeaves = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("leaf").where("session_seq", "=", p.session));
const removeSession = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("session").where("seq", "=", p.session));
const mergeTexts = query<Record<never, never>>(({ sql }) => plain(sql`INSERT INTO entry_text (entry_text) VALUES ('optimize')`));
const mergeTitles = query<Record<never, never>>(({ sql }) => plain(sql`INSERT INTO session_text (session_text) VALUES ('optimize')`));

/**
 * Takes a session away for good: its entries, labels, values, usage and search index, and what of them is left in free
 * pages (regression R21); the journal has to be emptied after it. Sessions forked from it or started by it stay.
 *
 * Cost: grows with the session, and with the whole search index, which is merged so that no deleted word stays in it.
 */
export function deleteSession(connection: Connection, id: SessionId): void {
  connection.write(() => {
    const session = sessionSeq(connection, id);
    connection.run(rememberDeleted, { session });
    connection.run(removeTexts, { session });
    indexTitle(connection, session, null);
    connection.run(detachLeaves, { session });
    connection.run(removeSession, { session });
    connection.run(mergeTexts, {});
    connection.run(mergeTitles, {});
  });
}

/** Longest title, label or leaf name, in UTF-16 code units. */
const MAX_LENGTH = 500;

/**
 * A name on one line: white space and control characters become single spaces, lone halves of surrogate pairs U+FFFD
 * (regression R27: a line break in a name broke line-based storage and screens).
 */
export function singleLine(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.slice(0, MAX_LENGTH).toWellFormed();
}

// Zero-width characters but the joiners that scripts and emoji need, marks of the writing direction, fillers, tags.
const HIDDEN =
  /\u034f|[\u180b-\u180f]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The name of a leaf: a single line without hidden characters, as it is typed after `@` and two that look alike are one. */
export function leafName(text: string): string {
  return singleLine(text.replace(HIDDEN, ""));
}
