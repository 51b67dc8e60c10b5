import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, objectAt, parseTime, stringAt } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { agentSessionId, derivedId } from "../source/derived-id.js";
import { readHeadOnce } from "../source/json-lines.js";
import { readRecordLog } from "../source/record-log.js";
import { SourceFolders } from "../source/source-folders.js";
import { type SourceFormat, tryReadObject } from "../source/source-format.js";
import { TreeConversation } from "../source/tree-log.js";
import { qwenKeyOf, readQwenRecord } from "./records.js";

/** Sessions of Qwen Code: `projects/<project>/chats/<session>.jsonl`, and those of agents in `projects/<project>/subagents/<session>/`. */
export const qwenFormat: SourceFormat = {
  name: "qwen",
  agents: [
    {
      name: "Qwen Code",
      folders: (given) =>
        ["QWEN_RUNTIME_DIR", "QWEN_HOME"].reduce<readonly string[]>(
          (folders, name) => (given.env[name] === undefined ? folders : foldersBelow(given, name, ["projects"])),
          foldersBelow(given, "QWEN_HOME", ["projects"], ".qwen"),
        ),
      files: /(?:^|\/)(?:chats\/(?:archive\/)?[^/]+|subagents\/[^/]+\/agent-[^/]+)\.jsonl$/,
      resume: { program: "qwen", args: (sessionId) => ["--resume", sessionId] },
    },
  ],
  detects: ({ records }) => records.some(isQwen),
  starterOf: (path, folders) => {
    const starter = join(dirname(dirname(dirname(path))), "chats", `${basename(dirname(path))}.jsonl`);
    return AGENT_FILE.test(path.replaceAll("\\", "/")) && folders.has(starter) ? starter : undefined;
  },
  sessions: (path, folders = new SourceFolders()) => [toSession(path, folders)],
};

const AGENT_FILE = /\/subagents\/[^/]+\/agent-([^/]+)\.jsonl$/;

const TYPES = new Set<unknown>(["user", "assistant", "tool_result", "system"]);

/** A record of a tree whose message has parts, or that has a payload of the program. */
function isQwen({ type, uuid, parentUuid, message, systemPayload }: JsonObject): boolean {
  const isPlaced = typeof uuid === "string" && (parentUuid === null || typeof parentUuid === "string");
  return isPlaced && TYPES.has(type) && (isObject(systemPayload) || (isObject(message) && Array.isArray(message.parts)));
}

function toSession(path: string, folders: SourceFolders): SourceSession {
  const header = toHeader(path, readHeadOnce(path, folders).records, folders);
  const { sessionId, createdAtMs: startMs = 0 } = header;
  return {
    header,
    path,
    ...readRecordLog(path, (state) => new TreeConversation({ path, sessionId, startMs, state }, readQwenRecord, qwenKeyOf)),
  };
}

function toHeader(path: string, records: readonly JsonObject[], folders: SourceFolders): SourceHeader {
  const first = records.find(({ uuid }) => typeof uuid === "string") ?? {};
  const name = basename(path).replace(/\.jsonl$/, "");
  const own = stringAt(first, "sessionId") ?? name;
  const sessionId = isId(own) ? own : derivedId("qwen", name, own);
  const branch = stringAt(first, "gitBranch");
  const facts = {
    createdAtMs: parseTime(first.timestamp),
    cwd: stringAt(first, "cwd"),
    metadata: { version: first.version, ...(branch === undefined ? {} : { gitBranch: branch }) },
  };
  const [, agent] = AGENT_FILE.exec(path.replaceAll("\\", "/")) ?? [];
  if (agent !== undefined) return { ...facts, ...agentHeader(path, sessionId, agent, folders) };
  const parent = forkedFrom(records);
  return { ...facts, sessionId, kind: "conversation", ...(parent === undefined ? {} : { parent: { sessionId: parent } }) };
}

/** The session from which this one was spawned or branched. */
function forkedFrom(records: readonly JsonObject[]): SessionId | undefined {
  const record = records.find(({ subtype }) => subtype === "parent_session") ?? {};
  const id = stringAt(objectAt(record, "systemPayload") ?? {}, "parentSessionId");
  return id !== undefined && isId(id) ? id : undefined;
}

const META_BYTES = 1 << 20;

/** An agent's session is linked to the call that started it, which the file beside it names. */
function agentHeader(
  path: string,
  sessionId: SessionId,
  agent: string,
  folders: SourceFolders,
): Pick<SourceHeader, "sessionId" | "kind" | "parent" | "title"> {
  const file = path.replace(/\.jsonl$/, ".meta.json");
  const meta = tryReadObject(file, folders, META_BYTES, "what it says of the agent was left out").value ?? {};
  const toolCallId = stringAt(meta, "toolUseId");
  return {
    sessionId: agentSessionId(sessionId, agent),
    kind: "subagent",
    title: stringAt(meta, "description"),
    parent: { sessionId, ...(toolCallId === undefined ? {} : { toolCallId }) },
  };
}
