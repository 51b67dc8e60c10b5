import { hash } from "node:crypto";
import { isObject, type JsonObject, objectAt, objectsAt, parseTime, stringAt, tryStringify, without } from "@bough/session-core/wire";
import { callBlock, isErrorAnswer, isResponse, textOf, toBlock, toParts, toResultContent } from "../gemini/parts.js";
import {
  compactionPayload,
  foreignPayload,
  hiddenPayload,
  notePayload,
  replyPayload,
  resultPayload,
  userPayload,
} from "../source/payloads.js";
import type { TreeReading, TreeRecord } from "../source/tree-log.js";

/** A record of Qwen Code: Claude Code's tree with the parts of Google's API. */
export function readQwenRecord(record: JsonObject, reading: TreeReading): TreeRecord {
  const { parentUuid, timestamp } = record;
  const title = titleOf(record);
  return {
    id: stringAt(record, "uuid"),
    parentId: typeof parentUuid === "string" || parentUuid === null ? parentUuid : undefined,
    createdAtMs: parseTime(timestamp),
    payloads: payloadsOf(record, reading),
    marks: title === undefined ? [] : [title],
  };
}

function payloadsOf(record: JsonObject, reading: TreeReading): readonly JsonObject[] {
  const parts = toParts(objectAt(record, "message")?.parts);
  switch (record.type) {
    case "user":
      return userPayloads(record, parts);
    case "assistant":
      return replyPayloads(record, parts);
    case "tool_result":
      return resultPayloads(record, parts, reading);
    case "system":
      return systemPayloads(record, reading);
  }
  return [foreignPayload(record)];
}

/** The start of a part that a hook or the program added to a prompt. */
const ADDED = /^\s*<(?:qwen:[\w-]+-context|system-reminder)>/;

/** Records of these subtypes are typed by the user; others are notices of the program to the model. */
const TYPED = new Set<unknown>([undefined, "mid_turn_user_message"]);

function userPayloads(record: JsonObject, parts: readonly JsonObject[]): readonly JsonObject[] {
  if (!TYPED.has(record.subtype)) return [hiddenPayload(`qwen.${String(record.subtype)}`, parts.map(toBlock))];
  const isAdded = (part: JsonObject) => ADDED.test(stringAt(part, "text") ?? "");
  const [typed, added] = [parts.filter((part) => !isAdded(part)), parts.filter(isAdded)];
  return [
    ...(typed.length === 0 && added.length > 0 ? [] : [userPayload(typed.map(toBlock))]),
    ...(added.length === 0 ? [] : [hiddenPayload("qwen.context", added.map(toBlock))]),
  ];
}

function replyPayloads(record: JsonObject, parts: readonly JsonObject[]): readonly JsonObject[] {
  const usage = objectAt(record, "usageMetadata");
  if (parts.length === 0 && usage === undefined) return [];
  const uuid = String(record.uuid);
  const content = parts.map((part, at) => (isObject(part.functionCall) ? callBlock(part, `${uuid}:call-${at}`) : toBlock(part)));
  return [replyPayload({ content, model: stringAt(record, "model"), usage })];
}

function resultPayloads(record: JsonObject, parts: readonly JsonObject[], reading: TreeReading): readonly JsonObject[] {
  const result = objectAt(record, "toolCallResult") ?? {};
  const details = without(result, ["callId", "responseParts"]);
  const responses = parts.filter(isResponse);
  const others = parts.filter((part) => !isResponse(part));
  const shown = stringAt(result, "resultDisplay");
  return (responses.length === 0 ? [{}] : responses).map((part, at) => {
    const answer = objectAt(part, "functionResponse") ?? {};
    const toolCallId = stringAt(answer, "id") ?? stringAt(result, "callId") ?? stringAt(answer, "name") ?? "unknown";
    const own = responses.length === 0 ? [] : [part];
    const content = toResultContent(at === 0 ? [...own, ...others] : own);
    return resultPayload({
      toolCallId,
      toolName: stringAt(answer, "name") ?? reading.toolName(toolCallId),
      content: content.length > 0 || shown === undefined ? content : [{ type: "text", text: shown }],
      isError: result.status === "error" || result.status === "cancelled" || isErrorAnswer(own),
      ...(at === 0 ? { details } : {}),
    });
  });
}

/** Reports whose content is in other records: the reply and the result that they count. */
const REPEATED = new Set<unknown>(["qwen-code.api_response", "qwen-code.tool_call"]);

function systemPayloads(record: JsonObject, reading: TreeReading): readonly JsonObject[] {
  const payload = objectAt(record, "systemPayload") ?? {};
  switch (record.subtype) {
    case "ui_telemetry": {
      const event = objectAt(payload, "uiEvent") ?? {};
      return REPEATED.has(event["event.name"]) ? [] : [notePayload("qwen.ui_telemetry", event)];
    }
    case "custom_title":
    case "rewind":
      return [];
    case "chat_compression":
      return [compressionPayload(record, payload, reading)];
  }
  return [notePayload(`qwen.${stringAt(record, "subtype") ?? "system"}`, payload)];
}

function titleOf({
  type,
  subtype,
  systemPayload,
}: JsonObject): Extract<NonNullable<TreeRecord["marks"]>[number], { kind: "title" }> | undefined {
  if (type !== "system" || subtype !== "custom_title" || !isObject(systemPayload)) return undefined;
  const title = stringAt(systemPayload, "customTitle");
  return title === undefined || title === ""
    ? undefined
    : { kind: "title", title, source: systemPayload.titleSource === "auto" ? "auto" : "user" };
}

/** The snapshot in the first message of the history that a compression left, and what the program adds to it. */
const SNAPSHOT = /<state_snapshot>([\s\S]*?)(?:<\/state_snapshot>|$)/;
const INSTRUCTION = /Resume the prior task using the summary above\.[\s\S]*$/;

/** A compression: the summary, and the messages that it kept, which are the last ones above it. */
function compressionPayload(record: JsonObject, payload: JsonObject, reading: TreeReading): JsonObject {
  const history = objectsAt(payload, "compressedHistory");
  const text = textOf(toParts(history[0]?.parts));
  const info = objectAt(payload, "info") ?? {};
  // The model's answer to the summary is no message of the conversation.
  const kept = digestOf(history[2]?.parts);
  const parentId = stringAt(record, "parentUuid") ?? null;
  const firstKeptEntryId = kept === undefined ? null : (reading.findAbove(parentId, kept) ?? null);
  const summary = (SNAPSHOT.exec(text)?.[1] ?? text.replace(INSTRUCTION, "")).trim();
  const counts = { tokensBefore: info.originalTokenCount, tokensAfter: info.newTokenCount };
  return {
    ...compactionPayload({ summary, kept: { firstKeptEntryId }, ...counts }),
    qwen: without(payload, ["compressedHistory"]),
  };
}

/** The key of a record: a compression repeats the parts of the messages that it kept, without their ids. */
export function qwenKeyOf(record: JsonObject): string | undefined {
  return digestOf(objectAt(record, "message")?.parts);
}

function digestOf(parts: unknown): string | undefined {
  const text = tryStringify(parts);
  return text === undefined ? undefined : hash("sha256", text, "base64").slice(0, 16);
}
