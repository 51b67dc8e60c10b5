import type { ImportProblem } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, parseTime, stringAt, without } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { readHeadOnce, readJsonLines, type SourceLine } from "../source/json-lines.js";
import { type LogConversation, readRecordLog } from "../source/record-log.js";
import { SourceFolders } from "../source/source-folders.js";
import type { FileHead, SourceFormat } from "../source/source-format.js";
import { AgentIndex, agentOf, scalarsIn } from "./agents.js";
import { EventConversation } from "./conversation.js";
import { isHistory, readHistory } from "./history.js";
import { readCheckpoint, readWorkspace, sessionIdOf } from "./workspace.js";

/**
 * Sessions of Copilot CLI: `session-state/<id>/events.jsonl`, `session-state/<id>.jsonl` and, of the oldest versions,
 * `history-session-state/*.json`. Agents are in the file of their session.
 */
export const copilotFormat: SourceFormat = {
  name: "copilot",
  agents: [
    {
      name: "Copilot CLI",
      folders: (given) =>
        ["session-state", "history-session-state"].flatMap((name) => foldersBelow(given, "COPILOT_HOME", [name], ".copilot")),
      files: /^[^/]+\.jsonl?$|^[^/]+\/events\.jsonl$/,
      // A session's checkpoints and files.
      skipped: /^[^/]+\/[^/]+$/,
      resume: { program: "copilot", args: (sessionId) => ["--resume", sessionId] },
    },
  ],
  detects: (head: FileHead) => head.records.some(isEvent) || isHistory(head),
  sessions: (path, folders = new SourceFolders()) => {
    const head = readHeadOnce(path, folders);
    return isHistory(head) ? [readHistory(head)] : readEventFile(path, folders);
  },
};

const TYPE = /^(?:(?:session|user|assistant|tool|system|subagent|hook|skill|permission|external_tool|tool_search)\.[a-z_]+|abort)$/;

/** True if a record is an event of Copilot CLI, or of a transcript of VS Code. */
export function isEvent(record: JsonObject): boolean {
  const { type, data, timestamp, parentId } = record;
  return typeof type === "string" && TYPE.test(type) && isObject(data) && timestamp !== undefined && parentId !== undefined;
}

/** The sessions of a file of events: the conversation, then its agents. */
export function* readEventFile(path: string, folders = new SourceFolders()): Generator<SourceSession, void, void> {
  const start = readHeadOnce(path, folders).records.find(({ type }) => type === "session.start") ?? {};
  const data = objectAt(start, "data") ?? {};
  const sessionId = sessionIdOf(path, stringAt(data, "sessionId"));
  const workspace = readWorkspace(path, folders);
  const names = workspace.value ?? new Map<string, string>();
  const createdAtMs = parseTime(data.startTime) ?? parseTime(start.timestamp);
  let conversation: FileConversation | undefined;
  const log = readRecordLog(path, (state) => (conversation = new FileConversation(path, sessionId, createdAtMs ?? 0, state)));
  const title = names.get("name") || names.get("summary") || undefined;
  const cwd = stringAt(objectAt(data, "context") ?? {}, "cwd") ?? names.get("cwd");
  const isUsers = names.get("user_named") === "true" && title !== undefined;
  yield {
    header: { sessionId, kind: "conversation", createdAtMs, cwd, title, metadata: toMetadata(data, sessionId) },
    *records(from) {
      for (const problem of [...workspace.problems, ...versionProblems(path, data)]) yield { kind: "problem", problem };
      if (isUsers) yield { kind: "title", title, source: "user" };
      yield* log.records(from);
    },
    position: log.position,
  };
  const agents = conversation?.knowsAgents === true ? conversation.agents : readAgents(path, sessionId);
  for (const key of agents.keys) yield { header: agents.header(key, cwd), records: () => agents.records(key, path) };
}

function toMetadata(data: JsonObject, sessionId: string): SourceHeader["metadata"] {
  const context = without(objectAt(data, "context") ?? {}, ["cwd"]);
  const recorded = stringAt(data, "sessionId");
  return {
    ...scalarsIn(without(data, ["sessionId", "startTime", "selectedModel", "reasoningEffort"])),
    ...scalarsIn(context),
    ...(recorded === undefined || recorded === sessionId ? {} : { recordedSessionId: recorded }),
  };
}

/** The newest version of the events that is known. */
const NEWEST_VERSION = 1;

function versionProblems(path: string, data: JsonObject): readonly ImportProblem[] {
  const version = numberAt(data, "version");
  if (version === undefined || version <= NEWEST_VERSION) return [];
  const message = `version ${version} of this format is not known, only version ${NEWEST_VERSION}; read as far as it is like this one`;
  return [{ code: "invalid-record", path, line: 1, message }];
}

/** The conversation of a file of events, which has those of its agents too. */
class FileConversation implements LogConversation {
  /** The agents of the events that were read. */
  readonly agents: AgentIndex;
  readonly #conversation: EventConversation;
  readonly #isContinued: boolean;
  readonly #hadAgents: boolean;
  #isRead = false;

  constructor(path: string, sessionId: string, startMs: number, state: JsonObject | undefined) {
    this.agents = new AgentIndex(sessionId);
    this.#conversation = new EventConversation(sessionId, startMs, {
      state,
      readSummary: (checkpoint) => readCheckpoint(path, checkpoint),
    });
    this.#isContinued = state !== undefined;
    this.#hadAgents = state?.hasAgents === true;
  }

  get state(): JsonObject {
    return { ...this.#conversation.state, hasAgents: this.#hadAgents || !this.agents.isEmpty };
  }

  get isPending(): boolean {
    return this.#conversation.isPending;
  }

  /** True after a reading from which the agents of the whole file are known. */
  get knowsAgents(): boolean {
    return this.#isRead && !(this.#isContinued && this.state.hasAgents === true);
  }

  /** A state costs more than an event. */
  mayWait({ type, data }: JsonObject): boolean {
    return (
      type === "assistant.reasoning" ||
      type === "session.usage_record" ||
      (type === "assistant.message" && isObject(data) && data.chunkCount !== undefined)
    );
  }

  *read(event: JsonObject, line: SourceLine): Generator<SourceRecord, void, void> {
    this.agents.add(event, line);
    if (agentOf(event) === undefined) yield* this.#conversation.read(event, line.number);
  }

  *finish(): Generator<SourceRecord, void, void> {
    yield* this.#conversation.finish();
    this.#isRead = true;
  }
}

/** The agents of a file that was not read from its start. */
function readAgents(path: string, sessionId: string): AgentIndex {
  const agents = new AgentIndex(sessionId);
  for (const read of readJsonLines(path)) if (read.kind === "object") agents.add(read.object, read.line);
  return agents;
}
