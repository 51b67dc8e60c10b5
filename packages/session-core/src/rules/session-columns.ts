import { assertJson, jsonText } from "../entry/json.js";
import { InvalidEntryError } from "../errors/session-errors.js";
import { type EntryId, isId, newSessionId, type SessionId } from "../ids/ids.js";
import type { NewSession, SessionKey, SessionRecord } from "../port/records.js";
import type { CopiedSession } from "../port/session-copy.js";
import type { CheckedPosition, SourceSessionRecord } from "../port/source.js";
import { pairStart, takeStart, UNSEEN } from "../text/one-line.js";

/** Where an imported session came from. */
export interface SourceColumns {
  readonly format: string;
  readonly path: string;
  readonly id: string;
}

/** The columns of a new session. */
export type SessionColumns = ReturnType<typeof sessionColumns>;

/**
 * Checks a new session, and returns its columns.
 *
 * @throws {InvalidEntryError} its id or time is not valid.
 */
export function sessionColumns(session: NewSession, source?: SourceColumns) {
  const id = session.id ?? newSessionId();
  if (!isId(id)) throw new InvalidEntryError("session id", "must be 1 to 128 visible characters without spaces", "session id");
  assertSessionTime(session.createdAtMs);
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

/** Throws unless a session can have this time. @throws {InvalidEntryError} */
export function assertSessionTime(createdAtMs: number | undefined): void {
  if (createdAtMs !== undefined && !Number.isSafeInteger(createdAtMs))
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970", "time of a session");
}

function metadataJson(metadata: NewSession["metadata"]): string | null {
  if (metadata === undefined) return null;
  assertJson(metadata, "metadata");
  return jsonText(metadata, "The metadata of the session");
}

/** The columns that a record of the port is made of, in every storage engine. */
export interface SessionRecordRow {
  readonly id: SessionId;
  readonly kind: SessionRecord["kind"];
  readonly title: string | null;
  readonly title_source: SessionRecord["titleSource"];
  readonly cwd: string | null;
  readonly created_at_ms: number;
  readonly active_at_ms: number;
  readonly archived_at_ms: number | null;
  readonly parent_session_id: SessionId | null;
  readonly parent_entry_id: EntryId | null;
  readonly parent_call_id: string | null;
  readonly entry_count: number;
  readonly message_count: number;
  readonly payload_bytes: number;
  readonly first_text: string | null;
  readonly source_format: string | null;
  readonly source_path: string | null;
  readonly source_id: string | null;
  readonly metadata_json: string | null;
}

/** Converts a row to a record of the port. */
export function toSessionRecord(row: SessionRecordRow): SessionRecord {
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

function parentOf(row: SessionRecordRow): SessionRecord["parent"] {
  if (row.parent_session_id === null) return null;
  return { sessionId: row.parent_session_id, entryId: row.parent_entry_id, toolCallId: row.parent_call_id };
}

function sourceOf(row: SessionRecordRow): SessionRecord["source"] {
  if (row.source_format === null || row.source_path === null || row.source_id === null) return null;
  return { format: row.source_format, path: row.source_path, id: row.source_id };
}

/** A row of the table of sessions in the files of other programs, in every storage engine. */
export interface SourceSessionRow {
  readonly path: string;
  readonly source_id: SessionId;
  readonly session_id: SessionId | null;
  readonly revision: string | null;
  readonly leaf_id: EntryId | null;
  readonly title: string | null;
  readonly position_json: string | null;
  readonly gone_at_ms: number | null;
}

/** Converts a row to a record of the port. */
export function toSourceSession(row: SourceSessionRow): SourceSessionRecord {
  // Written from a value of this type.
  const position: CheckedPosition | null = row.position_json === null ? null : JSON.parse(row.position_json);
  const { path, revision, title } = row;
  return {
    ...{ path, sourceId: row.source_id, sessionId: row.session_id, revision, leafId: row.leaf_id },
    ...{ title, position, goneAtMs: row.gone_at_ms },
  };
}

/** The columns of a copied session, as it is in the other store; those of its entries are counted. */
export function copiedColumns(session: CopiedSession) {
  const { parent, source } = session;
  return {
    kind: session.kind,
    title: session.title,
    title_source: session.titleSource,
    cwd: session.cwd,
    created_at_ms: session.createdAtMs,
    active_at_ms: session.activeAtMs,
    archived_at_ms: session.archivedAtMs,
    parent_session_id: parent?.sessionId ?? null,
    parent_entry_id: parent?.entryId ?? null,
    parent_call_id: parent?.toolCallId ?? null,
    first_text: session.firstText,
    source_format: source?.format ?? null,
    source_path: source?.path ?? null,
    source_id: source?.id ?? null,
    metadata_json: session.metadataJson,
  };
}

/** Returns the properties with which a copied session is created, before its entries are written. */
export function newCopy({ id, kind, createdAtMs, title, titleSource, cwd }: CopiedSession): NewSession {
  return { id, kind, createdAtMs, title: title ?? undefined, titleSource: titleSource ?? undefined, cwd: cwd ?? undefined };
}

/**
 * The columns of a new title; null or white space removes it. undefined: nothing changes. An automatic title never replaces a title that
 * a person gave.
 */
export function renamedTitle(
  row: Pick<SessionRecordRow, "title" | "title_source">,
  title: string | null,
  source: "user" | "auto",
): (Pick<SessionRecordRow, "title"> & { readonly source: "user" | "auto" | null }) | undefined {
  if (source === "auto" && row.title_source === "user") return undefined;
  const line = title === null ? "" : toSingleLine(title);
  const newTitle = line === "" ? null : line;
  if (newTitle === row.title && source === row.title_source) return undefined;
  return { title: newTitle, source: newTitle === null ? null : source };
}

/** Maximum length of a title, label or leaf name, in UTF-16 code units. */
const MAX_LENGTH = 500;

/**
 * Converts a name to a single line: runs of white space and control characters become one space, lone surrogates become
 * U+FFFD. Line-based screens and files cannot show a name with a line break.
 */
export function toSingleLine(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return takeStart(line, MAX_LENGTH).trimEnd().toWellFormed();
}

const HIDDEN = new RegExp(UNSEEN, "gu");

/** Converts a leaf name to a single line without hidden characters: users type it after `@`, so no two names may look alike. */
export function toLeafName(text: string): string {
  return toSingleLine(text.replace(HIDDEN, ""));
}

/** Throws unless a new leaf may have this name. It is not normalized, because callers pass it again. @throws {InvalidEntryError} */
export function assertLeafName(name: string): void {
  if (name === "" || name !== toLeafName(name)) {
    throw new InvalidEntryError(
      "leaf",
      "must be one line of 1 to 500 characters, none of them invisible or changing the writing direction",
      "name of a leaf",
    );
  }
}

/** Returns the id in a session key. */
export function sessionIdOf(key: SessionKey): SessionId {
  return typeof key === "string" ? key : key.id;
}

/** The fewest characters of a short id. */
const MIN_LENGTH = 4;

/** The shortest prefix of an id, of at least four characters, that its neighbors in the order of ids do not have. */
export function shortenId(id: string, neighbors: readonly (string | undefined)[]): string {
  const length = Math.max(MIN_LENGTH, ...neighbors.map((other) => (other === undefined ? 0 : sharedLength(id, other) + 1)));
  return id.slice(0, pairStart(id, length) < length ? length + 1 : length);
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** Throws unless these counts can be stored. @throws {InvalidEntryError} */
export function assertTokenCounts(counter: string, counts: ReadonlyMap<EntryId, number>): void {
  if (counter === "" || counter.length > 200) throw new InvalidEntryError("counter", "must be 1 to 200 characters", "name of a counter");
  for (const tokens of counts.values()) {
    if (!Number.isSafeInteger(tokens) || tokens < 0)
      throw new InvalidEntryError("tokens", "must be a whole number from 0 up", "count of tokens");
  }
}
