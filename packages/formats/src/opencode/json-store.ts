import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { isObject, type JsonObject, stringAt } from "@bough/session-core/wire";
import { readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { type FolderEntry, readStart, statPath } from "../source/source-file.js";
import type { SourceFolders } from "../source/source-folders.js";
import { type FileHead, tryRead } from "../source/source-format.js";
import { isSessionInfo } from "./session-header.js";
import { startedSessions } from "./sqlite-store.js";
import { inlineParts, inOrder, type MessageStore, type StoredRecord, toStoredRecord } from "./store.js";

/**
 * The files of opencode before version 1.2: a folder with `session/<project>/<session>.json`, `message/<session>/<message>.json` and
 * `part/<message>/<part>.json`. Older layouts have `info` for the project, or the parts in `part/<session>/<message>/` or in `part/`.
 */
export class JsonStore implements MessageStore {
  /** The folder with the folders `message` and `part`. */
  readonly root: string;
  readonly #folders: SourceFolders;

  constructor(root: string, folders: SourceFolders) {
    this.root = root;
    this.#folders = folders;
  }

  messages(session: SessionId): readonly StoredRecord[] {
    return inOrder(this.#messagePaths(session).map(readRecord));
  }

  #messagePaths(session: SessionId): readonly string[] {
    return isFolderName(session) ? this.#folders.paths(join(this.root, "message", session), isJsonFile) : [];
  }

  /** By id: opencode's ids ascend. */
  parts(message: StoredRecord): readonly StoredRecord[] {
    return inlineParts(message) ?? this.#partPaths(message).map(readRecord);
  }

  #partPaths({ id, value }: StoredRecord): readonly string[] {
    const own = stringAt(value ?? {}, "id") ?? id;
    const session = stringAt(value ?? {}, "sessionID") ?? "";
    const folder = join(this.root, "part");
    const names = [...new Set([id, own])].filter(isFolderName);
    const places = names.flatMap((name) => [join(folder, name), ...(isFolderName(session) ? [join(folder, session, name)] : [])]);
    const found = places.map((place) => this.#folders.paths(place, isJsonFile)).find((paths) => paths.length > 0);
    return found ?? this.#folders.once(folder, flatParts).get(own) ?? [];
  }

  /** Changes with every write to the session's file, a message or a part; opens none of them. */
  revision(sessionFile: string, session: SessionId): string {
    const messages = this.#messagePaths(session);
    const parts = messages.flatMap((path) => this.#partPaths({ id: basename(path, ".json"), value: undefined, problem: undefined }));
    const files = [sessionFile, ...messages, ...parts].flatMap((path) => tryRead(path, "", () => statPath(path)).value ?? []);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return `${files.length} ${bytes} ${files.reduce((latest, { mtimeMs }) => Math.max(latest, mtimeMs), 0)}`;
  }

  /** The calls of a session that started others, by the id of the started session. */
  startedBy(session: SessionId): ReadonlyMap<string, string> {
    return startedSessions(this.#partsOf(session));
  }

  *#partsOf(session: SessionId): Generator<JsonObject, void, void> {
    for (const message of this.messages(session)) for (const { value } of this.parts(message)) if (value !== undefined) yield value;
  }
}

/** The files that lie directly in `part`, by the message that they name. */
function flatParts(folder: string, folders: SourceFolders): ReadonlyMap<string, readonly string[]> {
  return groupBy(folders.paths(folder, isJsonFile), (path) => stringAt(readRecord(path).value ?? {}, "messageID") ?? "");
}

function readRecord(path: string): StoredRecord {
  const id = basename(path, ".json");
  const { value, problems } = tryRead(path, "the record was left out", () => readText(path));
  return problems.length > 0 ? { id, value: undefined, problem: problems[0] } : toStoredRecord(id, value, path);
}

/** A whole file as text. @throws {SourceNotFoundError | SourceUnreadableError} it cannot be read. */
export function readText(path: string): string {
  return readStart(path, Number.MAX_SAFE_INTEGER)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}

function isJsonFile({ name, kind }: FolderEntry): boolean {
  return name.endsWith(".json") && kind !== "folder";
}

/** True if an id can name a folder. Another one could lead out of the store. */
export function isFolderName(id: string): boolean {
  return /^[\w-][\w.-]{0,127}$/.test(id);
}

/** The folder with `message` and `part` of the session in this file. */
export function rootOf(sessionFile: string): string {
  const folder = dirname(sessionFile);
  return basename(folder) === "info" ? dirname(folder) : dirname(dirname(folder));
}

/** The id of the session in this file: the one that has messages. Old migrations changed names of files and not the records. */
export function sessionIdOf(sessionFile: string, info: JsonObject, folders: SourceFolders): SessionId {
  const name = basename(sessionFile, ".json");
  const own = stringAt(info, "id") ?? name;
  const messages = folders.list(join(rootOf(sessionFile), "message"));
  return isFolderName(own) && (messages.has(own) || !messages.has(name)) ? own : name;
}

/** One session as `opencode export` prints it and `opencode import` takes it: `{ info, messages: [{ info, parts }] }`. */
export class ExportStore implements MessageStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The record of the session; empty if it comes behind the messages, or is damaged. */
  get info(): JsonObject {
    for (const part of readJsonDocument(this.#path, ["messages"]))
      if (part.kind === "member" && part.name === "info") return isObject(part.value) ? part.value : {};
    return {};
  }

  *messages(): Generator<StoredRecord, void, void> {
    for (const part of readJsonDocument(this.#path, ["messages"])) {
      if (part.kind === "problem") yield { id: "", value: undefined, problem: part.problem };
      if (part.kind !== "element") continue;
      const { info, parts } = isObject(part.value) ? part.value : {};
      const id = isObject(info) ? (stringAt(info, "id") ?? "") : "";
      yield isObject(info) ? { id, value: { ...info, parts }, problem: undefined } : toStoredRecord(id, undefined, this.#path);
    }
  }

  parts(message: StoredRecord): readonly StoredRecord[] {
    return inlineParts(message) ?? [];
  }
}

export function isExport(head: FileHead): boolean {
  if (!/^\s*\{\s*"info"\s*:\s*\{/.test(head.text)) return false;
  const { info } = readDocumentHead(head, ["messages"]).members;
  return isObject(info) && isSessionInfo(info) && String(info.id).startsWith("ses");
}
