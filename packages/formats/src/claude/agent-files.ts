import { basename, dirname, join } from "node:path";
import type { ImportProblem, SessionId } from "@bough/session-core";
import { type JsonObject, parseJsonObject } from "@bough/session-core/wire";
import { SourceNotFoundError, SourceUnreadableError } from "../errors.js";
import { type FolderEntry, readStart, SourceFileReader, statPath } from "../source/source-file.js";
import type { SourceFolders } from "../source/source-folders.js";
import { type ReadAttempt, tryRead, tryReadObject } from "../source/source-format.js";
import { AGENT_FOLDER, agentIdOfFile, sessionIdOfFolder } from "./ids.js";
import { indexFile } from "./index-file.js";
import type { SessionFile } from "./session-file.js";

/** The number of bytes of an agent's file that are read to find its session. The first line is the prompt, which is seldom longer. */
const HEAD_BYTES = 1 << 16;

/** The largest part of an agent's `.meta.json` that is read, in bytes. */
const META_BYTES = 1 << 20;

/** The files of a session's agents, and a problem for each file that cannot be read. */
interface AgentFiles {
  readonly paths: readonly string[];
  readonly problems: readonly ImportProblem[];
}

/** Finds the files of the agents that a session started: in its folder, or in old versions next to its file. */
export function findAgentFiles(path: string, sessionId: SessionId, folders: SourceFolders): AgentFiles {
  if (agentIdOfFile(path) !== undefined) return { paths: [], problems: [] };
  const folder = dirname(path);
  const own = join(folder, basename(path, ".jsonl"));
  const inside = tryRead(join(own, AGENT_FOLDER), "the sessions of its agents were left out", () =>
    folders.has(own) ? folders.paths(join(own, AGENT_FOLDER), isAgentFile) : [],
  );
  const opened = (inside.value ?? []).map((file) => tryRead(file, "the agent's session was left out", () => assertOpenable(file)));
  const beside = tryRead(folder, "agents next to the session were left out", () =>
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

/** The agents' files next to the sessions of a folder. */
interface SiblingAgents {
  readonly ownerOf: ReadonlyMap<string, SessionId>;
  readonly filesOf: ReadonlyMap<SessionId, readonly string[]>;
}

// Called for each session of a folder; the result is computed once for an import.
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

// A folder may contain hundreds of agents of other sessions, so only the start of each file is read.
function readOwner(path: string): SessionId | undefined {
  try {
    const first = /^[^\n]*/.exec(readStart(path, HEAD_BYTES).toString("utf8"))?.[0] ?? "";
    const whole = parseJsonObject(first)?.sessionId ?? /"sessionId":\s*"([^"\\]+)"/.exec(first)?.[1];
    return typeof whole === "string" ? whole : undefined;
  } catch (error) {
    // The session of the file is unknown, so no session gets the problem. An import of the folder reports the file.
    if (error instanceof SourceNotFoundError || error instanceof SourceUnreadableError) return undefined;
    throw error;
  }
}

/**
 * The file of the session that started the agent in `path`, if both are at Claude Code's usual places. It only affects the order
 * of an import, so undefined if the folder cannot be listed.
 */
export function starterOf(path: string, folders: SourceFolders): string | undefined {
  if (agentIdOfFile(path) === undefined) return undefined;
  const owner = sessionIdOfFolder(path) ?? findSiblingOwner(path, folders);
  return owner === undefined ? undefined : findParentFile(path, owner, folders);
}

function findSiblingOwner(path: string, folders: SourceFolders): SessionId | undefined {
  const folder = dirname(path);
  return tryRead(folder, "agents next to the session were left out", () => findSiblingAgentsOnce(folder, folders).ownerOf.get(path)).value;
}

/** The file of the session that started an agent, if it is at the usual place. */
function findParentFile(path: string, sessionId: SessionId, folders: SourceFolders): string | undefined {
  const folder = sessionIdOfFolder(path) === undefined ? dirname(path) : dirname(dirname(dirname(path)));
  const parent = join(folder, `${sessionId}.jsonl`);
  return parent !== path && folders.has(parent) ? parent : undefined;
}

let lastParent: { readonly key: string; readonly file: WeakRef<SessionFile> } | undefined;

/** The index of the session that started an agent, if its file is at the usual place. */
export function indexParent(path: string, sessionId: SessionId, folders: SourceFolders): ReadAttempt<SessionFile | undefined> {
  const parent = findParentFile(path, sessionId, folders);
  const read = () => (parent === undefined ? undefined : indexCached(parent));
  return tryRead(parent ?? path, "the link to the call that started the agent was left out", read);
}

// Caches the last index in a WeakRef: an import may read each of hundreds of agents of a session separately.
function indexCached(path: string): SessionFile {
  const { size, mtimeMs } = statPath(path);
  const key = `${path}\n${size}\n${mtimeMs}`;
  const known = lastParent?.key === key ? lastParent.file.deref() : undefined;
  const file = known ?? indexFile(path);
  lastParent = { key, file: new WeakRef(file) };
  return file;
}

/** The content of `agent-<id>.meta.json` next to an agent's file; undefined if it is missing or not a JSON object. */
export function readAgentMeta(path: string, folders: SourceFolders): ReadAttempt<JsonObject | undefined> {
  const meta = path.replace(/\.jsonl$/, ".meta.json");
  if (agentIdOfFile(path) === undefined) return { value: undefined, problems: [] };
  return tryReadObject(meta, folders, META_BYTES, "what it says of the agent was left out");
}
