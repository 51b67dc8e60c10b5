import { type JsonObject, parseJsonObject } from "@bough/session-core/wire";
import { type DatabaseReading, toText } from "../source/database-reading.js";
import type { ChatBubbles } from "./composer-tree.js";

/** A composer: a chat of the editor. */
export interface Composer {
  readonly id: string;
  /** Its record as text; it changes whenever the chat does. */
  readonly text: string;
  readonly record: JsonObject;
}

/** The database `state.vscdb` of Cursor's editor, with a table of keys and values for chats and one for everything else. */
export class EditorStore {
  readonly #reading: DatabaseReading;
  readonly #tables: ReadonlySet<string>;

  /** @throws what `SourceDatabase` throws. */
  constructor(reading: DatabaseReading) {
    this.#reading = reading;
    this.#tables = reading.database.tables();
  }

  get path(): string {
    return this.#reading.path;
  }

  /** The ids of all chats. One range of the keys is read, and no values: the database may have several GB. */
  composerIds(): readonly string[] {
    return this.#keys("composerData:").map(({ key }) => key.slice("composerData:".length));
  }

  composer(id: string): Composer {
    const text = this.#value(`composerData:${id}`)?.text ?? "";
    return { id, text, record: parseJsonObject(text) ?? {} };
  }

  /** The text of a chat's record, unparsed. */
  composerText(id: string): string {
    return this.#value(`composerData:${id}`)?.text ?? "";
  }

  /** Reads the facts of a chat that newer versions keep in the table `composerHeaders`. */
  header(id: string): JsonObject {
    if (!this.#tables.has("composerHeaders")) return {};
    const row = this.#reading.database.first("SELECT value FROM composerHeaders WHERE composerId = ?", id);
    return parseJsonObject(toText(row?.value) ?? "") ?? {};
  }

  /** The ids of the bubbles of a chat, in the order in which they were written. */
  bubbleIds(composerId: string): readonly string[] {
    const prefix = `bubbleId:${composerId}:`;
    const rows = [...this.#keys(prefix)].sort((a, b) => a.line - b.line);
    return rows.map(({ key }) => key.slice(prefix.length));
  }

  /** True if a chat has bubbles in rows of their own. Cost: one row. */
  hasBubbles(composerId: string): boolean {
    return this.#keys(`bubbleId:${composerId}:`, 1).length > 0;
  }

  bubble(composerId: string, id: string): ReturnType<ChatBubbles["find"]> {
    const found = this.#value(`bubbleId:${composerId}:${id}`);
    return found && { line: found.line, record: parseJsonObject(found.text) };
  }

  /** A value of the table of the workspace. */
  item(key: string): JsonObject {
    if (!this.#tables.has("ItemTable")) return {};
    const row = this.#reading.database.first("SELECT value FROM ItemTable WHERE key = ?", key);
    return parseJsonObject(toText(row?.value) ?? "") ?? {};
  }

  #keys(prefix: string, most = -1): readonly { readonly key: string; readonly line: number }[] {
    if (!this.#tables.has("cursorDiskKV")) return [];
    // The character after the colon: all keys that start with the prefix.
    const end = `${prefix.slice(0, -1)};`;
    const rows = this.#reading.database.all(
      "SELECT key, rowid AS line FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
      prefix,
      end,
      most,
    );
    return rows.map(({ key, line }) => ({ key: String(key), line: Number(line) }));
  }

  #value(key: string): { readonly text: string; readonly line: number } | undefined {
    const row = this.#reading.database.first("SELECT value, rowid AS line FROM cursorDiskKV WHERE key = ?", key);
    return row && { text: toText(row.value) ?? "", line: Number(row.line) };
  }
}
