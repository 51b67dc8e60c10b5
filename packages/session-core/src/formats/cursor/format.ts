import { foldersBelow } from "../../source/agent-folders.js";
import { isObject, type JsonObject, objectAt } from "../../source/json.js";
import { readHead } from "../../source/json-lines.js";
import { tablesOf } from "../../source/source-database.js";
import { SourceFolders } from "../../source/source-folders.js";
import type { FileHead, SourceEnvironment, SourceFormat, SourceSession } from "../../source/source-session.js";
import { storeSessions, transcriptSessions } from "./chats.js";

/** Chats of Cursor's agents: the command line's databases and transcripts. */
export const cursorFormat: SourceFormat = {
  name: "cursor",
  agents: [{ name: "Cursor CLI", folders: chatFolders, files: /(?:^|\/)store\.db$|(?:^|\/)agent-transcripts\/.*\.(?:jsonl|txt)$/ }],
  detects: (head: FileHead) => isStore(head) || head.records.some(isTranscriptLine),
  sessions: (path: string, folders = new SourceFolders(), reads = () => true): Iterable<SourceSession> =>
    readHead(path).isSqlite ? storeSessions(path, folders) : transcriptSessions(path, folders, reads),
};

/** Databases and transcripts. Either variable moves both, in different versions. */
function chatFolders(environment: SourceEnvironment): readonly string[] {
  const usual = [".cursor", ".config/cursor"];
  const found = ["CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"].flatMap((variable) =>
    ["chats", "projects"].flatMap((folder) => foldersBelow(environment, variable, [folder], ...usual)),
  );
  return [...new Set(found)];
}

function isStore(head: FileHead): boolean {
  const tables = tablesOf(head);
  return tables.has("blobs") && tables.has("meta");
}

/** A message without an id and a type: other programs write one of them, or the content beside the role. */
function isTranscriptLine(record: JsonObject): boolean {
  const content = objectAt(record, "message")?.content;
  const isMessage = (record.role === "user" || record.role === "assistant") && record.content === undefined;
  if (!isMessage || "type" in record || "id" in record || "uuid" in record) return false;
  return typeof content === "string" || (Array.isArray(content) && content.every(isObject));
}
