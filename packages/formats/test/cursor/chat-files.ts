import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "@bough/session-core/sqlite";
import { tempFolder } from "../../../session-core/test/world/stores.js";

/** A message of a chat, as Cursor writes it. */
export type ChatMessage = Readonly<Record<string, unknown>>;

/** What is written into the database of a chat, in this order: states are lists of the numbers of messages. */
export interface ChatWrite {
  readonly messages?: readonly ChatMessage[];
  readonly state?: readonly number[];
  /** A state with more fields than its messages. */
  readonly fields?: readonly Buffer[];
}

export const system: ChatMessage = { role: "system", content: "You are a coding agent." };
export const info: ChatMessage = { role: "user", content: "<user_info>\nOS: Linux\n</user_info>" };
export const ask = (text: string, requestId = text): ChatMessage => ({
  role: "user",
  content: [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }],
  providerOptions: { cursor: { requestId } },
});
export const reply = (...content: readonly object[]): ChatMessage => ({ role: "assistant", id: "1", content });
export const say = (text: string): ChatMessage => reply({ type: "text", text });
export const call = (id: string, args: unknown): object => ({ type: "tool-call", toolCallId: id, toolName: "Shell", args });
export const result = (id: string, text: string, isError = false): ChatMessage => ({
  role: "tool",
  id,
  content: [{ type: "tool-result", toolCallId: id, toolName: "Shell", result: text }],
  providerOptions: { cursor: { highLevelToolCallResult: { output: { success: { executionTime: 5 } }, isError } } },
});
export const summary = (text: string): ChatMessage => ({
  role: "user",
  content: `[Previous conversation summary]: ${text}`,
  providerOptions: { cursor: { isSummary: true } },
});

export const CHAT = "a1b2c3d4-e5f6-4890-abcd-ef1234567890";

/** Writes `chats/<hash>/<id>/store.db` below `root`, and returns its path. */
export function chatFile(writes: readonly ChatWrite[], meta: object = {}, root = tempFolder(), id = CHAT): string {
  const folder = join(root, "chats", "0123456789abcdef0123456789abcdef", id);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "store.db");
  writeChat(path, writes, { agentId: id, name: "Say hello", mode: "default", createdAt: 1_775_522_590_321, ...meta });
  return path;
}

/** Writes into the database of a chat. The last state is the newest one. */
export function writeChat(path: string, writes: readonly ChatWrite[], meta: object): void {
  const database = openSqlite(path);
  database.pragma("synchronous = off");
  database.exec("BEGIN");
  database.exec("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)");
  database.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)");
  const insert = database.prepare("INSERT OR IGNORE INTO blobs VALUES (?, ?)");
  const put = (data: Buffer): string => {
    insert.run(idOf(data), data);
    return idOf(data);
  };
  const ids: string[] = [];
  let root = "";
  for (const { messages = [], state, fields = [] } of writes) {
    for (const message of messages) ids.push(put(Buffer.from(JSON.stringify(message))));
    // Rows between them are tool outputs, and turns of Cursor's screen.
    put(Buffer.from(`plain text ${ids.length}`));
    if (state !== undefined)
      root = put(
        stateOf(
          state.map((at) => ids[at] ?? ""),
          fields,
        ),
      );
  }
  const json = JSON.stringify({ ...meta, latestRootBlobId: root });
  database.prepare("INSERT OR REPLACE INTO meta VALUES ('0', ?)").run(Buffer.from(json).toString("hex"));
  database.exec("COMMIT");
  database.close();
}

function idOf(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

export const idOfMessage = (message: ChatMessage): string => idOf(Buffer.from(JSON.stringify(message)));

/** A state: its messages, then other fields. */
export function stateOf(ids: readonly string[], fields: readonly Buffer[] = []): Buffer {
  return Buffer.concat([...ids.map((id) => field(1, Buffer.from(id, "hex"))), ...fields]);
}

/** A field of a protobuf message: bytes, or a number. */
export function field(number: number, value: Buffer | number): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number * 8), varint(value)]);
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

/** Writes a transcript of a chat below `root`, and returns its path. */
export function transcriptFile(root: string, id: string, lines: readonly object[], place = id): string {
  const folder = join(root, "projects", "home-ada-app", "agent-transcripts", place);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}
