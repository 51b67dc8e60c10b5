import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, type JsonObject, numberAt, objectAt, parseJsonObject, parseTime, stringAt, without } from "@bough/session-core/wire";
import { DatabaseReading } from "../source/database-reading.js";
import { derivedId } from "../source/derived-id.js";
import { readRecordLog } from "../source/record-log.js";
import { readStart, statPath } from "../source/source-file.js";
import type { SourceFolders } from "../source/source-folders.js";
import { tryRead } from "../source/source-format.js";
import type { ChatState } from "./chat-state.js";
import { ChatStore } from "./chat-store.js";
import { ChatTree } from "./chat-tree.js";
import { pathOfUri } from "./file-uri.js";
import { readTextTranscript } from "./text-transcript.js";
import { TranscriptConversation } from "./transcript.js";

/** The longest file of facts about a chat or a folder that is read, in bytes. */
const MOST_FACTS_BYTES = 1 << 20;

/** One chat: Cursor writes its messages into a database and, shortened, into a transcript. */
interface Chat {
  readonly id: SessionId;
  readonly transcript: string | undefined;
  /** The facts in the database and in the file `meta.json` next to it. */
  readonly meta: JsonObject;
  readonly sidecar: JsonObject;
}

/** The sessions of a chat's database: the chat and its subagents. If the database has no messages, those of the transcript. */
export function* storeSessions(path: string, folders: SourceFolders): Generator<SourceSession, void, void> {
  folders.once(path, beginReading).hasBegun = true;
  const reading = new DatabaseReading(path, folders);
  const store = new ChatStore(reading);
  try {
    const chat = readChat(store, folders);
    if (store.hasMessages()) yield* sessionsOf(chat, store, reading);
    else if (chat.transcript !== undefined) yield transcriptSession(chat, chat.transcript, folders);
  } finally {
    reading.end();
  }
}

/** The sessions of a transcript, or of the database of the same chat, which has more; each only once in an import. */
export function* transcriptSessions(
  path: string,
  folders: SourceFolders,
  reads: (path: string) => boolean,
): Generator<SourceSession, void, void> {
  const store = findStore(path, folders);
  if (store === undefined)
    yield transcriptSession({ id: toChatId(chatIdOf(path)), transcript: path, meta: {}, sidecar: {} }, path, folders);
  else if (reads(store) && !folders.once(store, beginReading).hasBegun) yield* storeSessions(store, folders);
}

/** Returns the state of a chat's database in an import: `hasBegun` is set when the import reads the chat. */
function beginReading(): { hasBegun: boolean } {
  return { hasBegun: false };
}

function* sessionsOf(chat: Chat, store: ChatStore, reading: DatabaseReading): Generator<SourceSession, void, void> {
  const { path } = store;
  const state = store.newestState(chat.meta);
  const header = headerOf(chat);
  const cwd = header.cwd ?? pathOfUri(state?.workspace);
  const startedAtMs = header.createdAtMs ?? 0;
  // A state is named by the hash of its content.
  const revision = state && stringAt(chat.meta, "latestRootBlobId");
  yield { header: { ...header, cwd }, path, revision, records: () => reading.whileOpen(chatRecords(store, chat.id, startedAtMs, state)) };
  for (const { id: given, createdAtMs = startedAtMs, state: own } of state?.subagents ?? []) {
    const id = toChatId(given);
    const tree = new ChatTree(store, id, createdAtMs);
    const subagent: SourceHeader = { sessionId: id, kind: "subagent", createdAtMs, cwd, parent: { sessionId: chat.id } };
    yield { header: subagent, path, records: () => reading.whileOpen(tree.branch(own)) };
  }
}

function* chatRecords(
  store: ChatStore,
  id: SessionId,
  createdAtMs: number,
  state: ChatState | undefined,
): Generator<SourceRecord, void, void> {
  const tree = new ChatTree(store, id, createdAtMs);
  if (state === undefined) yield { kind: "problem", problem: { code: "missing-blob", path: store.path, line: null, message: NO_STATE } };
  else yield* tree.branch(state);
  yield* tree.rest(state);
}

const NO_STATE = "the newest state of the chat is missing; its messages are imported in the order in which they were written";

function transcriptSession(chat: Chat, path: string, folders: SourceFolders): SourceSession {
  const header = headerOf(chat);
  const parent = header.parent ?? parentOfTranscript(path);
  return {
    header: {
      ...header,
      kind: parent === undefined ? header.kind : "subagent",
      parent,
      createdAtMs: header.createdAtMs ?? createdAtOfFile(path),
      cwd: header.cwd ?? trustedFolder(path, folders),
    },
    path,
    ...(path.endsWith(".txt")
      ? { records: () => readTextTranscript(path, chat.id) }
      : readRecordLog(path, (state) => new TranscriptConversation(chat.id, Math.trunc(statPath(path).mtimeMs), state))),
  };
}

/** A copy of a file, such as one from a backup, keeps the time of its last change and is born later. */
function createdAtOfFile(path: string): number {
  const { birthtimeMs, mtimeMs } = statPath(path);
  return Math.trunc(Math.min(birthtimeMs, mtimeMs));
}

