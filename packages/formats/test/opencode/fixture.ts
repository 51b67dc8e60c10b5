import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { raw } from "../../../session-core/test/world/stores.js";

/** A session of opencode: its record, and each message with its parts, as opencode's export has them. */
export interface OpencodeSession {
  readonly info: Record<string, unknown>;
  readonly messages: readonly { readonly info: Record<string, unknown>; readonly parts: readonly Record<string, unknown>[] }[];
}

export const START = 1_790_000_000_000;

const model = { providerID: "anthropic", modelID: "claude-sonnet-5" };

export function sessionInfo(id: string, more: object = {}): Record<string, unknown> {
  return {
    ...{ id, slug: "quiet-river", version: "1.1.65", projectID: "p1", directory: "/home/ada/app", title: "Fix the parser" },
    ...{ time: { created: START, updated: START + 9000 }, ...more },
  };
}

/** A user message; `parts` without ids get some. */
export function user(id: string, at: number, parts: readonly object[], more: object = {}) {
  const info = { id, role: "user", time: { created: START + at }, agent: "build", model, ...more };
  return { info, parts: numbered(id, parts) };
}

export function reply(id: string, at: number, parts: readonly object[], more: object = {}) {
  const tokens = { total: 1250, input: 400, output: 30, reasoning: 20, cache: { read: 800, write: 0 } };
  const ended = { time: { created: START + at, completed: START + at + 50 }, finish: "stop", tokens, cost: 0.01 };
  const info = {
    id,
    role: "assistant",
    ...model,
    mode: "build",
    agent: "build",
    path: { cwd: "/home/ada/app", root: "/" },
    ...ended,
    ...more,
  };
  return { info, parts: numbered(id, parts) };
}

function numbered(message: string, parts: readonly object[]): readonly Record<string, unknown>[] {
  return parts.map((part, at) => ({ id: `prt_${message}_${String(at).padStart(3, "0")}`, ...part }));
}

export const text = (value: string, more: object = {}) => ({ type: "text", text: value, ...more });

export function tool(callID: string, name: string, state: object) {
  return { type: "tool", callID, tool: name, state };
}

export function ran(callID: string, name: string, input: object, output: string, at: number, more: object = {}) {
  const time = { start: START + at - 5, end: START + at };
  return tool(callID, name, { status: "completed", input, output, title: `${name} it`, metadata: {}, time, ...more });
}

function write(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value, null, 2));
}

/** Writes sessions as the files of version 1.1 below `data`; returns the files of the sessions. */
export function writeFiles(data: string, sessions: readonly OpencodeSession[]): readonly string[] {
  const storage = join(data, "storage");
  mkdirSync(storage, { recursive: true });
  writeFileSync(join(storage, "migration"), "2");
  return sessions.map(({ info, messages }) => {
    const path = join(storage, "session", "p1", `${String(info["id"])}.json`);
    write(path, info);
    for (const message of messages) {
      const id = String(message.info["id"]);
      write(join(storage, "message", String(info["id"]), `${id}.json`), { ...message.info, sessionID: info["id"] });
      for (const part of message.parts)
        write(join(storage, "part", id, `${String(part["id"])}.json`), { ...part, sessionID: info["id"], messageID: id });
    }
    return path;
  });
}

const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
    summary_diffs TEXT, revert TEXT, permission TEXT, agent TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE account (id TEXT PRIMARY KEY, token TEXT);
  CREATE INDEX part_message_idx ON part (message_id);
  CREATE INDEX part_session_idx ON part (session_id);
  INSERT INTO account VALUES ('a', 'secret-token');
`;

/** Writes sessions into a database of version 1.2 and later at `path`. */
export function writeDatabase(path: string, sessions: readonly OpencodeSession[]): string {
  raw(path, (file) => {
    file.pragma("synchronous = off");
    file.exec(SCHEMA);
    const columns = "id, project_id, parent_id, slug, directory, title, version, revert, time_created, time_updated";
    const insert = file.prepare(`INSERT INTO session (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    const insertMessage = file.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
    const insertPart = file.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
    for (const { info, messages } of sessions) {
      const of = (name: string) => info[name] ?? null;
      const revert = info["revert"] === undefined ? null : JSON.stringify(info["revert"]);
      const fields = [of("id"), of("projectID"), of("parentID"), of("slug"), of("directory"), of("title"), of("version")];
      insert.run(...fields, revert, START, START + 9000);
      for (const { info: message, parts } of messages) {
        const { id, ...data } = message;
        insertMessage.run(id, of("id"), createdAt(data), START, JSON.stringify(data));
        for (const { id: part, ...rest } of parts) insertPart.run(part, id, of("id"), START, START, JSON.stringify(rest));
      }
    }
  });
  return path;
}

function createdAt({ time }: Record<string, unknown>): unknown {
  return typeof time === "object" && time !== null && "created" in time ? time.created : null;
}
