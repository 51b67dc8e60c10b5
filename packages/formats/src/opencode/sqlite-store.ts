import type { SessionId } from "@bough/session-core";
import { isObject, type JsonObject, objectAt, parseJsonObject, stringAt } from "@bough/session-core/wire";
import type { DatabaseReading } from "../source/database-reading.js";
import type { SourceDatabase } from "../source/source-database.js";
import { toMessages } from "./session-messages.js";
import { inlineParts, type MessageStore, type StoredRecord, toStoredRecord } from "./store.js";

/** Columns of `session` and the names of their values in opencode's records. Large and secret ones are not read. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["id", "id"],
  ["project_id", "projectID"],
  ["workspace_id", "workspaceID"],
  ["parent_id", "parentID"],
  ["slug", "slug"],
  ["directory", "directory"],
  ["title", "title"],
  ["version", "version"],
  ["agent", "agent"],
  ["model", "model"],
  ["metadata", "metadata"],
  ["revert", "revert"],
]);

const JSON_COLUMNS = new Set(["model", "metadata", "revert"]);

const TIMES = ["created", "updated", "archived"] as const;

/** The tables that opencode's database has since its first version. */
export const TABLES = ["session", "message", "part"] as const;

/** The table of newer versions, with messages that have their parts in them. */
const WHOLE_MESSAGES = "session_message";

/** The sessions of opencode's database. */
export class SqliteStore implements MessageStore {
  readonly #reading: DatabaseReading;
  #revisions: ReadonlyMap<string, string> | undefined;
  /** By session. A session may have started hundreds of others, and each of them asks. */
  readonly #started = new Map<SessionId, ReadonlyMap<string, string>>();

  constructor(reading: DatabaseReading) {
    this.#reading = reading;
  }

  get #database(): SourceDatabase {
    return this.#reading.database;
  }

  /** The records of all sessions, parents before children. */
  *sessions(): Generator<JsonObject, void, void> {
    const existing = this.#database.columns("session");
    const columns = [...COLUMNS.keys(), ...TIMES.map((time) => `time_${time}`)].filter((name) => existing.has(name));
    const order = existing.has("time_created") ? "time_created, id" : "id";
    for (const row of this.#database.rows(`SELECT ${columns.join(", ")} FROM session ORDER BY ${order}`)) yield toInfo(row);
  }

  *messages(session: SessionId): Generator<StoredRecord, void, void> {
    const sql = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id";
    let isEmpty = true;
    for (const { id, data } of this.#database.rows(sql, session)) {
      isEmpty = false;
      yield this.#toRecord("message", id, data);
    }
    if (isEmpty) yield* this.#wholeMessages(session);
  }

  /** The messages of a session that a newer version has written: with their parts. */
  *#wholeMessages(session: SessionId): Generator<StoredRecord, void, void> {
    const columns = this.#database.columns(WHOLE_MESSAGES);
    if (!columns.has("data")) return;
    const order = columns.has("seq") ? "seq" : "time_created, id";
    const sql = `SELECT id, type, data FROM ${WHOLE_MESSAGES} WHERE session_id = ? ORDER BY ${order}`;
    for (const { id, type, data } of this.#database.rows(sql, session))
      yield* toMessages({ id: String(id), type: String(type), data }, this.#reading.path);
  }

  parts(message: StoredRecord): readonly StoredRecord[] {
    return inlineParts(message) ?? this.#storedParts(message);
  }

  #storedParts({ id }: StoredRecord): readonly StoredRecord[] {
    const rows = this.#database.all("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", id);
    return rows.map((row) => this.#toRecord("part", row.id, row.data));
  }

  #toRecord(table: string, id: unknown, data: unknown): StoredRecord {
    return toStoredRecord(String(id), data, this.#reading.path, `${table} ${String(id)}`);
  }

  /** The calls of a session that started others, by the id of the started session. Its parts are scanned once. */
  startedBy(session: SessionId): ReadonlyMap<string, string> {
    const started = this.#started.get(session) ?? this.#readStarted(session);
    this.#started.set(session, started);
    return started;
  }

  #readStarted(session: SessionId): ReadonlyMap<string, string> {
    const sql = `SELECT data FROM part WHERE session_id = ? AND instr(data, '"sessionId"') > 0 ORDER BY id`;
    const parts = this.#database.all(sql, session).map(({ data }) => (typeof data === "string" ? parseJsonObject(data) : undefined));
    return startedSessions(parts.filter(isObject));
  }

  /** Changes with every write to a message or a part of the session, and with the session's record. */
  revision(session: SessionId): string {
    this.#revisions ??= this.#readRevisions();
    return this.#revisions.get(session) ?? "";
  }

  changedAtMs(session: SessionId): number | undefined {
    const times = [...this.revision(session).matchAll(/:(\d+)/g)].map(([, time]) => Number(time));
    return times.length === 0 ? undefined : Math.max(...times);
  }

  // One scan of each table, for all sessions.
  #readRevisions(): ReadonlyMap<string, string> {
    const revisions = new Map<string, string>();
    const hasWhole = this.#database.columns(WHOLE_MESSAGES).has("time_updated");
    for (const table of [...TABLES, ...(hasWhole ? [WHOLE_MESSAGES] : [])]) {
      const key = table === "session" ? "id" : "session_id";
      const sql = `SELECT ${key} AS id, count(*) AS number, max(time_updated) AS updated FROM ${table} GROUP BY ${key}`;
      for (const { id, number, updated } of this.#database.rows(sql))
        revisions.set(String(id), `${revisions.get(String(id)) ?? ""} ${number}:${updated}`);
    }
    return revisions;
  }
}

function toInfo(row: JsonObject): JsonObject {
  const members = [...COLUMNS].flatMap(([column, name]) => {
    const value = row[column];
    if (value === null || value === undefined) return [];
    return [[name, JSON_COLUMNS.has(column) && typeof value === "string" ? (parseJsonObject(value) ?? value) : value] as const];
  });
  const time = TIMES.flatMap((name) => (typeof row[`time_${name}`] === "number" ? [[name, row[`time_${name}`]] as const] : []));
  return { ...Object.fromEntries(members), time: Object.fromEntries(time) };
}

/** The calls among these parts that started sessions, by the id of the started session; the first call of each. */
export function startedSessions(parts: Iterable<JsonObject>): ReadonlyMap<string, string> {
  const calls = new Map<string, string>();
  for (const part of parts) {
    const started = stringAt(objectAt(objectAt(part, "state") ?? {}, "metadata") ?? {}, "sessionId");
    const call = stringAt(part, "callID");
    if (started !== undefined && call !== undefined && !calls.has(started)) calls.set(started, call);
  }
  return calls;
}
