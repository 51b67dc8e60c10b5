import { join } from "node:path";
import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, parseArguments, parseJson, parseJsonObject, stringAt } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { DatabaseReading } from "../source/database-reading.js";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import {
  compactionPayload,
  foreignPayload,
  hiddenPayload,
  messagePayload,
  replyPayload,
  resultPayload,
  toMediaContent,
  userPayload,
} from "../source/payloads.js";
import { columnsOf, type SourceDatabase, tablesOf } from "../source/source-database.js";
import { SourceFolders } from "../source/source-folders.js";
import type { FileHead, SourceEnvironment, SourceFormat } from "../source/source-format.js";

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

/** Times are seconds since 1970. */
function toMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" ? Math.round(seconds * 1000) : undefined;
}

function* readSession(
  reading: DatabaseReading,
  row: JsonObject,
  { sessionId, createdAtMs = 0 }: SourceHeader,
): Generator<SourceRecord, void, void> {
  const chain = new EntryChain(sessionId, createdAtMs);
  const names = new Map<string, string>();
  const model = stringAt(row, "model");
  /** The last entry that was not taken back. */
  let kept: EntryId | null = null;
  for (const message of reading.database.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", String(row.id))) {
    const line = numberAt(message, "id") ?? 1;
    // Newer versions keep what a rewind took back, and what a compression in the same session replaced, which is above its summary.
    const isTakenBack = message.active === 0 && message.compacted !== 1;
    if (!isTakenBack && chain.leafId !== kept) chain.moveTo(kept);
    yield chain.add({ line, id: `message-${line}`, createdAtMs: toMs(message.timestamp), payload: toPayload(message, model, names) });
    if (!isTakenBack) kept = chain.leafId;
  }
  if (chain.leafId !== kept) chain.moveTo(kept);
  yield* chain.movedLeaf();
}

/** The start of a message that replaces earlier ones. */
const SUMMARY = /^\[CONTEXT COMPACTION[^\]]*\]\s*/;

function toPayload(message: JsonObject, model: string | undefined, names: Map<string, string>): JsonObject {
  const content = contentOf(message);
  switch (message.role) {
    case "user": {
      const text = typeof content === "string" ? content : "";
      return SUMMARY.test(text) ? compactionPayload({ summary: text.replace(SUMMARY, "").trim() }) : userPayload(content);
    }
    case "assistant":
      return replyPayload({ content: replyBlocks(message, content, names), model, stopReason: stringAt(message, "finish_reason") });
    case "tool": {
      const toolCallId = stringAt(message, "tool_call_id") ?? stringAt(message, "tool_name") ?? "unknown";
      return resultPayload({
        toolCallId,
        toolName: stringAt(message, "tool_name") ?? names.get(toolCallId),
        content,
        isError: isFailure(content),
      });
    }
    case "system":
      return typeof content === "string" ? messagePayload({ role: "system", content }) : hiddenPayload("hermes.system", content);
  }
  return foreignPayload(message, stringAt(message, "role"));
}

/** A text, or the JSON text of a list of parts. */
function contentOf({ content }: JsonObject): ReturnType<typeof toMediaContent> {
  if (typeof content !== "string") return "";
  const parts = content.startsWith("[{") ? parseJson(content) : undefined;
  return Array.isArray(parts) && parts.every((part) => isObject(part) && typeof part.type === "string") ? toMediaContent(parts) : content;
}

/** Tools return a JSON object with `error`, if they failed. */
function isFailure(content: unknown): boolean {
  const result = typeof content === "string" && content.startsWith("{") ? parseJsonObject(content) : undefined;
  return result !== undefined && ((typeof result.error === "string" && result.error !== "") || result.success === false);
}

function replyBlocks(message: JsonObject, content: ReturnType<typeof toMediaContent>, names: Map<string, string>): readonly JsonObject[] {
  const thinking = stringAt(message, "reasoning_content") || stringAt(message, "reasoning") || "";
  const texts = typeof content !== "string" ? content : content === "" ? [] : [{ type: "text", text: content }];
  const given: unknown = typeof message.tool_calls === "string" ? parseJson(message.tool_calls) : undefined;
  const calls = Array.isArray(given) ? given.filter(isObject).map((call) => toCall(call, names)) : [];
  return [...(thinking === "" ? [] : [{ type: "thinking", thinking, ...detailsOf(message) }]), ...texts, ...calls];
}

/** Members that providers want back unchanged with the thinking. */
function detailsOf(message: JsonObject): JsonObject {
  const names = ["reasoning_details", "codex_reasoning_items", "codex_message_items"];
  const details = names.flatMap((name) => (stringAt(message, name) ? [[name, message[name]] as const] : []));
  return details.length === 0 ? {} : { hermes: Object.fromEntries(details) };
}

function toCall(call: JsonObject, names: Map<string, string>): JsonObject {
  const called = isObject(call.function) ? call.function : call;
  const [id, name] = [stringAt(call, "id") ?? stringAt(call, "call_id") ?? "unknown", stringAt(called, "name") ?? "unknown"];
  names.set(id, name);
  return { type: "toolCall", id, name, arguments: parseArguments(called.arguments) };
}
