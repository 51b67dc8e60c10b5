import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, objectsAt, parseTime, stringAt, textsAt } from "@bough/session-core/wire";
import { DatabaseReading } from "../source/database-reading.js";
import { derivedId } from "../source/derived-id.js";
import type { SourceFolders } from "../source/source-folders.js";
import { tryRead } from "../source/source-format.js";
import { readFacts, toChatId } from "./chats.js";
import { type ChatBubbles, ComposerTree } from "./composer-tree.js";
import { type Composer, EditorStore } from "./editor-store.js";
import { pathOfUri } from "./file-uri.js";

/** The sessions of a database of Cursor's editor, one at a time: its composers, and the chats of old versions. */
export function* editorSessions(path: string, folders: SourceFolders): Generator<SourceSession, void, void> {
  const reading = new DatabaseReading(path, folders);
  try {
    const store = new EditorStore(reading);
    const ids = store.composerIds();
    const parents = parentsOf(store, ids);
    for (const id of ids) {
      const composer = store.composer(id);
      if (hasBubbles(store, composer)) yield composerSession(store, reading, composer, { parent: parents.get(id), folders });
    }
    const cwd = workspaceFolder(path, folders);
    for (const tab of objectsAt(store.item(OLD_CHATS), "tabs")) if (objectsAt(tab, "bubbles").length > 0) yield tabSession(path, tab, cwd);
  } finally {
    reading.end();
  }
}

const OLD_CHATS = "workbench.panel.aichat.view.aichat.chatdata";

/** The composers that started others, by the id of the other: only the record of the first one may name the second. */
function parentsOf(store: EditorStore, ids: readonly string[]): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const id of ids) {
    // Few composers started another one; the records of the others are not parsed.
    if (!/"sub(?:agent)?[cC]omposerIds":\s*\["/.test(store.composerText(id))) continue;
    const { record } = store.composer(id);
    for (const key of ["subComposerIds", "subagentComposerIds"]) for (const child of textsAt(record, key)) parents.set(child, id);
  }
  return parents;
}

function hasBubbles(store: EditorStore, { id, record }: Composer): boolean {
  return (
    objectsAt(record, "conversation").length > 0 ||
    store.hasBubbles(id) ||
    Object.keys(objectAt(record, "conversationMap") ?? {}).length > 0
  );
}

interface Surroundings {
  readonly parent: string | undefined;
  readonly folders: SourceFolders;
}

function composerSession(store: EditorStore, reading: DatabaseReading, composer: Composer, around: Surroundings): SourceSession {
  const header = composerHeader(store, composer, around);
  return {
    header,
    path: store.path,
    revision: createHash("sha256").update(composer.text).digest("hex"),
    *records() {
      yield* reading.whileOpen(new ComposerTree(store.path, header, bubblesOf(store, composer)).records());
    },
  };
}

function composerHeader(store: EditorStore, { id, record }: Composer, { parent, folders }: Surroundings): SourceHeader {
  const head = store.header(id);
  const started = objectAt(record, "subagentInfo") ?? objectAt(head, "subagentInfo") ?? {};
  const parentId = stringAt(started, "parentComposerId") ?? parent;
  const title = (stringAt(record, "name") ?? stringAt(head, "name") ?? "").trim();
  const metadata = Object.fromEntries(
    ["unifiedMode", "modelConfig", "subtitle"].flatMap((key) => (record[key] ? [[key, record[key]]] : [])),
  );
  return {
    sessionId: toChatId(id),
    kind: parentId === undefined ? "conversation" : "subagent",
    ...(parentId === undefined ? {} : { parent: { sessionId: toChatId(parentId), toolCallId: stringAt(started, "toolCallId") } }),
    title: title === "" ? undefined : title,
    createdAtMs: parseTime(record.createdAt) ?? parseTime(head.createdAt),
    cwd: folderOf(head) ?? folderOf(record) ?? folders.once(dirname(dirname(store.path)), foldersOfComposers).get(id),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata: { cursor: metadata } }),
  };
}

function folderOf(record: JsonObject): string | undefined {
  const workspace = objectAt(record, "workspaceIdentifier") ?? {};
  const place = objectAt(workspace, "uri") ?? objectAt(workspace, "configPath") ?? {};
  return stringAt(place, "fsPath") ?? pathOfUri(stringAt(place, "external"));
}

