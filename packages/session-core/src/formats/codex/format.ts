import { randomUUID } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { isId, type SessionId } from "../../ids/ids.js";
import { derivedId } from "../../source/derived-id.js";
import { type JsonObject, objectAt, parseTime, stringAt, tryStringify, without } from "../../source/json.js";
import { readJsonLines } from "../../source/json-lines.js";
import { SourceFolders } from "../../source/source-folders.js";
import type {
  ImportProblem,
  NewSourceFile,
  ReadingPosition,
  SourceAgent,
  SourceFormat,
  SourceHeader,
  SourceParent,
  SourceRecord,
  SourceSession,
} from "../../source/source-session.js";
import { homeOf, idInName, readStartingCall, readThreadName } from "./home.js";
import { type MessageSource, RolloutReader } from "./records.js";
import { isRolloutRecord, type RolloutLine, toRolloutLine } from "./rollout-line.js";

const CODEX: SourceAgent = {
  name: "Codex",
  folders: ({ env, home }) => {
    const chosen = env["CODEX_HOME"];
    const folder = chosen !== undefined && isAbsolute(chosen) ? chosen : home === "" ? "" : join(home, ".codex");
    return folder === "" ? [] : [join(folder, "sessions"), join(folder, "archived_sessions")];
  },
  files: /(?:^|\/)rollout-[^/]*\.jsonl(?:\.zst)?$/,
  resume: { program: "codex", args: (sessionId) => ["resume", sessionId], newSession: newRollout },
};

