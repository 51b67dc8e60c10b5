import { randomUUID } from "node:crypto";
import { basename, isAbsolute, join } from "node:path";
import type { ImportProblem, SessionId } from "@bough/session-core";
import type { ReadingPosition, SourceHeader, SourceParent, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { type JsonObject, numberAt, objectAt, quoted, stringAt, without, withoutUndefined } from "@bough/session-core/wire";
import { readJsonLines } from "../source/json-lines.js";
import { SourceFolders } from "../source/source-folders.js";
import { type NewSourceFile, type SourceAgent, type SourceFormat, tryRead } from "../source/source-format.js";
import { findRollouts, homeOf, idInName, notedNames, readStartingCall, readThreadName } from "./home.js";
import { RolloutReader } from "./records.js";
import { FORKED_FROM, isRolloutRecord, type RolloutFacts, readFacts, toRolloutLine } from "./rollout-file.js";

const CODEX: SourceAgent = {
  name: "Codex",
  folders: ({ env, home }) => {
    const chosen = env["CODEX_HOME"];
    const folder = chosen !== undefined && isAbsolute(chosen) ? chosen : join(home, ".codex");
    return [join(folder, "sessions"), join(folder, "archived_sessions")];
  },
  files: /(?:^|\/)rollout-[^/]*\.jsonl(?:\.zst)?$/,
  noteOf: notedNames,
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
    yield toSession(path, readFacts(path, idInName(path)), folders);
  },
};

function toSession(path: string, facts: RolloutFacts, folders: SourceFolders): SourceSession {
  const { header, problems } = toHeader(path, facts, folders);
  let position: ReadingPosition | undefined;
  return {
    header,
    *records(from) {
      for (const problem of problems) yield { kind: "problem", problem };
      const read = yield* readRecords(path, facts, folders, from);
      position = read.position;
      const name = readThreadName(path, facts.sessionId, folders);
      for (const problem of name.problems) yield { kind: "problem", problem };
      if (name.value !== undefined) yield { kind: "title", title: name.value, source: "user" };
      yield* read.reader.finish();
    },
    position: () => position,
  };
}

function* readRecords(
  path: string,
  facts: RolloutFacts,
  folders: SourceFolders,
  from: ReadingPosition | undefined,
): Generator<SourceRecord, { readonly reader: RolloutReader; readonly position: ReadingPosition | undefined }, void> {
  const { sessionId, startMs, source, promptLine } = facts;
  const state = from?.state ?? (yield* readHistoryBase(path, facts, folders));
  const reader = new RolloutReader(sessionId, startMs ?? 0, source ?? "items", state, idSeed(path, facts));
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
  if (source === undefined && promptLine !== undefined) yield { kind: "problem", problem: unansweredPrompt(path, promptLine) };
  // A compressed file is written once.
  return { reader, position: source === "items" && !path.endsWith(".zst") ? position : undefined };
}

/** The largest number of files of which a fork of a fork may consist. */
const MOST_BASES = 100;

/**
 * Reads the history of a fork: later versions (seen in 0.169) do not copy it, and its first line names the file that it continues and the
 * byte at which it stops. Yields these entries first, with the ids that they have in that session. Returns the state at their end.
 */
function* readHistoryBase(
  path: string,
  facts: RolloutFacts,
  folders: SourceFolders,
  depth = 0,
): Generator<SourceRecord, JsonObject | undefined, void> {
  const { meta, metaLine } = facts;
  const base = objectAt(meta, "history_base");
  const [id, end] = [stringAt(base ?? {}, "thread_id"), numberAt(base ?? {}, "end_byte_offset")];
  if (id === undefined || end === undefined) return undefined;
  const before = numberAt(base ?? {}, "end_ordinal_exclusive") ?? Number.POSITIVE_INFINITY;
  const found = tryRead(path, "", () => (depth === MOST_BASES ? undefined : findBase(path, facts, { id, before }, folders)));
  if (found.value === undefined) {
    yield { kind: "problem", problem: missingBase(path, metaLine, id) };
    return undefined;
  }
  const { file, baseFacts } = found.value;
  const { sessionId, startMs, source } = baseFacts;
  const state = yield* readHistoryBase(file, baseFacts, folders, depth + 1);
  const reader = new RolloutReader(sessionId, startMs ?? 0, source ?? "items", state, idSeed(file, baseFacts));
  const atMeta = (record: SourceRecord) => (record.kind === "entry" ? [{ ...record, line: metaLine }] : []);
  for (const line of readJsonLines(file)) {
    if (line.kind === "problem") continue;
    if (line.line.offset >= end) break;
    for (const record of reader.read(toRolloutLine(line.object, line.line))) yield* atMeta(record);
  }
  // The part of a history ends with a turn.
  for (const record of reader.finish("complete")) yield* atMeta(record);
  return { ...reader.position({ offset: 0, line: 0 }).state, hasMeta: false };
}

/** The newest file of the session `id` that is older than `path` and begins before the record with this number. */
function findBase(
  path: string,
  { sessionId }: RolloutFacts,
  { id, before }: { readonly id: SessionId; readonly before: number },
  folders: SourceFolders,
): { readonly file: string; readonly baseFacts: RolloutFacts } | undefined {
  for (const file of findRollouts(path, id, folders).toReversed()) {
    if (id === sessionId && basename(file) >= basename(path)) continue;
    const baseFacts = readFacts(file, idInName(file));
    if (baseFacts.firstOrdinal < before) return { file, baseFacts };
  }
  return undefined;
}

/** The files of a session that was reverted have lines with the same numbers, so the ids of all but the first depend on the file's own id. */
function idSeed(path: string, facts: RolloutFacts): string {
  const { sessionId, meta } = facts;
  return isContinuation(facts) ? `${sessionId} ${idInName(path) ?? stringAt(meta, "timestamp") ?? ""}` : sessionId;
}

/** True if the session was reverted and continues in this file. */
function isContinuation({ sessionId, meta }: RolloutFacts): boolean {
  return stringAt(objectAt(meta, "history_base") ?? {}, "thread_id") === sessionId;
}

function missingBase(path: string, line: number, id: SessionId): ImportProblem {
  return {
    code: "unreadable-file",
    path,
    line,
    message: `the file of session ${quoted(id)}, whose history this fork continues, was not found; that history was left out`,
  };
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

function toHeader(path: string, facts: RolloutFacts, folders: SourceFolders): HeaderWithProblems {
  const { sessionId, meta, startMs } = facts;
  const starter = agentStarter(meta);
  const call = starter?.sessionId === undefined ? undefined : readStartingCall(path, sessionId, starter.sessionId, folders);
  const forkedFrom = stringAt(meta, "forked_from_id") ?? stringAt(meta, FORKED_FROM);
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
    parent,
    metadata: toMetadata(path, meta),
    ...(isContinuation(facts) ? { isContinuation: true } : {}),
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
  FORKED_FROM,
  "parent_thread_id",
  "cli_version",
  "payload",
  "type",
];

function toMetadata(path: string, meta: JsonObject): JsonObject {
  const [version, gitBranch] = [stringAt(meta, "cli_version"), stringAt(objectAt(meta, "git") ?? {}, "branch")];
  const archived = homeOf(path)?.isArchived === true ? true : undefined;
  return { ...withoutUndefined({ version, gitBranch, archived }), ...without(meta, IN_HEADER) };
}
