import type { Entry, EntryPayload, PayloadOf } from "../../entry/entry.js";
import { isObject, type JsonObject, millisecondsOf } from "../../source/narrow.js";
import { FOREIGN_MARK, USAGE_MARKS } from "../pi/marks.js";
import { filled } from "./filled.js";
import { piContentOf, piMessageOf } from "./message.js";

// Records that pi or our own reader take for something: a foreign record of such a type must not be mistaken for one.
const KNOWN_TYPES: ReadonlySet<unknown> = new Set([
  ...["session", "title", "label", "session_info", "title_change", "message", "model_change", "thinking_level_change"],
  ...["compaction", "branch_summary", "context_edit", "custom", "custom_message", "usage", "model_usage"],
]);

/** The line of a pi file (version 3) that holds `entry`. */
export function piRecordOf(entry: Entry): JsonObject {
  if (entry.type === "foreign" && isUntouched(entry)) return entry.raw;
  const { id, seq: _seq, parentId, createdAtMs, ...payload } = entry;
  const { type, ...fields } = piPayloadOf(payload, entry);
  return { type, ...fields, id, parentId, timestamp: isoTime(createdAtMs) };
}

/** A time as pi writes it; times that no date can hold become the first of 1970. */
export function isoTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString();
}

type ForeignEntry = Extract<Entry, { type: "foreign" }>;

// A record that pi or oh-my-pi wrote goes back as it was, if reading it again gives this very entry.
function isUntouched(entry: ForeignEntry): entry is ForeignEntry & { raw: JsonObject } {
  const { raw, originalType } = entry;
  if (!isObject(raw) || KNOWN_TYPES.has(originalType) || raw.type !== originalType) return false;
  const stands = raw.id === entry.id && raw.parentId === entry.parentId;
  return stands && typeof raw.timestamp === "string" && millisecondsOf(raw.timestamp) === entry.createdAtMs;
}

function piPayloadOf(payload: EntryPayload, { id, createdAtMs }: Entry): JsonObject {
  switch (payload.type) {
    case "message":
      return { ...payload, message: piMessageOf(payload.message, createdAtMs) };
    case "compaction":
      // pi has no null here: a compaction that kept nothing names itself.
      return { ...filled(payload, { tokensBefore: 0 }), firstKeptEntryId: payload.firstKeptEntryId ?? id };
    case "branch_summary":
      return { ...payload, fromId: payload.fromId ?? "root" };
    case "model_change":
      return filled(payload, { provider: "unknown" });
    case "thinking_level_change":
      return filled(payload, { thinkingLevel: "off" });
    case "custom_message":
      return filled({ ...payload, content: piContentOf(payload.content) }, { display: true });
    case "custom":
      return customOf(payload);
    case "foreign": {
      const { type: _type, ...data } = payload;
      return { type: "custom", customType: FOREIGN_MARK, data };
    }
    case "context_edit":
      return payload;
  }
}

function customOf(payload: PayloadOf<"custom">): JsonObject {
  const isUsage = payload.customType === USAGE_MARKS.usage && isObject(payload.data) && Object.keys(payload).length === 3;
  return isUsage && isObject(payload.data) ? { ...payload.data, type: "usage" } : payload;
}
