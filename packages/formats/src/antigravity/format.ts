import { basename, dirname, join } from "node:path";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, parseTime, stringAt } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { readHeadOnce, readJsonLines } from "../source/json-lines.js";
import { readRecordLog } from "../source/record-log.js";
import { SourceFolders } from "../source/source-folders.js";
import { type SourceAgent, type SourceFormat, tryRead, tryReadObject } from "../source/source-format.js";
import { AntigravityConversation } from "./conversation.js";

const FILES = /^[^/]+\/\.system_generated\/logs\/transcript(?:_full)?\.jsonl$/;

function antigravityAgent(name: string, ...folders: readonly string[]): SourceAgent {
  return { name, folders: ({ home }) => folders.map((folder) => join(home, ".gemini", folder, "brain")), files: FILES };
}

/**
 * Sessions of Antigravity: `brain/<session>/.system_generated/logs/transcript_full.jsonl`, or `transcript.jsonl`, which cuts long texts, where
 * there is no whole one. Its databases (`conversations/<session>.db`) hold messages of an undocumented format and are not read.
 */
export const antigravityFormat: SourceFormat = {
  name: "antigravity",
  agents: [antigravityAgent("Antigravity CLI", "antigravity-cli"), antigravityAgent("Antigravity", "antigravity", "antigravity-ide")],
  detects: ({ records }) => records.some(isStep),
  isPart: (path, folders) => basename(path) === "transcript.jsonl" && folders.has(join(dirname(path), "transcript_full.jsonl")),
  sessions: (path, folders = new SourceFolders()) => [toSession(path, folders)],
};

function isStep(record: JsonObject): boolean {
  const { step_index: step, type, source, created_at: time } = record;
  return typeof step === "number" && typeof type === "string" && typeof source === "string" && typeof time === "string";
}

function toSession(path: string, folders: SourceFolders): SourceSession {
  const conversation = /[\\/]([^\\/]+)[\\/]\.system_generated[\\/]logs[\\/]/.exec(path)?.[1];
  const own = conversation ?? basename(path).replace(/\.jsonl$/, "");
  const sessionId = conversation !== undefined && isId(own) ? own : derivedId("antigravity", path);
  const first = readHeadOnce(path, folders).records.find((record) => parseTime(record.created_at) !== undefined) ?? {};
  const root = dirname(dirname(dirname(dirname(dirname(path)))));
  const header: SourceHeader = {
    sessionId,
    createdAtMs: parseTime(first.created_at),
    cwd: conversation === undefined ? undefined : folders.once(root, directories).get(conversation),
    kind: "conversation",
  };
  return { header, path, ...readRecordLog(path, (state) => new AntigravityConversation(sessionId, header.createdAtMs ?? 0, state)) };
}

const MOST_BYTES = 1 << 22;

/** The working directories of conversations: the last one of each directory, and those that were started in a terminal. */
function directories(root: string, folders: SourceFolders): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const [cache, history] = [join(root, "cache", "last_conversations.json"), join(root, "history.jsonl")];
  for (const [directory, id] of Object.entries(tryReadObject(cache, folders, MOST_BYTES, "").value ?? {}))
    if (typeof id === "string") found.set(id, directory);
  const readHistory = () => [...readJsonLines(history)].flatMap((line) => (line.kind === "object" ? [line.object] : []));
  for (const row of (folders.has(history) ? tryRead(history, "", readHistory).value : undefined) ?? []) {
    const [id, directory] = [stringAt(row, "conversationId"), stringAt(row, "workspace")];
    if (isObject(row) && id !== undefined && directory !== undefined) found.set(id, directory);
  }
  return found;
}
