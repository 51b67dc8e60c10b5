import { basename } from "node:path";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import {
  isId,
  isObject,
  type JsonObject,
  objectAt,
  parseTime,
  stringAt,
  toContent,
  toContentBlock,
  toReplyBlocks,
  without,
} from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { derivedId } from "../source/derived-id.js";
import { readHeadOnce } from "../source/json-lines.js";
import {
  compactionPayload,
  foreignPayload,
  hiddenPayload,
  notePayload,
  replyPayload,
  resultPayload,
  toText,
  userPayload,
} from "../source/payloads.js";
import { readRecordLog } from "../source/record-log.js";
import { SourceFolders } from "../source/source-folders.js";
import { type SourceFormat, tryReadObject } from "../source/source-format.js";
import { TreeConversation, type TreeReading, type TreeRecord } from "../source/tree-log.js";

/** Sessions of Droid (Factory): `<session>.jsonl` with Anthropic's blocks, and `<session>.settings.json` with its model. */
export const droidFormat: SourceFormat = {
  name: "droid",
  agents: [
    {
      name: "Droid",
      folders: (given) => foldersBelow(given, "FACTORY_HOME", ["sessions"], ".factory"),
      files: /\.jsonl$/,
      beside: (path) => [settingsOf(path)],
      resume: { program: "droid", args: (sessionId) => ["--resume", sessionId] },
    },
  ],
  detects: ({ records }) => records.some(isStart),
  // The first line has no time: a session begins with its first message.
  sessions: (path, folders = new SourceFolders()) => (readHeadOnce(path, folders).records.every(isStart) ? [] : [toSession(path, folders)]),
};

function isStart({ type, id, sessionId, cwd }: JsonObject): boolean {
  return type === "session_start" && (typeof id === "string" || typeof sessionId === "string") && typeof cwd === "string";
}

function settingsOf(path: string): string {
  return path.replace(/\.jsonl$/, ".settings.json");
}

const SETTINGS_BYTES = 1 << 20;

/** Members of the first line that are read here, or that Droid changes later. */
const KNOWN = [
  ...["type", "id", "sessionId", "title", "sessionTitle", "cwd", "timestamp", "isSessionTitleManuallySet", "sessionTitleAutoStage"],
  ...["parent", "forkedAtMessageId"],
];

/** The title until Droid makes one of the first message. */
const UNTITLED = "New Session";

function toSession(path: string, folders: SourceFolders): SourceSession {
  const start = readHeadOnce(path, folders).records.find(isStart) ?? {};
  const name = basename(path).replace(/\.jsonl$/, "");
  const own = stringAt(start, "id") ?? stringAt(start, "sessionId") ?? name;
  const sessionId = isId(own) ? own : derivedId("droid", own);
  const settings = tryReadObject(settingsOf(path), folders, SETTINGS_BYTES, "its model was left out").value ?? {};
  const [caller, toolCallId] = [stringAt(start, "callingSessionId"), stringAt(start, "callingToolUseId")];
  const given = stringAt(start, "sessionTitle") ?? stringAt(start, "title");
  const title = given === "" || given === UNTITLED ? undefined : given;
  const header: SourceHeader = {
    sessionId,
    createdAtMs: parseTime(start.timestamp) ?? firstTime(readHeadOnce(path, folders).records),
    cwd: stringAt(start, "cwd"),
    title,
    kind: caller === undefined ? "conversation" : "subagent",
    parent: caller !== undefined && isId(caller) ? { sessionId: caller, toolCallId } : toOrigin(start),
    metadata: without(start, KNOWN),
  };
  const model = stringAt(settings, "model");
  const read = (record: JsonObject, reading: TreeReading) => readRecord(record, reading, own, model);
  // A compaction names its anchor by the id.
  const keyOf = (record: JsonObject) => stringAt(record, "id");
  const begin = (state?: JsonObject) => new TreeConversation({ path, sessionId, startMs: header.createdAtMs ?? 0, state }, read, keyOf);
  const isNamed = start.isSessionTitleManuallySet === true && title !== undefined;
  return { header, path, ...readRecordLog(path, begin, isNamed ? [{ kind: "title", title, source: "user" }] : []) };
}

/** The session that a fork or a rewind copied up to a message, or that a compaction continues. */
function toOrigin(start: JsonObject): SourceHeader["parent"] {
  const [parent, message] = [stringAt(start, "parent"), stringAt(start, "forkedAtMessageId")];
  if (parent === undefined || !isId(parent)) return undefined;
  return { sessionId: parent, entryId: message !== undefined && isId(message) ? message : undefined };
}

