import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import { type JsonObject, parseJsonObject, stringAt } from "@bough/session-core/wire";
import { SourceUnreadableError } from "../errors.js";
import { foldersBelow } from "../source/agent-folders.js";
import { DatabaseReading } from "../source/database-reading.js";
import { renamedFormat } from "../source/renamed-format.js";
import { tablesOf } from "../source/source-database.js";
import { readStart } from "../source/source-file.js";
import { SourceFolders } from "../source/source-folders.js";
import { type FileHead, type NewSourceFile, type SourceFormat, tryRead } from "../source/source-format.js";
import { ExportStore, isExport, isFolderName, JsonStore, readText, rootOf, sessionIdOf } from "./json-store.js";
import { isSessionInfo, toSessionId, toSourceHeader } from "./session-header.js";
import { SessionReader } from "./session-reader.js";
import { SqliteStore, TABLES } from "./sqlite-store.js";

/** Sessions of opencode: its database, and the files of versions before 1.2. */
export const opencodeFormat: SourceFormat = {
  name: "opencode",
  agents: [
    {
      name: "opencode",
      folders: (environment) => foldersBelow(environment, "XDG_DATA_HOME", ["opencode"], ".local/share"),
      files: /^(?:opencode[^/]*\.db|storage\/session\/[^/]+\/[^/]+\.json|project\/[^/]+\/storage\/session\/info\/[^/]+\.json)$/,
      // A folder for each message, and opencode's git store.
      skipped: /^(?:storage\/(?!session$|session\/)[^/]+|snapshot|repos|log|bin|tool-output|worktree)$/,
      // A message is a file there; the session's own file is written again at the end of a turn.
      beside: (path) => (path.endsWith(".json") ? [join(rootOf(path), "message", basename(path, ".json"))] : []),
      resume: { program: "opencode", args: (sessionId) => ["--session", sessionId], newSession, importArgs: (file) => ["import", file] },
    },
  ],
  detects: (head, folders) => isDatabase(head, folders) || isSessionFile(head) || isExport(head),
  isPart,
  sessions: (path, folders = new SourceFolders()) => {
    if (SESSION_PATH.test(path)) return fileSessions(path, folders);
    return readStart(path, 1).toString() === "S" ? databaseSessions(path, folders) : [exportedSession(path)];
  },
};

/** A file for `opencode import`, in a folder that opencode does not read. Newer sessions have lower ids. */
function newSession(folder: string, { createdAtMs }: { readonly createdAtMs: number }): NewSourceFile {
  const time = BigInt.asUintN(48, ~(BigInt(createdAtMs) * 4096n))
    .toString(16)
    .padStart(12, "0");
  const sessionId = `ses_${time}${randomUUID().replaceAll("-", "").slice(0, 14)}`;
  return { sessionId, file: join(folder, "bough", `${sessionId}.json`) };
}

/** Sessions of Kilo, whose command line is opencode under another name since version 7: its database `kilo.db`. */
export const kiloFormat = renamedFormat(opencodeFormat, {
  name: "kilo",
  path: /(?:^|\/)kilo[^/]*\.db$/,
  agent: {
    name: "Kilo",
    folders: (environment) => foldersBelow(environment, "XDG_DATA_HOME", ["kilo"], ".local/share"),
    files: /^kilo[^/]*\.db$/,
    skipped: /^(?:storage|snapshot|repos|log|bin|tool-output|worktree)$/,
    resume: { program: "kilo", args: (sessionId) => ["--session", sessionId] },
  },
});

function isDatabase(head: FileHead, folders: SourceFolders | undefined): boolean {
  const tables = tablesOf(head, folders);
  return TABLES.every((table) => tables.has(table));
}

const SESSION_PATH = /[\\/]session[\\/][^\\/]+[\\/][^\\/]+\.json$/;

/** A session's record at its place. A large one, with the changes of many files, is no whole document in the head. */
function isSessionFile({ path, document, text }: FileHead): boolean {
  if (!SESSION_PATH.test(path)) return false;
  const info = document ?? parseJsonObject(text);
  return typeof info === "object" && info !== null ? isSessionInfo({ ...info }) : /^\s*\{\s*"id":\s*"ses_/.test(text);
}

/** True for the files of messages, parts and other data of a session: they are read with the session, or not at all. */
function isPart(path: string, folders: SourceFolders): boolean {
  const [, root] = /^(.*)[\\/](?:message|part|session_diff|todo)[\\/].*\.json$/.exec(path) ?? [];
  return root !== undefined && [join(root, "session"), join(root, "info")].some((folder) => folders.has(folder));
}

function* databaseSessions(path: string, folders: SourceFolders): Generator<SourceSession, void, void> {
  const reading = new DatabaseReading(path, folders);
  const store = new SqliteStore(reading);
  try {
    for (const info of store.sessions()) {
      const id = String(info.id);
      const parent = stringAt(info, "parentID");
      const callId = parent === undefined ? undefined : store.startedBy(parent).get(id);
      const header = toSourceHeader(info, toSessionId(id), callId);
      yield {
        header,
        get revision() {
          return store.revision(id);
        },
        records: () => reading.whileOpen(new SessionReader(store, info, header.sessionId).records()),
      };
    }
  } finally {
    reading.end();
  }
}

/** A session that `opencode export` or Bough wrote. */
function exportedSession(path: string): SourceSession {
  const store = new ExportStore(path);
  const { info } = store;
  const header = toSourceHeader(info, toSessionId(String(info.id)), undefined);
  return { header, records: () => new SessionReader(store, info, header.sessionId).records() };
}

function* fileSessions(path: string, folders: SourceFolders): Generator<SourceSession, void, void> {
  const info = readInfo(path);
  const id = sessionIdOf(path, info, folders);
  const newer = folders.once(dirname(rootOf(path)), databaseIds);
  // A newer version has moved the session into its database, and left the files behind.
  if (newer.ids.has(id)) return;
  const store = new JsonStore(rootOf(path), folders);
  const parent = stringAt(info, "parentID");
  const callId =
    parent === undefined || !isFolderName(parent) ? undefined : folders.once(join(store.root, "message", parent), startedByFolder).get(id);
  const header = toSourceHeader({ ...info, id }, toSessionId(id), callId);
  yield {
    header,
    get revision() {
      return store.revision(path, id);
    },
    *records(): Generator<SourceRecord, void, void> {
      for (const problem of newer.problems) yield { kind: "problem", problem };
      yield* new SessionReader(store, { ...info, id }, header.sessionId).records();
    },
  };
}

function startedByFolder(messages: string, folders: SourceFolders): ReadonlyMap<string, string> {
  return new JsonStore(dirname(dirname(messages)), folders).startedBy(basename(messages));
}

function readInfo(path: string): JsonObject {
  const info = parseJsonObject(readText(path));
  if (info === undefined) throw new SourceUnreadableError(path, "it is no JSON object; opencode may be writing it");
  return info;
}

/** The sessions in the databases of this folder, and a problem for each database that cannot be read. */
function databaseIds(folder: string, folders: SourceFolders) {
  const paths = folders.paths(folder, ({ name, kind }) => kind !== "folder" && /^opencode.*\.db$/.test(name));
  const read = paths.map((path) => tryRead(path, "sessions of this folder may also be in it", () => readIds(path)));
  return { ids: new Set(read.flatMap(({ value }) => value ?? [])), problems: read.flatMap(({ problems }) => problems) };
}

function readIds(path: string): readonly SessionId[] {
  const reading = new DatabaseReading(path);
  try {
    return [...new SqliteStore(reading).sessions()].map(({ id }) => String(id));
  } finally {
    reading.end();
  }
}