/** The folders of composers of old versions, which only the databases of the workspaces know. */
function foldersOfComposers(userFolder: string, folders: SourceFolders): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const workspaces = tryRead(userFolder, "", () => folders.paths(join(userFolder, "workspaceStorage"), ({ kind }) => kind === "folder"));
  for (const workspace of workspaces.value ?? []) {
    const path = join(workspace, "state.vscdb");
    const cwd = workspaceFolder(path, folders);
    if (cwd === undefined || !folders.has(path)) continue;
    const read = tryRead(path, "", () => composersOfWorkspace(path));
    for (const id of read.value ?? []) found.set(id, cwd);
  }
  return found;
}

function composersOfWorkspace(path: string): readonly string[] {
  const reading = new DatabaseReading(path);
  try {
    return objectsAt(new EditorStore(reading).item("composer.composerData"), "allComposers").flatMap(
      (one) => stringAt(one, "composerId") ?? [],
    );
  } finally {
    reading.end();
  }
}

/** Reads the folder of a workspace from the `workspace.json` next to its database. */
function workspaceFolder(path: string, folders: SourceFolders): string | undefined {
  const read = tryRead(path, "", () => readFacts(join(dirname(path), "workspace.json"), folders));
  return pathOfUri(stringAt(read.value ?? {}, "folder"));
}

/** True if Cursor still writes the last reply. A program that was killed leaves its chats in this state. */
function isBeingWritten(record: JsonObject): boolean {
  return record.status === "generating" || textsAt(record, "generatingBubbleIds").length > 0;
}

/** The bubbles of a chat: rows of their own, or in old versions members of its record. */
function bubblesOf(store: EditorStore, { id, record }: Composer): ChatBubbles {
  const inline = new Map<string, Found>();
  for (const [at, bubble] of objectsAt(record, "conversation").entries())
    inline.set(bubbleIdOf(bubble, id, at), { line: at + 1, record: bubble });
  for (const [key, bubble] of Object.entries(objectAt(record, "conversationMap") ?? {}))
    if (isObject(bubble)) inline.set(key, { line: inline.size + 1, record: bubble });
  const written = store.bubbleIds(id);
  const listed = objectsAt(record, "fullConversationHeadersOnly").flatMap((header) => stringAt(header, "bubbleId") ?? []);
  const shown = [...new Set(listed.length > 0 ? listed : inline.size > 0 ? inline.keys() : written)];
  const isShown = new Set(shown);
  const left = [...new Set([...inline.keys(), ...written])].filter((one) => !isShown.has(one));
  return {
    shown,
    left,
    find: (one) => store.bubble(id, one) ?? inline.get(one),
    isBeingWritten: isBeingWritten(record),
    changedAtMs: numberAt(record, "lastUpdatedAt"),
  };
}

type Found = NonNullable<ReturnType<ChatBubbles["find"]>>;

function bubbleIdOf(bubble: JsonObject, chatId: SessionId, at: number): string {
  return stringAt(bubble, "bubbleId") ?? stringAt(bubble, "id") ?? derivedId(chatId, at);
}

/** A chat of an old version: a tab with all its bubbles in one value. */
function tabSession(path: string, tab: JsonObject, cwd: string | undefined): SourceSession {
  const bubbles = objectsAt(tab, "bubbles");
  const own = stringAt(tab, "tabId");
  const sessionId = own !== undefined ? toChatId(own) : derivedId(path, JSON.stringify(bubbles[0] ?? null));
  const found = new Map(
    bubbles.map((bubble, at): [string, Found] => [bubbleIdOf(bubble, sessionId, at), { line: at + 1, record: bubble }]),
  );
  const title = stringAt(tab, "chatTitle")?.trim();
  const header: SourceHeader = {
    sessionId,
    kind: "conversation",
    title: title === "" ? undefined : title,
    createdAtMs: parseTime(tab.lastSendTime),
    cwd,
  };
  const chat: ChatBubbles = { shown: [...found.keys()], left: [], find: (id) => found.get(id), isBeingWritten: false };
  return { header, path, records: () => new ComposerTree(path, header, chat).records() };
}
