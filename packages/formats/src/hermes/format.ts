import { join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, type JsonObject, stringAt } from "@bough/session-core/wire";
import { foldersBelow, type SourceEnvironment } from "../source/agent-folders.js";
import { DatabaseReading } from "../source/database-reading.js";
import { derivedId } from "../source/derived-id.js";
import { columnsOf, type SourceDatabase, tablesOf } from "../source/source-database.js";
import { SourceFolders } from "../source/source-folders.js";
import type { FileHead, SourceFormat } from "../source/source-format.js";
import { History, keyOf, toMs } from "./history.js";

/** Sessions of Hermes: the database `state.db` of its home and of each profile. Which columns it has depends on its version. */
export const hermesFormat: SourceFormat = {
  name: "hermes",
  agents: [
    {
      name: "Hermes",
      folders: hermesFolders,
      files: /^(?:profiles\/[^/]+\/)?state\.db$/,
      skipped: /^(?!profiles$)[^/]+$|^profiles\/[^/]+\/[^/]+$/,
    },
  ],
  detects: (head, folders) => tablesOf(head, folders).has("messages") && isHermes(head, folders),
  sessions: (path, folders = new SourceFolders()) => hermesSessions(path, folders),
};

function hermesFolders(environment: SourceEnvironment): readonly string[] {
  const { env, platform } = environment;
  if (platform === "win32" && env["HERMES_HOME"] === undefined && env["LOCALAPPDATA"] !== undefined)
    return [join(env["LOCALAPPDATA"], "hermes")];
  return foldersBelow(environment, "HERMES_HOME", [], ".hermes");
}

/** The columns of `messages` that no other program of this kind has together. */
const COLUMNS = ["id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp"];

function isHermes(head: FileHead, folders: SourceFolders | undefined): boolean {
  const columns = columnsOf(head, "messages", folders);
  return COLUMNS.every((name) => columns.has(name));
}

function* hermesSessions(path: string, folders: SourceFolders): Generator<SourceSession, void, void> {
  const reading = new DatabaseReading(path, folders);
  try {
    const sources = sessionRows(reading.database);
    const kinds = new Map(sources.map(({ row }) => [String(row.id), row]));
    for (const { row, messages } of sources) {
      const header = toHeader(row, kinds);
      yield { header, revision: revisionOf(row, messages), records: () => reading.whileOpen(readSession(reading, row, header)) };
    }
  } finally {
    reading.end();
  }
}

/** The row of a session, of the oldest versions only its id; and which messages it has. */
interface SessionSource {
  readonly row: JsonObject;
  readonly messages: JsonObject | undefined;
}

/** The sessions, parents before children. One scan of the messages, for all of them. */
function sessionRows(database: SourceDatabase): readonly SessionSource[] {
  const existing = database.columns("sessions");
  const columns = [...KEPT, ...READ].filter((name) => existing.has(name));
  const known = existing.has("id")
    ? database.all(`SELECT ${columns.join()} FROM sessions ORDER BY ${existing.has("started_at") ? "started_at, " : ""}id`)
    : [];
  const ids = new Set(known.map(({ id }) => id));
  // No column behind the contents: for each of them SQLite would read the whole content.
  const written = database.all(
    "SELECT session_id AS id, count(*) AS count, max(id) AS last FROM messages GROUP BY session_id ORDER BY min(id)",
  );
  const messages = new Map(written.map((row) => [String(row.id), row]));
  const startOf = (id: string) => database.first("SELECT min(timestamp) AS at FROM messages WHERE session_id = ?", id)?.at;
  const others = written.flatMap(({ id }) => (ids.has(id) ? [] : [{ id, started_at: startOf(String(id)) }]));
  return [...known, ...others].map((row) => ({ row, messages: messages.get(String(row.id)) }));
}

function revisionOf(row: JsonObject, messages: JsonObject | undefined): string {
  return [messages?.count ?? 0, messages?.last, row.title, row.ended_at, row.message_count, row.rewind_count].join(" ");
}

/** Columns that do not change while a session goes on, and the others that are read. A row also has the whole prompt of the system. */
const KEPT = ["source", "user_id", "chat_id", "model", "billing_provider"];
const READ = ["id", "parent_session_id", "started_at", "ended_at", "end_reason", "title", "cwd", "message_count", "rewind_count"];

function toHeader(row: JsonObject, all: ReadonlyMap<string, JsonObject>): SourceHeader {
  const parent = stringAt(row, "parent_session_id");
  // A session that a compression continues ended for it; any other child was started by a call.
  const before = parent === undefined ? undefined : all.get(parent);
  const isContinuation =
    before === undefined || before.end_reason === "compression" || stringAt(row, "source") === stringAt(before, "source");
  const metadata = Object.fromEntries(KEPT.flatMap((name) => (typeof row[name] === "string" ? [[name, row[name]]] : [])));
  return {
    sessionId: toId(row),
    createdAtMs: toMs(row.started_at),
    cwd: stringAt(row, "cwd"),
    title: stringAt(row, "title") || undefined,
    kind: parent === undefined || isContinuation ? "conversation" : "subagent",
    parent: parent === undefined ? undefined : { sessionId: toId({ id: parent }) },
    metadata,
  };
}

function toId({ id }: JsonObject): SessionId {
  const own = String(id);
  return isId(own) ? own : derivedId("hermes", own);
}

/** The messages of a session. Where a compression copied some, a first reading finds the newest copy of each. */
function* readSession(
  { database }: DatabaseReading,
  row: JsonObject,
  { sessionId, createdAtMs = 0 }: SourceHeader,
): Generator<SourceRecord, void, void> {
  const id = String(row.id);
  const rows = () => database.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", id);
  const hasCopies = database.columns("messages").has("active") && hasInactive(database, id);
  const newest = new Map<string, unknown>();
  for (const message of hasCopies ? rows() : []) newest.set(keyOf(message), message.id);
  const history = new History(sessionId, createdAtMs, stringAt(row, "model"), hasCopies ? newest : undefined);
  for (const message of rows()) yield* history.add(message);
  yield* history.finish();
}

function hasInactive(database: SourceDatabase, session: string): boolean {
  return database.first("SELECT 1 FROM messages WHERE session_id = ? AND active = 0 LIMIT 1", session) !== undefined;
}