function headerOf({ id, meta, sidecar }: Chat): SourceHeader {
  const started = objectAt(meta, "subagentInfo");
  const parentId = started && (stringAt(started, "parentAgentId") ?? stringAt(started, "parent"));
  const isSubagent = started !== undefined || sidecar.isSubagent === true;
  const rest = without(meta, ["agentId", "latestRootBlobId", "name", "createdAt", "subagentInfo"]);
  return {
    sessionId: id,
    kind: isSubagent ? "subagent" : "conversation",
    title: titleOf(meta, sidecar),
    createdAtMs: createdAtOf(meta, sidecar),
    cwd: stringAt(sidecar, "cwd"),
    ...(parentId === undefined
      ? {}
      : { parent: { sessionId: toChatId(parentId), toolCallId: started && stringAt(started, "toolCallId") } }),
    ...(Object.keys(rest).length === 0 ? {} : { metadata: { cursor: rest } }),
  };
}

/** The name that Cursor gives to a chat before it has one. */
const UNNAMED = "New Agent";

function titleOf(meta: JsonObject, sidecar: JsonObject): string | undefined {
  const title = (stringAt(sidecar, "title") ?? stringAt(meta, "name") ?? "").trim();
  return title === "" || title === UNNAMED ? undefined : title;
}

function createdAtOf(meta: JsonObject, sidecar: JsonObject): number | undefined {
  const text = stringAt(meta, "createdAt");
  // Some versions wrote the number as a text.
  const ownTime = text !== undefined && /^\d+$/.test(text) ? Number(text) : parseTime(meta.createdAt);
  return ownTime ?? numberAt(sidecar, "createdAtMs");
}

function readChat(store: ChatStore, folders: SourceFolders): Chat {
  const folder = dirname(store.path);
  const meta = store.meta();
  const id = stringAt(meta, "agentId") ?? basename(folder);
  const transcript = findTranscript(store.path, id, folders);
  return { id: toChatId(id), transcript, meta, sidecar: readFacts(join(folder, "meta.json"), folders) };
}

/** A small JSON object next to a chat; empty if there is none. */
export function readFacts(path: string, folders: SourceFolders): JsonObject {
  if (!folders.has(path) || !statPath(path).isFile()) return {};
  return parseJsonObject(readStart(path, MOST_FACTS_BYTES).toString("utf8")) ?? {};
}

/** The id in the store of Bough. That of a subagent's chat is made of the id of its call, which may have a line break. */
export function toChatId(id: string): SessionId {
  return isId(id) ? id : derivedId("cursor", id);
}

/** The id of the chat of a transcript: its file name. Other names are returned as they are. */
function chatIdOf(transcript: string): string {
  return basename(transcript).replace(/\.(jsonl|txt)$/, "");
}

/** `<root>/projects/<folder>/agent-transcripts/…` and `<root>/chats/<hash>/<id>/store.db`. */
function findStore(transcript: string, folders: SourceFolders): string | undefined {
  const root = /^(.*)[\\/]projects[\\/][^\\/]+[\\/]agent-transcripts[\\/]/.exec(transcript)?.[1];
  if (root === undefined) return undefined;
  const id = chatIdOf(transcript);
  const buckets = folders.once(join(root, "chats"), chatsBelow).get(id) ?? [];
  return buckets.map((bucket) => join(bucket, id, "store.db")).find((path) => folders.has(path));
}

function findTranscript(store: string, id: string, folders: SourceFolders): string | undefined {
  const root = /^(.*)[\\/]chats[\\/][^\\/]+[\\/][^\\/]+[\\/]store\.db$/.exec(store)?.[1];
  if (root === undefined) return undefined;
  const found = folders.once(join(root, "projects"), transcriptsBelow).get(id) ?? [];
  const paths = found.flatMap((folder) => [join(folder, id, `${id}.jsonl`), join(folder, `${id}.jsonl`), join(folder, `${id}.txt`)]);
  return paths.find((path) => folders.has(dirname(path)) && folders.has(path));
}

/** The folders with something of a chat, by its id. */
type FoldersOfChats = ReadonlyMap<string, readonly string[]>;

function chatsBelow(chats: string, folders: SourceFolders): FoldersOfChats {
  return foldersOfChats(subfolders(chats, folders), folders);
}

function transcriptsBelow(projects: string, folders: SourceFolders): FoldersOfChats {
  const all = subfolders(projects, folders).map((project) => join(project, "agent-transcripts"));
  return foldersOfChats(all, folders);
}

function subfolders(folder: string, folders: SourceFolders): readonly string[] {
  return folders.paths(folder, ({ kind }) => kind === "folder");
}

/** Costs one listing of each folder, once for an import: a look into each folder for each chat would cost their product. */
function foldersOfChats(all: readonly string[], folders: SourceFolders): FoldersOfChats {
  const found = new Map<string, string[]>();
  for (const folder of all) {
    const names = tryRead(folder, "", () => [...folders.list(folder).keys()]).value ?? [];
    for (const id of new Set(names.flatMap((name) => [name, chatIdOf(name)]))) {
      const known = found.get(id);
      if (known === undefined) found.set(id, [folder]);
      else known.push(folder);
    }
  }
  return found;
}

/** A subagent's transcript is in the folder `subagents` of the chat that started it. */
function parentOfTranscript(path: string): SourceHeader["parent"] {
  const folder = dirname(path);
  return basename(folder) === "subagents" ? { sessionId: toChatId(basename(dirname(folder))) } : undefined;
}

/** The folder of a project, where Cursor noted that the person trusts it. */
function trustedFolder(transcript: string, folders: SourceFolders): string | undefined {
  const project = /^(.*[\\/]projects[\\/][^\\/]+)[\\/]agent-transcripts[\\/]/.exec(transcript)?.[1];
  return project === undefined ? undefined : stringAt(readFacts(join(project, ".workspace-trusted"), folders), "workspacePath");
}
