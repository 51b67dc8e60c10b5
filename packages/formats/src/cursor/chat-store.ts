import { type JsonObject, parseJsonObject, stringAt } from "@bough/session-core/wire";
import { type DatabaseReading, toText } from "../source/database-reading.js";
import type { SourceDatabase } from "../source/source-database.js";
import { type ChatState, readChatState } from "./chat-state.js";

/** A message of a chat, and the number of its row. */
export interface ChatMessage {
  readonly id: string;
  readonly line: number;
  /** undefined: the row is no JSON object. */
  readonly record: JsonObject | undefined;
}

/** A JSON object starts with this byte, a state with the first one of its ids: a field number and a length. */
const MESSAGES = "hex(substr(data, 1, 1)) = '7B'";
const STATES = "hex(substr(data, 1, 2)) = '0A20'";

/** The database of a chat: rows named by the hash of their content. */
export class ChatStore {
  readonly #reading: DatabaseReading;

  constructor(reading: DatabaseReading) {
    this.#reading = reading;
  }

  get path(): string {
    return this.#reading.path;
  }

  get #database(): SourceDatabase {
    return this.#reading.database;
  }

  /** Reads Cursor's facts of the chat, which the database has as JSON in hexadecimal. */
  meta(): JsonObject {
    for (const { value } of this.#database.rows("SELECT value FROM meta WHERE key = '0'")) {
      const text = toText(value) ?? "";
      return parseJsonObject(Buffer.from(text, "hex").toString("utf8")) ?? parseJsonObject(text) ?? {};
    }
    return {};
  }

  message(id: string): ChatMessage | undefined {
    const row = this.#database.first("SELECT rowid AS line, data FROM blobs WHERE id = ?", id);
    if (row === undefined) return undefined;
    const record = parseJsonObject(toText(row.data) ?? "");
    return { id, line: Number(row.line), record };
  }

  /** The state that `meta` names; undefined if it is missing or no state. */
  newestState(meta: JsonObject): ChatState | undefined {
    const row = this.#database.first("SELECT data FROM blobs WHERE id = ?", stringAt(meta, "latestRootBlobId") ?? "");
    return row && readChatState(bytesOf(row.data));
  }

  /** The state without any of these messages that was written last before this row. */
  stateBefore(line: number, messages: ReadonlySet<string>): ChatState | undefined {
    for (const row of this.#database.rows(`SELECT data FROM blobs WHERE rowid < ? AND ${STATES} ORDER BY rowid DESC`, line)) {
      const state = this.#toState(row.data);
      if (state?.messages.some((id) => messages.has(id)) === false) return state;
    }
    return undefined;
  }

  /** Every state that is kept, the oldest first. */
  *states(): Generator<ChatState, void, void> {
    for (const row of this.#database.rows(`SELECT data FROM blobs WHERE ${STATES} ORDER BY rowid`)) {
      const state = this.#toState(row.data);
      if (state !== undefined) yield state;
    }
  }

  /** The ids of all rows that may be messages, in the order in which they were written. */
  *messageIds(): Generator<string, void, void> {
    for (const { id } of this.#database.rows(`SELECT id FROM blobs WHERE ${MESSAGES} ORDER BY rowid`)) yield String(id);
  }

  /** Returns the ids of the messages that may be summaries. Cost: one scan of the whole database. */
  summaryIds(): ReadonlySet<string> {
    const rows = this.#database.all(`SELECT id FROM blobs WHERE ${MESSAGES} AND instr(CAST(data AS TEXT), '"isSummary"') > 0`);
    return new Set(rows.map(({ id }) => String(id)));
  }

  /** True if there is a row that may be a message. */
  hasMessages(): boolean {
    return this.#database.all(`SELECT 1 FROM blobs WHERE ${MESSAGES} LIMIT 1`).length > 0;
  }

  /** Other rows may start like a state; the messages of a state are in the database. */
  #toState(data: unknown): ChatState | undefined {
    const state = readChatState(bytesOf(data));
    const first = state?.firstMessage;
    return first !== undefined && this.message(first)?.record !== undefined ? state : undefined;
  }
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(typeof value === "string" ? value : "");
}
