import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { ReadFromStartError, type ReadingPosition, type SourceHeader } from "@bough/session-core/engine";
import { isId, objectAt, stringAt } from "@bough/session-core/wire";
import { isEvent, readEventFile } from "../copilot/format.js";
import { applicationFolder, type SourceEnvironment } from "../source/agent-folders.js";
import { derivedId } from "../source/derived-id.js";
import { isDocument, readDocumentHead } from "../source/json-document.js";
import { readHeadOnce } from "../source/json-lines.js";
import { SourceFolders } from "../source/source-folders.js";
import { type FileHead, type SourceFormat, tryReadObject } from "../source/source-format.js";
import { ChatFile, LISTS } from "./chat-file.js";
import { isChange, isChat } from "./mutation-log.js";

/** Chats of VS Code: logs of changes, older documents, and the transcripts of Copilot's extension. */
export const vscodeChatFormat: SourceFormat = {
  name: "vscode-chat",
  agents: [
    {
      name: "VS Code Copilot Chat",
      folders: userFolders,
      files: /^(?:[^/]+\/chatSessions\/|[^/]+\/[^/]*copilot-chat\/transcripts\/)?[^/]+\.jsonl?$/i,
      // The folders in which other extensions keep data for a workspace.
      skipped: /^[^/]+\/(?:(?!chatSessions$|[^/]*copilot-chat(?:\/|$))[^/]+|[^/]*copilot-chat\/(?!transcripts$)[^/]+)$/i,
    },
  ],
  detects: (head: FileHead) => isTranscript(head) || isLog(head) || isChatDocument(head),
  starterOf: findChat,
  *sessions(path, folders = new SourceFolders(), _reads = undefined, earlier = undefined) {
    const head = readHeadOnce(path, folders);
    if (isTranscript(head)) {
      // The chat has all that its transcript has.
      if (findChat(path, folders) === undefined) yield* readEventFile(path, folders);
      return;
    }
    const sessionId = (recorded: string | undefined) => sessionIdOf(path, recorded);
    const whole = () => new ChatFile(head, isChatDocument(head), sessionId);
    const rest = readRest(() => new ChatFile(head, false, sessionId, earlier?.(path)), earlier?.(path));
    let chat = rest ?? whole();
    if (chat.isEmpty) return;
    yield {
      header: toHeader(path, chat, folders),
      *records(from) {
        if (from !== undefined && chat !== rest) throw new ReadFromStartError();
        if (from === undefined && chat === rest) chat = whole();
        yield* chat.records();
      },
      position: () => chat.position,
    };
  },
};

/** The chat from where an earlier reading ended; undefined: there was none, or it has to be read from its start. */
function readRest(read: () => ChatFile, earlier: ReadingPosition | undefined): ChatFile | undefined {
  if (earlier === undefined) return undefined;
  try {
    return read();
  } catch (error) {
    if (error instanceof ReadFromStartError) return undefined;
    throw error;
  }
}

const EDITORS = ["Code", "Code - Insiders", "VSCodium"];

function userFolders(environment: SourceEnvironment): readonly string[] {
  const users = [
    ...EDITORS.map((name) => join(applicationFolder(environment), name, "User")),
    ...[".vscode-server", ".vscode-server-insiders"].map((name) => join(environment.home, name, "data", "User")),
  ];
  return users.flatMap((user) => [join(user, "workspaceStorage"), join(user, "globalStorage", "emptyWindowChatSessions")]);
}

/** A transcript of Copilot's extension: events as those of Copilot CLI, with the version of VS Code. */
function isTranscript({ records }: FileHead): boolean {
  return records.some(
    (record) => isEvent(record) && record.type === "session.start" && objectAt(record, "data")?.vscodeVersion !== undefined,
  );
}

const LOG_START =
  /^\s*\{\s*"kind"\s*:\s*"?0"?\s*,\s*"v"\s*:\s*\{\s*"(?:version|sessionId|creationDate|requests|initialLocation|responderUsername)"/;

// The first line of a log may be longer than the head of the file.
function isLog({ records, text }: FileHead): boolean {
  return LOG_START.test(text) || records.some(isChange);
}

function isChatDocument(head: FileHead): boolean {
  return head.text !== "" && isDocument(head) && isChat(readDocumentHead(head, LISTS).members);
}

/** The chat of a transcript, if it is at the usual place. */
function findChat(path: string, folders: SourceFolders): string | undefined {
  const folder = dirname(path);
  if (basename(folder) !== "transcripts") return undefined;
  const name = basename(path, ".jsonl");
  const chats = [".jsonl", ".json"].map((ending) => join(dirname(dirname(folder)), "chatSessions", `${name}${ending}`));
  return chats.find((chat) => folders.has(chat));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function sessionIdOf(path: string, recorded: string | undefined): SessionId {
  const name = basename(path).replace(/\.jsonl?$/, "");
  if (UUID.test(name)) return name;
  return recorded !== undefined && isId(recorded) ? recorded : isId(name) ? name : derivedId(name);
}

function toHeader(path: string, { members, sessionId, startMs }: ChatFile, folders: SourceFolders): SourceHeader {
  const workspace = readWorkspace(path, folders) ?? "";
  const cwd = toLocalPath(workspace);
  const title = stringAt(members, "customTitle") || undefined;
  const names = ["version", "responderUsername", "initialLocation"];
  const known = names
    .filter((name) => typeof members[name] === "string" || Number.isFinite(members[name]))
    .map((name) => [name, members[name]] as const);
  return {
    sessionId,
    kind: "conversation",
    createdAtMs: startMs,
    cwd,
    title,
    metadata: { ...Object.fromEntries(known), ...(workspace === "" || cwd !== undefined ? {} : { workspace }) },
  };
}

/** The largest part of `workspace.json` that is read, in bytes. */
const MOST_BYTES = 1 << 16;

/** The URI of the folder or workspace of a chat; undefined: a window without one. */
function readWorkspace(path: string, folders: SourceFolders): string | undefined {
  const file = join(dirname(dirname(path)), "workspace.json");
  const workspace = tryReadObject(file, folders, MOST_BYTES, "the folder was left out").value ?? {};
  return stringAt(workspace, "folder") ?? stringAt(workspace, "workspace") ?? stringAt(workspace, "configuration");
}

/** The path of a `file:` URI of any system; undefined for another URI. */
function toLocalPath(uri: string): string | undefined {
  const [, path] = /^file:\/\/(\/.*)$/.exec(uri) ?? [];
  if (path === undefined) return undefined;
  try {
    const decoded = decodeURIComponent(path);
    return /^\/[A-Za-z]:/.test(decoded) ? decoded.slice(1) : decoded;
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
