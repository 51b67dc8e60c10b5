import { basename, dirname, join } from "node:path";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, objectAt, parseTime, stringAt } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { agentSessionId, derivedId } from "../source/derived-id.js";
import { readHeadOnce, readJsonLines } from "../source/json-lines.js";
import { toText } from "../source/payloads.js";
import { readRecordLog } from "../source/record-log.js";
import { SourceFolders } from "../source/source-folders.js";
import { type SourceFormat, tryRead, tryReadObject } from "../source/source-format.js";
import { KimiConversation } from "./conversation.js";

/** Sessions of Kimi Code: `<session>/agents/<agent>/wire.jsonl`, a journal for each agent, and `<session>/state.json`. */
export const kimiFormat: SourceFormat = {
  name: "kimi",
  agents: [
    {
      name: "Kimi Code",
      folders: (given) => foldersBelow(given, "KIMI_CODE_HOME", ["sessions"], ".kimi-code"),
      files: /^[^/]+\/[^/]+\/agents\/[^/]+\/wire\.jsonl$/,
      beside: (path) => [join(sessionFolder(path), "state.json")],
      resume: { program: "kimi", args: (sessionId) => ["--session", sessionId] },
    },
  ],
  detects: ({ records }) => records.some(isJournal),
  starterOf: (path, folders) => {
    const starter = mainOf(path);
    return starter !== path && folders.has(starter) ? starter : undefined;
  },
  sessions: (path, folders = new SourceFolders()) => [toSession(path, folders)],
};

function isJournal({ type, protocol_version: version, message, event }: JsonObject): boolean {
  if (type === "metadata") return typeof version === "string";
  return (type === "context.append_message" && isObject(message)) || (type === "context.append_loop_event" && isObject(event));
}

/** The folder with `state.json` and `agents`. */
function sessionFolder(path: string): string {
  return dirname(dirname(dirname(path)));
}

function mainOf(path: string): string {
  return join(sessionFolder(path), "agents", "main", "wire.jsonl");
}

const STATE_BYTES = 1 << 24;

function toSession(path: string, folders: SourceFolders): SourceSession {
  const [agent, folder] = [basename(dirname(path)), sessionFolder(path)];
  const isPlaced = basename(dirname(dirname(path))) === "agents";
  const file = join(folder, "state.json");
  const state = (isPlaced ? tryReadObject(file, folders, STATE_BYTES, "the title and directory were left out").value : undefined) ?? {};
  const own = stringAt(state, "id") ?? (isPlaced ? basename(folder) : basename(path).replace(/\.jsonl$/, ""));
  const sessionId = isId(own) ? own : derivedId("kimi", own);
  const isSubagent = isPlaced && agent !== "main";
  const first = readHeadOnce(path, folders).records.find(({ type }) => type === "metadata") ?? {};
  const title = stringAt(state, "title") || undefined;
  const facts = {
    createdAtMs: parseTime(first.created_at) ?? parseTime(state.createdAt),
    cwd: stringAt(state, "cwd") ?? stringAt(state, "workDir"),
  };
  const header: SourceHeader = isSubagent
    ? { ...facts, ...agentHeader(path, sessionId, agent, folders) }
    : { ...facts, sessionId, title, kind: "conversation", metadata: { protocol: first.protocol_version } };
  const begin = (earlier?: JsonObject) => new KimiConversation(header.sessionId, header.createdAtMs ?? 0, isSubagent, earlier);
  const isNamed = !isSubagent && state.isCustomTitle === true && title !== undefined;
  return { header, path, ...readRecordLog(path, begin, isNamed ? [{ kind: "title", title, source: "user" }] : []) };
}

function agentHeader(
  path: string,
  conversation: string,
  agent: string,
  folders: SourceFolders,
): Pick<SourceHeader, "sessionId" | "kind" | "parent" | "title"> {
  const starter = mainOf(path);
  const started = folders.has(starter)
    ? tryRead(starter, "the link to the call that started the agent was left out", () => folders.once(starter, startedAgents)).value
    : undefined;
  const call = started?.get(agent);
  return {
    sessionId: agentSessionId(conversation, agent),
    kind: "subagent",
    title: call?.description,
    parent: { sessionId: conversation, toolCallId: call?.toolCallId },
  };
}

interface StartedAgent {
  readonly toolCallId: string;
  readonly description: string | undefined;
}

/** The calls that started agents, by the id of the agent, which their result names. */
function startedAgents(path: string): ReadonlyMap<string, StartedAgent> {
  const calls = new Map<string, string | undefined>();
  const started = new Map<string, StartedAgent>();
  for (const line of readJsonLines(path)) {
    const event = line.kind === "object" ? objectAt(line.object, "event") : undefined;
    const toolCallId = stringAt(event ?? {}, "toolCallId");
    if (event === undefined || toolCallId === undefined) continue;
    if (event.type === "tool.call") calls.set(toolCallId, stringAt(objectAt(event, "args") ?? {}, "description"));
    if (event.type !== "tool.result") continue;
    for (const [, agent = ""] of toText(objectAt(event, "result")?.output).matchAll(/agent_id: ([\w-]+)/g))
      if (!started.has(agent)) started.set(agent, { toolCallId, description: calls.get(toolCallId) });
  }
  return started;
}
