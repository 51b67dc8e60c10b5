import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSessionContext, type Entry, type Message, type Session, type Store } from "@bough/session-core";
import { collected, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/transfer/import-path.js";

/** A file that was imported, and the sessions that it became. */
export interface ImportedFile {
  readonly store: Store;
  readonly path: string;
  readonly sessions: readonly Session[];
}

/** Writes a file below a new folder and imports it alone. `content`: its text, or records, one a line. */
export async function importedFile(name: string, content: string | readonly unknown[], store?: Store): Promise<ImportedFile> {
  const path = join(tempFolder(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : content.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return importedPath(path, store);
}

/** Imports a file or folder. */
export async function importedPath(path: string, given?: Store): Promise<ImportedFile> {
  const store = given ?? (await openedStore());
  const { sessions } = await importPath(store, path);
  return { store, path, sessions: await Promise.all(sessions.map(({ sessionId }) => store.openSession(sessionId))) };
}

/** The tree of a session, a line for each entry in order of arrival: `id < parent: what it is`. */
export async function treeLines(session: Session): Promise<readonly string[]> {
  const entries = await collected(session.entries());
  return entries.map((entry) => `${entry.id} < ${entry.parentId ?? "-"}: ${describe(entry)}`);
}

function describe(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return describeMessage(entry.message);
    case "compaction":
      return `compaction "${entry.summary}" keeps ${entry.firstKeptEntryId ?? "nothing"}`;
    case "context_edit":
      return entry.replacement === null ? `omits ${entry.targetId}` : `replaces ${entry.targetId} by ${textOf(entry.replacement.content)}`;
    case "custom":
      return `custom ${entry.customType}`;
    case "foreign":
      return `foreign ${entry.originalType}`;
    default:
      return entry.type;
  }
}

function describeMessage(message: Message): string {
  switch (message.role) {
    case "assistant":
      return `assistant ${message.content.map((block) => (block.type === "toolCall" ? `[${block.name} ${block.id}]` : block.type === "thinking" ? `(${block.thinking})` : textOf([block]))).join(" ")}`;
    case "toolResult":
      return `${message.isError ? "error" : "result"} ${message.toolCallId} ${textOf(message.content)}`;
    case "custom":
      return `${message.customType} ${textOf(message.content)}`;
    case "bashExecution":
      return `bash ${message.command}`;
    default:
      return `${message.role} ${textOf(message.content)}`;
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join(" ") : "";
}

/** The texts that a model gets at the main leaf. */
export async function contextTexts(session: Session): Promise<readonly string[]> {
  const { messages } = await buildSessionContext(session);
  return messages.map((message) =>
    "content" in message ? textOf(message.content) : message.role === "bashExecution" ? message.command : message.summary,
  );
}
