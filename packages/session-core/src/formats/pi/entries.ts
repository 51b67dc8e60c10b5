import { type JsonObject, stringAt, without, withoutNulls } from "../../source/narrow.js";
import { contentOf } from "./blocks.js";
import { type EntryReading, fieldsOf } from "./entry-reading.js";
import { FOREIGN_MARK, foreignOf, USAGE_MARKS, unfilled } from "./marks.js";
import { messageOf } from "./messages.js";
import { branchSummaryOf, compactionOf, contextEditOf } from "./summaries.js";

/** Makes an entry's payload of a record; undefined when the record's shape does not allow it. */
type ReadEntry = (record: JsonObject, reading: EntryReading) => JsonObject | undefined;

const READERS: ReadonlyMap<string, ReadEntry> = new Map<string, ReadEntry>([
  ["message", messageEntryOf],
  ["model_change", modelChangeOf],
  ["thinking_level_change", thinkingLevelChangeOf],
  ["compaction", compactionOf],
  ["branch_summary", branchSummaryOf],
  ["context_edit", contextEditOf],
  ["custom", customOf],
  ["custom_message", customMessageEntryOf],
  ["usage", (record) => ({ type: "custom", customType: USAGE_MARKS.usage, data: without(fieldsOf(record), ["type"]) })],
  ["model_usage", (record) => ({ type: "custom", customType: USAGE_MARKS.model_usage, data: without(fieldsOf(record), ["type"]) })],
]);

/** What an entry carries, and whether its record had a type that we know but a shape that we do not. */
export interface ReadPayload {
  readonly payload: JsonObject;
  readonly isInvalid: boolean;
}

/** What the record's entry carries. A record that we do not know is kept whole in a `foreign` entry. */
export function payloadOf(record: JsonObject, reading: EntryReading): ReadPayload {
  const type = stringAt(record, "type");
  const reader = READERS.get(type ?? "");
  const payload = reader?.(unfilled(record), reading);
  if (payload !== undefined) return { payload, isInvalid: false };
  return { payload: keptWhole(record, type ?? "unknown"), isInvalid: reader !== undefined || type === undefined };
}

function keptWhole(record: JsonObject, originalType: string): JsonObject {
  return { type: "foreign", originalType, raw: record };
}

function messageEntryOf(record: JsonObject): JsonObject | undefined {
  const message = messageOf(record.message);
  return message === undefined ? undefined : { ...fieldsOf(record), message };
}

// oh-my-pi writes "provider/id" in one field, and notes the model it falls back to for a single retry: that one is
// not the session's model, so it stays a foreign record.
function modelChangeOf(record: JsonObject): JsonObject | undefined {
  const fields = withoutNulls(fieldsOf(record), ["provider"]);
  if (typeof fields.modelId === "string") return fields;
  const { model, ...rest } = fields;
  if (typeof model !== "string") return undefined;
  if (fields.role === "fallback") return keptWhole(record, "model_change");
  const slash = model.indexOf("/");
  return slash === -1 ? { ...rest, modelId: model } : { ...rest, provider: model.slice(0, slash), modelId: model.slice(slash + 1) };
}

function thinkingLevelChangeOf(record: JsonObject): JsonObject | undefined {
  const thinkingLevel = record.thinkingLevel ?? null;
  return thinkingLevel === null || typeof thinkingLevel === "string" ? { ...fieldsOf(record), thinkingLevel } : undefined;
}

function customOf(record: JsonObject): JsonObject | undefined {
  const noted = record.customType === FOREIGN_MARK ? foreignOf(record.data) : undefined;
  return noted ?? (typeof record.customType === "string" ? fieldsOf(record) : undefined);
}

function customMessageEntryOf(record: JsonObject): JsonObject | undefined {
  const content = contentOf(record.content);
  const isWhole = typeof record.customType === "string" && content !== undefined;
  return isWhole ? { ...withoutNulls(fieldsOf(record), ["display"]), content } : undefined;
}
