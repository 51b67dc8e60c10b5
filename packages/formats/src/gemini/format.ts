import { hash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { ReadingPosition, SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, parseTime, stringAt, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { isDocument, readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { readHeadOnce, readJsonLines } from "../source/json-lines.js";
import { readStart } from "../source/source-file.js";
import { SourceFolders } from "../source/source-folders.js";
import { type FileHead, type SourceAgent, type SourceFormat, tryRead, tryReadObject } from "../source/source-format.js";
import { checkpointSession, isCheckpoint } from "./checkpoint.js";
import { Replay } from "./records.js";
import { Versions } from "./versions.js";

const geminiAgent: SourceAgent = {
  name: "Gemini CLI",
  folders: ({ env, home }) => [join(env["GEMINI_CLI_HOME"] ?? home, ".gemini", "tmp")],
  files: /^[^/]+\/(?:chats\/(?:[^/]+\/)?[^/]+\.jsonl?|checkpoint[^/]*\.json)$/,
  resume: { program: "gemini", args: (sessionId) => ["--resume", sessionId] },
};

/** Sessions of Gemini CLI: logs (`.jsonl`) and documents (`.json`) of conversations, with those of subagents, and its checkpoints. */
export const geminiFormat: SourceFormat = {
  name: "gemini",
  agents: [geminiAgent],
  detects: (head) => (isDocument(head) ? isConversation(readDocumentHead(head, LISTS).members) || isCheckpoint(head) : isLog(head)),
  sessions: (path, folders = new SourceFolders()) => {
    const head = readHeadOnce(path, folders);
    if (!isDocument(head)) return [logSession(path, folders)];
    return [isConversation(readDocumentHead(head, LISTS).members) ? documentSession(path, folders) : checkpointSession(path, head)];
  },
};

const LISTS = ["messages"];

function isConversation({ sessionId, projectHash }: JsonObject): boolean {
  return typeof sessionId === "string" && typeof projectHash === "string";
}

function isLog({ records }: FileHead): boolean {
  return records.some((record) => isConversation(record) || typeof record.$rewindTo === "string" || isMessage(record));
}

const TYPES = new Set<unknown>(["user", "gemini", "info", "warning", "error"]);

function isMessage(record: JsonObject): boolean {
  const { id, timestamp, type } = record;
  return typeof id === "string" && typeof timestamp === "string" && TYPES.has(type) && "content" in record && !("uuid" in record);
}

function logSession(path: string, folders: SourceFolders): SourceSession {
  const head = readHeadOnce(path, folders);
  // The first line may have all messages of an older document, and be longer than the head.
  const metadata = head.records.find(isConversation) ?? readDocumentHead(head, LISTS).members;
  const header = toHeader(path, metadata, folders);
  let ended: Place | undefined;
  return {
    header,
    path,
    records: (from) => readLog(path, header, from, (place) => (ended = place)),
    position() {
      const state = ended?.state();
      return ended && state && { offset: ended.offset, line: ended.line, state };
    },
  };
}

/** A place of a log, and the state of a reading there. */
interface Place extends Pick<ReadingPosition, "offset" | "line"> {
  readonly state: () => JsonObject | undefined;
}

/** `ended`: called with the place from which a later reading goes on: before the last reply, which may be written again, or a torn line. */
function* readLog(
  path: string,
  { sessionId, createdAtMs = 0 }: SourceHeader,
  from: ReadingPosition | undefined,
  ended: (place: Place) => void,
): Generator<SourceRecord, void, void> {
  const versions = new Versions(path, from);
  try {
    const replay = new Replay(sessionId, createdAtMs, versions, from?.state);
    let end = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
    let before: { readonly place: Place; readonly reply: JsonObject | undefined } | undefined;
    for (const read of readJsonLines(path, { from })) {
      // Leaves lines that were written after the versions were read to the next reading, which knows their versions.
      if (!versions.has(read.line)) break;
      const place = { ...end, state: replay.stateHere() };
      if (read.kind === "problem") yield read;
      else yield* replay.read(read.object, read.line.number);
      if (before === undefined || before.reply !== replay.pending) before = { place, reply: replay.pending };
      if (!read.line.hasLineBreak) break;
      end = { offset: read.line.offset + read.line.bytes + 1, line: read.line.number };
      if (replay.pending === undefined) before = undefined;
    }
    ended(before?.place ?? { ...end, state: replay.stateHere() });
    yield* replay.finish();
  } finally {
    versions.close();
  }
}

function documentSession(path: string, folders: SourceFolders): SourceSession {
  const members = readDocumentHead(readHeadOnce(path, folders), LISTS).members;
  const header = toHeader(path, members, folders);
  return { header, path, records: () => readDocument(path, header) };
}

function* readDocument(path: string, { sessionId, createdAtMs = 0 }: SourceHeader): Generator<SourceRecord, void, void> {
  const replay = new Replay(sessionId, createdAtMs);
  for (const part of readJsonDocument(path, LISTS)) {
    if (part.kind === "problem") yield part;
    else if (part.kind === "element") yield* replay.read(isObject(part.value) ? part.value : { unknown: part.value }, part.line);
    else yield* replay.read({ $set: { [part.name]: part.value } }, part.line);
  }
  yield* replay.finish();
}

function toHeader(path: string, metadata: JsonObject, folders: SourceFolders): SourceHeader {
  const id = stringAt(metadata, "sessionId") ?? "";
  const sessionId = isId(id) ? id : derivedId("gemini", basename(path), id);
  const parent = readParent(path, metadata);
  return {
    sessionId,
    createdAtMs: parseTime(metadata.startTime),
    cwd: readDirectory(path, metadata, folders),
    title: stringAt(metadata, "summary"),
    kind: parent === undefined ? "conversation" : "subagent",
    parent: parent === undefined ? undefined : { sessionId: parent },
    metadata: without(metadata, ["sessionId", "startTime", "lastUpdated", "messages", "summary", "memoryScratchpad", "contextState"]),
  };
}

/** The session that started a subagent: its id is the name of the folder. */
function readParent(path: string, { kind }: JsonObject): SessionId | undefined {
  const folder = basename(dirname(path));
  return kind === "subagent" && folder !== "chats" && isId(folder) ? folder : undefined;
}

/** Gemini CLI keeps the directory of a project in its folder, or in the list of all projects. */
function readDirectory(path: string, metadata: JsonObject, folders: SourceFolders): string | undefined {
  const [, project] = /^(.*?[^/\\]+)[/\\]chats[/\\]/.exec(path) ?? [];
  if (project === undefined) return undefined;
  return (
    readRootFile(join(project, ".project_root"), folders) ??
    readProjects(join(project, "..", "..", "projects.json"), basename(project), metadata, folders)
  );
}

const MOST_BYTES = 1 << 20;

function readRootFile(path: string, folders: SourceFolders): string | undefined {
  const text = folders.has(path) ? tryRead(path, "", () => readStart(path, MOST_BYTES).toString("utf8").trim()).value : undefined;
  return text === "" ? undefined : text;
}

function readProjects(path: string, name: string, { projectHash }: JsonObject, folders: SourceFolders): string | undefined {
  const projects = tryReadObject(path, folders, MOST_BYTES, "").value?.projects;
  if (!isObject(projects)) return undefined;
  return Object.keys(projects).find((directory) => projects[directory] === name || sha256(directory) === projectHash);
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
