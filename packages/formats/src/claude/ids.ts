import { hash } from "node:crypto";
import { basename, dirname } from "node:path";
import type { EntryId, SessionId } from "@bough/session-core";
import { isId } from "@bough/session-core/wire";
import type { SessionFile } from "./session-file.js";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const AGENT_FILE = /^agent-(.+)\.jsonl$/;

/** The folder of a session's agents, inside a folder with the session's name. */
export const AGENT_FOLDER = "subagents";

/** The id of the agent in the file's name; undefined: the file of a session. */
export function agentIdOfFile(path: string): string | undefined {
  return AGENT_FILE.exec(basename(path))?.[1];
}

/**
 * The id of the conversation in a file; for an agent's file, of the conversation that started the agent.
 *
 * The file's name has priority, because a resumed or forked session starts with records of the earlier session, with its id.
 * If the name is not an id: an agent's folder, then the records.
 */
export function conversationId(file: Pick<SessionFile, "path" | "chains">): SessionId {
  const name = basename(file.path, ".jsonl");
  if (UUID.test(name)) return name;
  const owner = sessionIdOfFolder(file.path);
  if (owner !== undefined) return owner;
  const recorded = file.chains.map((chain) => chain.recordedSessionId).find((id) => id !== undefined);
  if (recorded !== undefined && isId(recorded)) return recorded;
  return isId(name) ? name : hash("sha256", name, "hex").slice(0, 16);
}

/** The longest name of a project's folder; a longer one ends with a hash of the path. */
const LONGEST_FOLDER = 200;

/** The name of the folder in which Claude Code keeps the sessions of a working directory. */
export function projectFolder(cwd: string): string {
  const path = cwd.normalize("NFC");
  const name = path.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_FOLDER) return name;
  let hash = 0;
  for (let at = 0; at < path.length; at += 1) hash = (Math.imul(hash, 31) + path.charCodeAt(at)) | 0;
  return `${name.slice(0, LONGEST_FOLDER)}-${Math.abs(hash).toString(36)}`;
}

/** The session whose folder of agents contains the file. */
export function sessionIdOfFolder(path: string): SessionId | undefined {
  const folder = dirname(path);
  const owner = basename(dirname(folder));
  return basename(folder) === AGENT_FOLDER && UUID.test(owner) ? owner : undefined;
}

/** Room for the `2:`, `3:`… of a record that becomes several entries, within the 128 characters of an id. */
const LONGEST_UUID = 100;

/**
 * The id of a record without a usable uuid: 12 hexadecimal digits of a digest of session, line and text. Claude Code only appends
 * to a file, so the id is the same at each import. pi's reader derives ids in Bough's alphabet (`derivedId` in
 * formats/pi/pi-file.ts). Both formats of ids are stored and must not change.
 */
export function derivedId(session: SessionId, line: number, text: string): EntryId {
  return hash("sha256", `${session}\n${line}\n${text}`, "hex").slice(0, 12);
}

/** True if a record's uuid is usable as the id of its entry. */
export function isUsableId(uuid: string): boolean {
  return uuid.length <= LONGEST_UUID && isId(uuid);
}

/**
 * The id of the `count`-th entry, from 1, of a record that becomes several. The number comes first, so that a short prefix
 * still names the record's own entry.
 */
export function partId(first: EntryId, count: number): EntryId {
  return count === 1 ? first : `${count}:${first}`;
}

/** A short digest of a prompt, kept in memory for each call of a session to find an agent's call. */
export function promptDigest(prompt: string): string {
  return hash("sha256", prompt.trim(), "hex").slice(0, 16);
}
