import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSqlite } from "@bough/session-core/sqlite";
import { tempFolder } from "../../../session-core/test/world/stores.js";

type Values = Readonly<Record<string, unknown>>;

/** Writes a database of the editor: `chats` are keys and values of chats, `items` those of the workspace. */
export function editorFile(chats: Values, items: Values = {}, path = join(tempFolder(), "User", "globalStorage", "state.vscdb")): string {
  mkdirSync(dirname(path), { recursive: true });
  const database = openSqlite(path);
  database.pragma("synchronous = off");
  database.exec("BEGIN");
  for (const [table, values] of Object.entries({ cursorDiskKV: chats, ItemTable: items })) {
    database.exec(`CREATE TABLE IF NOT EXISTS ${table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`);
    const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?)`);
    for (const [at, [key, value]] of Object.entries(values).entries()) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      // Cursor writes text or bytes.
      insert.run(key, at % 2 === 0 ? text : Buffer.from(text));
    }
  }
  database.exec("COMMIT");
  database.close();
  return path;
}

/** A chat that shows these bubbles, and the bubbles. */
export function composer(id: string, shown: readonly string[], bubbles: Values, fields: object = {}): Values {
  const record = {
    _v: 10,
    composerId: id,
    name: "Fix the parser",
    createdAt: 1_700_000_000_000,
    lastUpdatedAt: 1_700_000_100_000,
    status: "completed",
    fullConversationHeadersOnly: shown.map((bubbleId) => ({ bubbleId, type: 2 })),
    ...fields,
  };
  return {
    [`composerData:${id}`]: record,
    ...Object.fromEntries(Object.entries(bubbles).map(([bubbleId, bubble]) => [`bubbleId:${id}:${bubbleId}`, bubble])),
  };
}

let seconds = 0;

/** Bubbles of one test have growing times. */
function bubble(type: number, fields: object): object {
  seconds += 1;
  return { _v: 3, type, createdAt: new Date(1_700_000_000_000 + seconds * 1000).toISOString(), ...fields };
}

export const prompt = (text: string, fields: object = {}): object => bubble(1, { text, richText: `{"${text}"}`, ...fields });
export const answer = (text: string, fields: object = {}): object => bubble(2, { text, ...fields });
export const thought = (text: string): object => bubble(2, { text: "", thinking: { text, signature: "s" }, capabilityType: 30 });
export const tool = (fields: object): object =>
  bubble(2, {
    text: "",
    capabilityType: 15,
    toolFormerData: {
      tool: 5,
      name: "read_file",
      toolCallId: "c1",
      rawArgs: '{"path":"a.ts"}',
      params: "{}",
      status: "completed",
      ...fields,
    },
  });
