import { basename, dirname, join } from "node:path";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, objectAt, parseJsonObject, parseTime, stringAt } from "@bough/session-core/wire";
import { foldersBelow } from "../source/agent-folders.js";
import { derivedId } from "../source/derived-id.js";
import { readHeadOnce } from "../source/json-lines.js";
import { readRecordLog } from "../source/record-log.js";
import { readStart } from "../source/source-file.js";
import { SourceFolders } from "../source/source-folders.js";
import { type SourceFormat, tryRead, tryReadObject } from "../source/source-format.js";
import { AcpConversation } from "./conversation.js";

/** Sessions of Grok Build: `sessions/<directory>/<session>/updates.jsonl`, the log from which it restores them, and `summary.json`. */
export const grokFormat: SourceFormat = {
  name: "grok",
  agents: [
    {
      name: "Grok Build",
      folders: (given) => foldersBelow(given, "GROK_HOME", ["sessions"], ".grok"),
      files: /^[^/]+\/[^/]+\/updates\.jsonl$/,
      beside: (path) => [join(dirname(path), "summary.json")],
      resume: { program: "grok", args: (sessionId) => ["--resume", sessionId] },
    },
  ],
  detects: ({ records }) => records.some(isUpdate),
  sessions: (path, folders = new SourceFolders()) => [toSession(path, folders)],
};

function isUpdate({ params }: JsonObject): boolean {
  return isObject(params) && isObject(params.update) && typeof params.update.sessionUpdate === "string";
}

const SUMMARY_BYTES = 1 << 20;

/** A file of a checkpoint, as its update names it. Another name could lead out of the folder. */
const CHECKPOINT = /^compaction_checkpoints\/[\w-]+\.json$/;
const CHECKPOINT_BYTES = 1 << 26;

/** Members of the summary that do not change. */
const KEPT = ["session_kind", "agent_name", "sandbox_profile", "git_root_dir", "git_remotes", "head_branch", "forked_at"];

function toSession(path: string, folders: SourceFolders): SourceSession {
  const file = join(dirname(path), "summary.json");
  const summary = tryReadObject(file, folders, SUMMARY_BYTES, "the title and directory were left out").value ?? {};
  const info = objectAt(summary, "info") ?? {};
  const first = readHeadOnce(path, folders).records.find(isUpdate) ?? {};
  const params = objectAt(first, "params") ?? {};
  const own = stringAt(params, "sessionId") ?? stringAt(info, "id") ?? basename(dirname(path));
  const sessionId = isId(own) ? own : derivedId("grok", own);
  const parent = stringAt(summary, "parent_session_id") ?? stringAt(summary, "forked_from");
  const isSubagent = /subagent/.test(stringAt(summary, "session_kind") ?? "");
  const time = objectAt(params, "_meta")?.agentTimestampMs ?? first.timestamp;
  const header: SourceHeader = {
    sessionId,
    createdAtMs: parseTime(summary.created_at) ?? parseTime(time),
    cwd: stringAt(info, "cwd"),
    title: stringAt(summary, "generated_title") || stringAt(summary, "session_summary") || undefined,
    kind: isSubagent ? "subagent" : "conversation",
    parent: parent !== undefined && isId(parent) ? { sessionId: parent } : undefined,
    metadata: Object.fromEntries(KEPT.flatMap((name) => (summary[name] === undefined ? [] : [[name, summary[name]]]))),
  };
  const model = stringAt(summary, "current_model_id");
  const readCheckpoint = (name: string) => {
    const checkpoint = join(dirname(path), "compaction_checkpoints", basename(name));
    const read = () => parseJsonObject(readStart(checkpoint, CHECKPOINT_BYTES).toString("utf8"));
    return CHECKPOINT.test(name) ? tryRead(checkpoint, "the summary was left out", read).value : undefined;
  };
  return {
    header,
    path,
    ...readRecordLog(path, (state) => new AcpConversation({ sessionId, startMs: header.createdAtMs ?? 0, model, readCheckpoint }, state)),
  };
}