/** A rollout of this moment, in the folder of the day. Its id is a UUID of version 7, which starts with the time. */
function newRollout(folder: string, { createdAtMs }: { readonly createdAtMs: number }): NewSourceFile {
  const time = createdAtMs.toString(16).padStart(12, "0");
  const random = randomUUID();
  const sessionId = `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
  const iso = new Date(createdAtMs).toISOString();
  const name = `rollout-${iso.slice(0, 19).replaceAll(":", "-")}-${sessionId}.jsonl`;
  return { sessionId, file: join(folder, ...iso.slice(0, 10).split("-"), name) };
}

/** Rollouts of Codex: one session a file. */
export const codexFormat: SourceFormat = {
  name: "codex",
  agents: [CODEX],
  detects: ({ records }) => records.some(isRolloutRecord),
  *sessions(path, folders = new SourceFolders()) {
    yield toSession(path, readFacts(path), folders);
  },
};

/** What the beginning of a rollout says of all of it. */
interface RolloutFacts {
  readonly sessionId: SessionId;
  readonly meta: JsonObject;
  readonly startMs: number | undefined;
  /** undefined: there is no message yet, except `promptLine`. */
  readonly source: MessageSource | undefined;
  /** The line of the last prompt that is recorded for the interface only. */
  readonly promptLine: number | undefined;
}

/** Reads a file up to its first message, which is among the first lines: only of a file without messages as items all of it. */
function readFacts(path: string): RolloutFacts {
  const scan = new FactScan();
  for (const parsed of readJsonLines(path)) {
    if (parsed.kind === "problem") continue;
    scan.add(toRolloutLine(parsed.object, parsed.line));
    if (scan.isComplete) break;
  }
  return scan.toFacts(idInName(path));
}

class FactScan {
  #first: RolloutLine | undefined;
  #meta: JsonObject | undefined;
  #startMs: number | undefined;
  #source: MessageSource | undefined;
  #promptLine: number | undefined;

  add(line: RolloutLine): void {
    this.#first ??= line;
    this.#startMs ??= line.createdAtMs;
    if (line.type === "session_meta") this.#meta ??= line.payload;
    if (hasMessage(line)) this.#source = "items";
    else if (endsTurn(line)) this.#source ??= "events";
    if (line.type === "event_msg" && line.payload.type === "user_message") this.#promptLine = line.line;
  }

  get isComplete(): boolean {
    return this.#source === "items" && this.#meta !== undefined;
  }

  toFacts(nameId: SessionId | undefined): RolloutFacts {
    const meta = this.#meta ?? {};
    const metaId = stringAt(meta, "id");
    // A file whose first line is broken may have the data of the session that it was forked from.
    const own = this.#first?.type === "session_meta" ? metaId : (nameId ?? metaId);
    const sessionId = own !== undefined && isId(own) ? own : (nameId ?? derivedId("codex", tryStringify(this.#first?.raw) ?? ""));
    const startMs = parseTime(meta.timestamp) ?? this.#startMs;
    return { sessionId, meta, startMs, source: this.#source, promptLine: this.#promptLine };
  }
}

function hasMessage({ type, payload }: RolloutLine): boolean {
  return type === "response_item" && payload.type === "message" && (payload.role === "user" || payload.role === "assistant");
}

/** Whether a turn without items has a reply, or is over. */
function endsTurn({ type, payload }: RolloutLine): boolean {
  if (type !== "event_msg") return false;
  if (payload.type === "item_completed") return objectAt(payload, "item")?.type === "AgentMessage";
  return payload.type === "agent_message" || payload.type === "task_complete" || payload.type === "turn_aborted";
}

function toSession(path: string, facts: RolloutFacts, folders: SourceFolders): SourceSession {
  const { header, problems } = toHeader(path, facts, folders);
  let position: ReadingPosition | undefined;
  return {
    header,
    *records(from) {
      for (const problem of problems) yield { kind: "problem", problem };
      position = yield* readRecords(path, facts, from);
      const name = readThreadName(path, facts.sessionId, folders);
      for (const problem of name.problems) yield { kind: "problem", problem };
      if (name.value !== undefined) yield { kind: "title", title: name.value, source: "user" };
    },
    position: () => position,
  };
}

function* readRecords(
  path: string,
  { sessionId, startMs, source, promptLine }: RolloutFacts,
  from: ReadingPosition | undefined,
): Generator<SourceRecord, ReadingPosition | undefined, void> {
  const reader = new RolloutReader(sessionId, startMs ?? 0, source ?? "items", from?.state);
  let end = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
  let position: ReadingPosition | undefined;
  for (const line of readJsonLines(path, { from })) {
    if (line.kind === "problem") {
      yield line;
      continue;
    }
    const { number, offset, bytes, hasLineBreak } = line.line;
    if (hasLineBreak) end = { offset: offset + bytes + 1, line: number };
    else position = reader.position(end);
    yield* reader.read(toRolloutLine(line.object, line.line));
  }
  position ??= reader.position(end);
  yield* reader.finish();
  if (source === undefined && promptLine !== undefined) yield { kind: "problem", problem: unansweredPrompt(path, promptLine) };
  return source === "items" ? position : undefined;
}

function unansweredPrompt(path: string, line: number): ImportProblem {
  return {
    code: "invalid-record",
    path,
    line,
    message: "the prompt is recorded for the interface only, and no reply follows; it was left out",
  };
}

interface HeaderWithProblems {
  readonly header: SourceHeader;
  readonly problems: readonly ImportProblem[];
}

function toHeader(path: string, { sessionId, meta, startMs }: RolloutFacts, folders: SourceFolders): HeaderWithProblems {
  const starter = agentStarter(meta);
  const call = starter?.sessionId === undefined ? undefined : readStartingCall(path, sessionId, starter.sessionId, folders);
  const forkedFrom = stringAt(meta, "forked_from_id");
  const parent: SourceParent | undefined =
    starter?.sessionId === undefined
      ? forkedFrom === undefined
        ? undefined
        : { sessionId: forkedFrom }
      : { sessionId: starter.sessionId, toolCallId: call?.value };
  const header: SourceHeader = {
    sessionId,
    kind: starter === undefined ? "conversation" : "subagent",
    createdAtMs: startMs,
    cwd: stringAt(meta, "cwd"),
    parent: parent?.sessionId === sessionId ? undefined : parent,
    metadata: toMetadata(path, meta),
  };
  return { header, problems: call?.problems ?? [] };
}

/** The session that started an agent, as far as it is known; undefined: the session is no agent's. */
function agentStarter(meta: JsonObject): { readonly sessionId: SessionId | undefined } | undefined {
  const source = objectAt(meta, "source");
  if (source?.subagent === undefined) return undefined;
  const spawned = objectAt(objectAt(source, "subagent") ?? {}, "thread_spawn");
  return {
    sessionId: stringAt(spawned ?? {}, "parent_thread_id") ?? stringAt(meta, "parent_thread_id") ?? stringAt(meta, "forked_from_id"),
  };
}

const IN_HEADER = [
  "id",
  "session_id",
  "timestamp",
  "cwd",
  "base_instructions",
  "forked_from_id",
  "parent_thread_id",
  "cli_version",
  "payload",
  "type",
];

function toMetadata(path: string, meta: JsonObject): JsonObject {
  const [version, gitBranch] = [stringAt(meta, "cli_version"), stringAt(objectAt(meta, "git") ?? {}, "branch")];
  return {
    ...(version === undefined ? {} : { version }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(homeOf(path)?.isArchived === true ? { archived: true } : {}),
    ...without(meta, IN_HEADER),
  };
}
