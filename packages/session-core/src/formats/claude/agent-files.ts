import { basename, dirname, join } from "node:path";
import { SourceNotFoundError, SourceUnreadableError } from "../../errors/import-errors.js";
import type { SessionId } from "../../ids/ids.js";
import { type JsonObject, parseJsonObject } from "../../source/json.js";
import { type FolderEntry, readStart, SourceFileReader, statPath } from "../../source/source-file.js";
import type { SourceFolders } from "../../source/source-folders.js";
import { type ImportProblem, type ReadAttempt, tryRead } from "../../source/source-session.js";
import { AGENT_FOLDER, agentIdOfFile, sessionIdOfFolder } from "./ids.js";
import { indexFile } from "./indexer.js";
import type { SessionFile } from "./session-file.js";

/** How much of an agent's file is read to see whose it is. Its first line is the prompt; few are longer. */
const HEAD_BYTES = 1 << 16;

/** The most that is read of what stands beside an agent's file. */
const META_BYTES = 1 << 20;

/** The files of a session's agents, and what of them cannot be read. */
interface AgentFiles {
  readonly paths: readonly string[];
  readonly problems: readonly ImportProblem[];
}

/** The files of the agents that a session started: in its folder, or in old versions beside its own file. */
export function findAgentFiles(path: string, sessionId: SessionId, folders: SourceFolders): AgentFiles {
  if (agentIdOfFile(path) !== undefined) return { paths: [], problems: [] };
  const folder = dirname(path);
  const own = join(folder, basename(path, ".jsonl"));
  const inside = tryRead(join(own, AGENT_FOLDER), "the sessions of its agents were left out", () =>
    folders.has(own) ? folders.paths(join(own, AGENT_FOLDER), isAgentFile) : [],
  );
  const opened = (inside.value ?? []).map((file) => tryRead(file, "the agent's session was left out", () => assertOpenable(file)));
  const beside = tryRead(folder, "agents beside the session were not looked for", () =>
    findSiblingAgentsOnce(folder, folders).filesOf.get(sessionId),
  );
  return {
    paths: [...opened.flatMap(({ value }) => value ?? []), ...(beside.value ?? [])],
    problems: [inside, ...opened, beside].flatMap(({ problems }) => problems),
  };
}

function isAgentFile({ name }: FolderEntry): boolean {
  return agentIdOfFile(name) !== undefined;
}

function assertOpenable(path: string): string {
  new SourceFileReader(path).close();
  return path;
}

/** The agents' files that stand beside sessions in one folder. */
interface SiblingAgents {
  readonly ownerOf: ReadonlyMap<string, SessionId>;
  readonly filesOf: ReadonlyMap<SessionId, readonly string[]>;
}

// All sessions of a folder ask, so an import finds out once which session each file belongs to.
function findSiblingAgentsOnce(folder: string, folders: SourceFolders): SiblingAgents {
  return folders.once(folder, findSiblingAgents);
}

function findSiblingAgents(folder: string, folders: SourceFolders): SiblingAgents {
  const ownerOf = new Map<string, SessionId>();
  const filesOf = new Map<SessionId, string[]>();
  for (const path of folders.paths(folder, isAgentFile)) {
    const owner = readOwner(path);
    if (owner === undefined) continue;
    ownerOf.set(path, owner);
    const files = filesOf.get(owner);
    if (files === undefined) filesOf.set(owner, [path]);
    else files.push(path);
  }
  return { ownerOf, filesOf };
}

// A folder may hold hundreds of agents of other sessions, so no more of each is read than says whose it is.
function readOwner(path: string): SessionId | undefined {
  try {
    const first = /^[^\n]*/.exec(readStart(path, HEAD_BYTES).toString("utf8"))?.[0] ?? "";
    const whole = parseJsonObject(first)?.sessionId ?? /"sessionId":\s*"([^"\\]+)"/.exec(first)?.[1];
    return typeof whole === "string" ? whole : undefined;
  } catch (error) {
    // The session that the file belongs to is unknown, so the problem is added to none. An import of the folder reports the file.
    if (error instanceof SourceNotFoundError || error instanceof SourceUnreadableError) return undefined;
    throw error;
  }
}

/**
 * The file of the session that started the agent in `path`, if both are where Claude Code keeps them. It only says which file
 * of a folder is read first, so a folder that cannot be listed means that there is none.
 */
export function starterOf(path: string, folders: SourceFolders): string | undefined {
  if (agentIdOfFile(path) === undefined) return undefined;
  const owner = sessionIdOfFolder(path) ?? findSiblingOwner(path, folders);
  return owner === undefined ? undefined : findParentFile(path, owner, folders);
}

function findSiblingOwner(path: string, folders: SourceFolders): SessionId | undefined {
  const folder = dirname(path);
  return tryRead(folder, "agents beside the session were not looked for", () => findSiblingAgentsOnce(folder, folders).ownerOf.get(path))
    .value;
}

/** The file of the session that started an agent, if it is where Claude Code keeps it. */
function findParentFile(path: string, sessionId: SessionId, folders: SourceFolders): string | undefined {
  const folder = sessionIdOfFolder(path) === undefined ? dirname(path) : dirname(dirname(dirname(path)));
  const parent = join(folder, `${sessionId}.jsonl`);
  return parent !== path && folders.has(parent) ? parent : undefined;
}

let lastParent: { readonly key: string; readonly file: WeakRef<SessionFile> } | undefined;

/** The index of the session that started an agent, if its file is where Claude Code keeps it. */
export function indexParent(path: string, sessionId: SessionId, folders: SourceFolders): ReadAttempt<SessionFile | undefined> {
  const parent = findParentFile(path, sessionId, folders);
  const read = () => (parent === undefined ? undefined : indexCached(parent));
  return tryRead(parent ?? path, "the link to the call that started the agent was left out", read);
}

// The last one is remembered while memory allows: a walk may come to each agent by itself, and a session may have hundreds.
function indexCached(path: string): SessionFile {
  const { size, mtimeMs } = statPath(path);
  const key = `${path}\n${size}\n${mtimeMs}`;
  const known = lastParent?.key === key ? lastParent.file.deref() : undefined;
  const file = known ?? indexFile(path);
  lastParent = { key, file: new WeakRef(file) };
  return file;
}

/** What `agent-<id>.meta.json` beside an agent's file says; undefined where there is none or it is no JSON object. */
export function readAgentMeta(path: string, folders: SourceFolders): ReadAttempt<JsonObject | undefined> {
  const meta = path.replace(/\.jsonl$/, ".meta.json");
  const isThere = agentIdOfFile(path) !== undefined && folders.has(meta);
  const read = () => (isThere ? parseJsonObject(readStart(meta, META_BYTES).toString("utf8")) : undefined);
  return tryRead(meta, "what it says of the agent was left out", read);
}