function firstTime(records: readonly JsonObject[]): number | undefined {
  return records.map(({ timestamp }) => parseTime(timestamp)).find((time) => time !== undefined);
}

/** A record of Droid. `own`: the id of the session, which the first message may name as its parent. */
function readRecord(record: JsonObject, reading: TreeReading, own: string, model: string | undefined): TreeRecord {
  const { type, parentId } = record;
  const createdAtMs = parseTime(record.timestamp);
  const outside = { id: undefined, parentId: undefined, createdAtMs };
  switch (type) {
    case "session_start":
    case "agent_turn_outcome":
      return { ...outside, payloads: [] };
    case "message": {
      const above = parentId === own || parentId === null ? null : stringAt({ parentId }, "parentId");
      return { id: stringAt(record, "id"), parentId: above, createdAtMs, payloads: messagePayloads(record, reading, model) };
    }
    case "compaction_state":
      return { id: stringAt(record, "id"), parentId: undefined, createdAtMs, payloads: [statePayload(record, reading)] };
    case "todo_state":
    case "session_end":
      return {
        id: stringAt(record, "id"),
        parentId: undefined,
        createdAtMs,
        payloads: [notePayload(`droid.${type}`, without(record, ["type", "id", "timestamp"]))],
      };
  }
  return { id: stringAt(record, "id"), parentId: undefined, createdAtMs, payloads: [foreignPayload(record)] };
}

/** Some writers put role and content beside the type. */
function messagePayloads(record: JsonObject, reading: TreeReading, model: string | undefined): readonly JsonObject[] {
  const message = objectAt(record, "message") ?? record;
  const { role, content } = message;
  if (role === "assistant")
    return [
      replyPayload({ content: toReplyBlocks(content), model: modelOf(message) ?? model, responseId: stringAt(message, "openaiMessageId") }),
    ];
  if (role !== "user") return [foreignPayload(record)];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const results = blocks.filter(isResult);
  const rest = blocks.filter((block) => !isResult(block));
  const [hidden, typed] = [rest.filter(isReminder), rest.filter((block) => !isReminder(block))];
  const text = typeof content === "string" ? content : typed.map(toContentBlock);
  const isOnlyHidden = typeof content !== "string" && typed.length === 0 && (hidden.length > 0 || results.length > 0);
  return [
    ...results.map((block) => toResult(block, reading)),
    ...(isOnlyHidden ? [] : [userPayload(text)]),
    ...(hidden.length === 0 ? [] : [hiddenPayload("droid.reminder", hidden.map(toContentBlock))]),
  ];
}

/** The models that a user adds are named `custom:<name>-<number>`. */
function modelOf(message: JsonObject): string | undefined {
  return stringAt(message, "modelId")?.replace(/^custom:(.+)-\d+$/, "$1");
}

function isResult(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_result" && typeof block.tool_use_id === "string";
}

const REMINDER = /^\s*<system-(?:reminder|notification)>[\s\S]*<\/system-(?:reminder|notification)>\s*$/;

function isReminder(block: unknown): boolean {
  return isObject(block) && block.type === "text" && REMINDER.test(stringAt(block, "text") ?? "");
}

/** The text of a command that failed, in versions that do not mark failures. */
const FAILED = /^Error: Command failed \(exit code: \d+\)/;

function toResult(block: JsonObject, reading: TreeReading): JsonObject {
  const content = toContent(block.content);
  const toolCallId = String(block.tool_use_id);
  const mark = block.is_error ?? block.isError;
  return resultPayload({
    toolCallId,
    toolName: reading.toolName(toolCallId),
    content,
    isError: mark === true || (mark === undefined && FAILED.test(toText(block.content))),
  });
}

/** A compaction. It keeps the messages from the anchor on. */
function statePayload(record: JsonObject, reading: TreeReading): JsonObject {
  const summary = stringAt(record, "summaryText");
  if (summary === undefined) return foreignPayload(record);
  const anchor = stringAt(objectAt(record, "anchorMessage") ?? {}, "id");
  const firstKept = anchor === undefined ? undefined : reading.findLast(anchor);
  return {
    ...compactionPayload({ summary, kept: { firstKeptEntryId: firstKept ?? null }, tokensAfter: record.summaryTokens }),
    droid: without(record, ["type", "id", "timestamp", "summaryText", "summaryTokens", "systemInfo", "systemInfoText"]),
  };
}
