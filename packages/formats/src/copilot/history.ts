import { basename } from "node:path";
import { fromOpenAiChat, type SessionId } from "@bough/session-core";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, parseTime, stringAt } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { isDocument, readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { messagePayload, resultPayload, toMediaContent, userPayload } from "../source/payloads.js";
import type { FileHead } from "../source/source-format.js";
import { COPILOT_PROVIDER } from "./messages.js";

/** The lists of the oldest files: messages as OpenAI's API takes them, and the records of the screen. */
const LISTS = ["chatMessages", "timeline"];

/** True if a file is a session of the oldest versions. */
export function isHistory(head: FileHead): boolean {
  if (!head.text.includes('"chatMessages"') || !isDocument(head)) return false;
  const { members } = readDocumentHead(head, LISTS);
  return typeof members.sessionId === "string" && members.startTime !== undefined;
}

/** The session in a file of the oldest versions: `history-session-state/session_<id>_<time>.json`. */
export function readHistory(head: FileHead): SourceSession {
  const { members } = readDocumentHead(head, LISTS);
  const own = stringAt(members, "sessionId") ?? "";
  const sessionId = isId(own) ? own : derivedId(basename(head.path));
  const startMs = parseTime(members.startTime);
  const records = () => readRecords(head.path, sessionId, startMs ?? 0, stringAt(members, "selectedModel"));
  return { header: { sessionId, kind: "conversation", createdAtMs: startMs }, records };
}

/** Messages have no ids and no times: ids are derived from their number, prompts have the times of those on the screen. */
function* readRecords(path: string, sessionId: SessionId, startMs: number, model: string | undefined): Generator<SourceRecord, void, void> {
  const chain = new EntryChain(sessionId, startMs);
  const times = [...readPromptTimes(path)];
  const names = new Map<unknown, string>();
  let prompts = 0;
  for (const part of readJsonDocument(path, LISTS)) {
    if (part.kind === "problem") yield part;
    if (part.kind !== "element") continue;
    const { line, list, index, value } = part;
    const id = derivedId(sessionId, list, index);
    const createdAtMs = isObject(value) && list === "timeline" ? parseTime(value.timestamp) : undefined;
    if (list === "chatMessages") {
      const time = isObject(value) && value.role === "user" ? times[prompts++] : undefined;
      yield chain.add({ line, id, createdAtMs: time, payload: toPayload(value, model, names) });
    } else if (isObject(value) && REPEATED.has(value.type)) yield { kind: "merged", line };
    else yield chain.add({ line, id, createdAtMs, payload: toForeign("timeline", value) });
  }
}

/** The types of the screen's records that repeat messages. */
const REPEATED = new Set<unknown>(["user", "copilot", "tool_call_requested", "tool_call_completed"]);

function* readPromptTimes(path: string): Generator<number | undefined, void, void> {
  for (const part of readJsonDocument(path, LISTS))
    if (part.kind === "element" && part.list === "timeline" && isObject(part.value) && part.value.type === "user")
      yield parseTime(part.value.timestamp);
}

function toPayload(value: unknown, model: string | undefined, names: Map<unknown, string>): JsonObject {
  if (!isObject(value)) return toForeign("message", value);
  const { role, content, tool_call_id: toolCallId } = value;
  switch (role) {
    case "system":
    case "developer":
      return typeof content === "string" ? messagePayload({ role: "system", content }) : toForeign(role, value);
    case "user":
      return userPayload(toMediaContent(content));
    case "assistant":
      return toReply(value, model, names);
    case "tool":
      if (typeof toolCallId !== "string") break;
      return resultPayload({ toolCallId, toolName: names.get(toolCallId), content: toMediaContent(content), isError: false });
  }
  return toForeign("message", value);
}

function toReply(value: JsonObject, model: string | undefined, names: Map<unknown, string>): JsonObject {
  const calls = Array.isArray(value.tool_calls) && value.tool_calls.length > 0;
  const body = { model, choices: [{ message: value, finish_reason: calls ? "tool_calls" : "stop" }] };
  const payload = fromOpenAiChat(body, { provider: COPILOT_PROVIDER });
  const blocks = payload.type === "message" && Array.isArray(payload.message.content) ? payload.message.content : [];
  for (const block of blocks) if (block.type === "toolCall") names.set(block.id, block.name);
  return { ...payload };
}

function toForeign(type: string, raw: unknown): JsonObject {
  return { type: "foreign", originalType: (isObject(raw) && stringAt(raw, "type")) || type, raw: raw ?? null };
}
