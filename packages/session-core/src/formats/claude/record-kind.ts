import { isObject, type JsonObject, objectAt } from "../../source/narrow.js";
import { speakerOf } from "./injected.js";

/**
 * What a record is to the tree:
 *
 * | kind | record | becomes |
 * |---|---|---|
 * | `human` | `user`, typed by a person | a user message |
 * | `injected` | `user`, put in by the program (see injected.ts); an attachment with a queued prompt | a custom message |
 * | `result` | `user` with `tool_result` blocks | tool results, then what stands next to them |
 * | `reply` | `assistant`: the first line of a reply | the whole reply |
 * | `boundary` | `system/compact_boundary` | with its summary: a compaction |
 * | `summary` | `user` with `isCompactSummary` that no boundary came before | a compaction |
 * | `noise` | all else with a uuid: progress, attachments, other `system` records, unknown types | foreign |
 * | `side` | a record without a uuid | a title, a value, or foreign |
 * | `absorbed` | a part of an earlier entry: a later line of a reply, a boundary's summary, a record written twice | nothing |
 * | `bad` | a line without a JSON object | a problem |
 */
export type RecordKind = "human" | "injected" | "result" | "reply" | "boundary" | "summary" | "noise" | "side" | "absorbed" | "bad";

/** The kind of a record that has a uuid, from the record alone. */
export function kindOf(record: JsonObject): Exclude<RecordKind, "side" | "absorbed" | "bad"> {
  switch (record.type) {
    case "user":
      return kindOfUser(record);
    case "assistant":
      return objectAt(record, "message") === undefined ? "noise" : "reply";
    case "system":
      return record.subtype === "compact_boundary" ? "boundary" : "noise";
    case "attachment":
      return queuedPrompt(record) === undefined ? "noise" : "injected";
  }
  return "noise";
}

function kindOfUser(record: JsonObject): "human" | "injected" | "result" | "summary" | "noise" {
  const message = objectAt(record, "message");
  if (message === undefined) return "noise";
  if (record.isCompactSummary === true) return "summary";
  if (resultBlocks(message.content).length > 0) return "result";
  // Shown in the terminal, but never sent to a model: it must not turn up in a context.
  if (record.isVisibleInTranscriptOnly === true) return "noise";
  return speakerOf(record, message.content);
}

/** The `tool_result` blocks of a content that name the call they answer. */
export function resultBlocks(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isResultBlock) : [];
}

/** Whether a block answers a tool call. */
export function isResultBlock(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_result" && typeof block.tool_use_id === "string";
}

/** The prompt that a person queued while the model was at work; undefined for every other attachment. */
export function queuedPrompt(record: JsonObject): unknown {
  const attachment = objectAt(record, "attachment");
  if (attachment?.type !== "queued_command") return undefined;
  const { prompt } = attachment;
  return typeof prompt === "string" || Array.isArray(prompt) ? prompt : undefined;
}

/** The original type of a record, with what tells it apart: `progress`, `system/turn_duration`, `attachment/hook_success`. */
export function typeName(record: JsonObject): string {
  const { type, subtype } = record;
  if (typeof type !== "string" || type === "") return "unknown";
  const detail = type === "attachment" ? objectAt(record, "attachment")?.type : subtype;
  return typeof detail === "string" && detail !== "" ? `${type}/${detail}` : type;
}
