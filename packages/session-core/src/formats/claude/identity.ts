import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { isId, type SessionId } from "../../ids/ids.js";
import type { SessionFile } from "./session-file.js";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const AGENT_FILE = /^agent-(.+)\.jsonl$/;

/** Name of the folder with the files of a session's agents, inside a folder with the session's name. */
export const AGENT_FOLDER = "subagents";

/** The agent whose file this is, by its name; undefined: a session's own file. */
export function agentOfFile(path: string): string | undefined {
  return AGENT_FILE.exec(basename(path))?.[1];
}

/**
 * The id of the conversation in a file; for an agent's file, of the conversation that started the agent.
 *
 * A file's name comes first: a resumed or forked session begins with records of the one before it, under that one's
 * id. Where the name is no id, an agent's folder says it, and else the records.
 */
export function conversationId(file: Pick<SessionFile, "path" | "chains">): SessionId {
  const name = basename(file.path, ".jsonl");
  if (UUID.test(name)) return name;
  const owner = folderOwner(file.path);
  if (owner !== undefined) return owner;
  const recorded = file.chains.map((chain) => chain.recordedSessionId).find((id) => id !== undefined);
  if (recorded !== undefined && isId(recorded)) return recorded;
  return isId(name) ? name : createHash("sha256").update(name).digest("hex").slice(0, 16);
}

/** The session in whose folder of agents a file lies. */
export function folderOwner(path: string): SessionId | undefined {
  const folder = dirname(path);
  const owner = basename(dirname(folder));
  return basename(folder) === AGENT_FOLDER && UUID.test(owner) ? owner : undefined;
}

/** The id of an agent's session: the same whether it is reached through its parent or alone. */
export function agentSessionId(conversation: SessionId, key: string): SessionId {
  const id = `${conversation}.${key}`;
  return isId(id) ? id : `${conversation.slice(0, 64)}.${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}
