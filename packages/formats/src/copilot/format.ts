import type { ImportProblem } from "@bough/session-core";
import type { ReadingPosition, SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, parseTime, stringAt, without } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { readHeadOnce, readJsonLines } from "../source/json-lines.js";
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
  const reader = new EventReader(path, sessionId, parseTime(data.startTime) ?? parseTime(start.timestamp));
  const title = names.get("name") || names.get("summary") || undefined;
  const cwd = stringAt(objectAt(data, "context") ?? {}, "cwd") ?? names.get("cwd");
  const isUsers = names.get("user_named") === "true" && title !== undefined;
  yield {
    header: { sessionId, kind: "conversation", createdAtMs: reader.startMs, cwd, title, metadata: toMetadata(data, sessionId) },
    *records(from) {
      for (const problem of [...workspace.problems, ...versionProblems(path, data)]) yield { kind: "problem", problem };
      if (isUsers) yield { kind: "title", title, source: "user" };
      yield* reader.records(from);
    },
    position: () => reader.position,
  };
  const agents = reader.agents();
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

/** True if an event may become one entry with later ones. */
function mayWait({ type, data }: JsonObject): boolean {
  return (
    type === "assistant.reasoning" ||
    type === "session.usage_record" ||
    (type === "assistant.message" && isObject(data) && data.chunkCount !== undefined)
  );
}

/** The newest version of the events that is known. */
const NEWEST_VERSION = 1;

function versionProblems(path: string, data: JsonObject): readonly ImportProblem[] {
  const version = numberAt(data, "version");
  if (version === undefined || version <= NEWEST_VERSION) return [];
  const message = `version ${version} of this format is not known, only version ${NEWEST_VERSION}; read as far as it is like this one`;
  return [{ code: "invalid-record", path, line: 1, message }];
}

/** Reads the events of a file, those of its agents apart. */
class EventReader {
  readonly startMs: number | undefined;
  readonly #path: string;
  readonly #sessionId: string;
  #position: ReadingPosition | undefined;
  /** The agents of the whole file; undefined: not known. */
  #agents: AgentIndex | undefined;

  constructor(path: string, sessionId: string, startMs: number | undefined) {
    this.#path = path;
    this.#sessionId = sessionId;
    this.startMs = startMs;
  }

  /** The position at which the last reading ended: before events that become one entry with later ones. */
  get position(): ReadingPosition | undefined {
    return this.#position;
  }

  *records(from?: ReadingPosition): Generator<SourceRecord, void, void> {
    const readSummary = (checkpoint: string) => readCheckpoint(this.#path, checkpoint);
    const conversation = new EventConversation(this.#sessionId, this.startMs ?? 0, { state: from?.state, readSummary });
    const agents = new AgentIndex(this.#sessionId);
    const hadAgents = from?.state.hasAgents === true;
    const state = () => ({ ...conversation.state, hasAgents: hadAgents || !agents.isEmpty });
    let end = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
    /** The place before events that become one entry with later ones, or before a last line that may be torn. */
    let before: ReadingPosition | undefined;
    for (const read of readJsonLines(this.#path, { from })) {
      if (read.kind === "problem") {
        yield read;
        continue;
      }
      const { line, object } = read;
      // A state costs more than an event, so it is made only where it may be needed.
      if (!conversation.isPending && (!line.hasLineBreak || mayWait(object)))
        before = { offset: line.offset, line: line.number - 1, state: state() };
      agents.add(object, line);
      if (agentOf(object) === undefined) yield* conversation.read(object, line.number);
      if (conversation.isPending || !line.hasLineBreak) continue;
      before = undefined;
      end = { offset: line.offset + line.bytes + 1, line: line.number };
    }
    this.#position = before ?? { ...end, state: state() };
    yield* conversation.finish();
    this.#agents = from === undefined || !state().hasAgents ? agents : undefined;
  }

  /** The agents of the file. Reads it again if the last reading did not see all of it. */
  agents(): AgentIndex {
    if (this.#agents !== undefined) return this.#agents;
    const agents = new AgentIndex(this.#sessionId);
    for (const read of readJsonLines(this.#path)) if (read.kind === "object") agents.add(read.object, read.line);
    return agents;
  }
}
