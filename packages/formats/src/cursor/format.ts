import { join } from "node:path";
import type { SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject, objectAt } from "@bough/session-core/wire";
import { applicationFolder, foldersBelow, type SourceEnvironment } from "../source/agent-folders.js";
import { readHeadOnce } from "../source/json-lines.js";
import { tablesOf } from "../source/source-database.js";
import { SourceFolders } from "../source/source-folders.js";
import type { FileHead, SourceFormat } from "../source/source-format.js";
import { storeSessions, transcriptSessions } from "./chats.js";
import { editorSessions } from "./editor.js";
import { isTextTranscript } from "./text-transcript.js";

/** Chats of Cursor's agents: the command line's databases and transcripts. */
export const cursorFormat: SourceFormat = {
  name: "cursor",
  agents: [
    {
      name: "Cursor CLI",
      folders: chatFolders,
      files: /(?:^|\/)store\.db$|(?:^|\/)agent-transcripts\/.*\.(?:jsonl|txt)$/,
      resume: { program: "cursor-agent", args: (sessionId) => ["--resume", sessionId] },
    },
    { name: "Cursor", folders: editorFolders, files: /(?:^|\/)state\.vscdb$/ },
  ],
  detects: (head, folders) => isDatabase(tablesOf(head, folders)) || isTranscript(head),
  sessions: (path: string, folders = new SourceFolders(), reads = () => true): Iterable<SourceSession> =>
    sessionsOf(readHeadOnce(path, folders), folders, reads),
};

function sessionsOf(head: FileHead, folders: SourceFolders, reads: (path: string) => boolean): Iterable<SourceSession> {
  if (!head.isSqlite) return transcriptSessions(head.path, folders, reads);
  return isChat(tablesOf(head, folders)) ? storeSessions(head.path, folders) : editorSessions(head.path, folders);
}

/** Databases and transcripts. Either variable moves both, in different versions. */
function chatFolders(environment: SourceEnvironment): readonly string[] {
  const usual = [".cursor", ".config/cursor"];
  const found = ["CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"].flatMap((variable) =>
    ["chats", "projects"].flatMap((folder) => foldersBelow(environment, variable, [folder], ...usual)),
  );
  return [...new Set(found)];
}

/** Below the user's folder of the editor: the database of all chats, and one for each workspace. */
function editorFolders(environment: SourceEnvironment): readonly string[] {
  const user = join(applicationFolder(environment), "Cursor", "User");
  return ["globalStorage", "workspaceStorage"].map((folder) => join(user, folder));
}

function isDatabase(tables: ReadonlySet<string>): boolean {
  return isChat(tables) || isEditor(tables);
}

function isChat(tables: ReadonlySet<string>): boolean {
  return tables.has("blobs") && tables.has("meta");
}

/** Other editors of the same family have no table of keys and values for chats. */
function isEditor(tables: ReadonlySet<string>): boolean {
  return tables.has("cursorDiskKV");
}

function isTranscript(head: FileHead): boolean {
  return head.records.some(isTranscriptLine) || (head.text === "" && !head.isSqlite && isTextTranscript(head.path));
}

/** A message without an id and a type: other programs write one of them, or the content beside the role. */
function isTranscriptLine(record: JsonObject): boolean {
  const content = objectAt(record, "message")?.content;
  const isMessage = (record.role === "user" || record.role === "assistant") && record.content === undefined;
  if (!isMessage || "type" in record || "id" in record || "uuid" in record) return false;
  return typeof content === "string" || (Array.isArray(content) && content.every(isObject));
}
