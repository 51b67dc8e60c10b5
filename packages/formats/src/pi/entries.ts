import type { EntryId } from "@bough/session-core";
import { isObject, type JsonObject, numberAt, stringAt, without, withoutNulls } from "@bough/session-core/wire";
import { foreignPayload, notePayload } from "../source/payloads.js";
import { toAssistantContent, toContent } from "./blocks.js";
import type { SkippedLines } from "./links.js";
import { FOREIGN_MARK, readForeign, removeFilled, USAGE_MARKS } from "./marks.js";
import { toMessage, withUsage } from "./messages.js";
import { isSectioned, toPrompt, toPromptChange } from "./prompts.js";

/** Converts a record to a payload; undefined if it has an unexpected shape. */
type ReadEntry = (record: JsonObject, reading: EntryContext) => JsonObject | undefined;

const READERS: ReadonlyMap<string, ReadEntry> = new Map<string, ReadEntry>([
  ["message", toMessagePayload],
  ["model_change", toModelChange],
  ["thinking_level_change", toThinkingLevelChange],
  ["compaction", toCompaction],
  ["branch_summary", toBranchSummary],
  ["context_edit", toContextEdit],
  ["custom", toCustom],
  ["custom_message", toCustomMessage],
  ["usage", (record) => notePayload(USAGE_MARKS.usage, without(withoutPosition(record), ["type"]))],
  ["model_usage", (record) => notePayload(USAGE_MARKS.model_usage, without(withoutPosition(record), ["type"]))],
]);

/** A payload. `isInvalid`: the record has a known type but an unexpected shape. */
interface ReadPayload {
  readonly payload: JsonObject;
  readonly isInvalid: boolean;
}

/** Converts a record to a payload. An unknown record becomes a `foreign` payload, unchanged. */
export function toPayload(record: JsonObject, reading: EntryContext): ReadPayload {
  const type = stringAt(record, "type");
  const reader = READERS.get(type ?? "");
  const payload = reader?.(removeFilled(record), reading);
  if (payload !== undefined) return { payload, isInvalid: false };
  return { payload: foreignPayload(record), isInvalid: reader !== undefined || type === undefined };
}

function toMessagePayload(record: JsonObject, { isPromptKnown }: EntryContext): JsonObject | undefined {
  const { message: source, ...fields } = withoutPosition(record);
  if (isSectioned(source) && isPromptKnown) {
    const change = toPromptChange(source);
    return change === undefined ? undefined : { ...fields, ...change };
  }
  const message = isSectioned(source) ? toPrompt(source) : toMessage(source);
  return message === undefined ? undefined : { ...fields, message };
}

// oh-my-pi writes "provider/id" in one field, and records the fallback model of a single retry: this is not the session's
// model, so it stays a foreign record.
function toModelChange(record: JsonObject): JsonObject | undefined {
  const fields = withoutNulls(withoutPosition(record), ["provider"]);
  if (typeof fields.modelId === "string") return fields;
  const { model, ...rest } = fields;
  if (typeof model !== "string") return undefined;
  if (fields.role === "fallback") return foreignPayload(record);
  const slash = model.indexOf("/");
  return slash === -1 ? { ...rest, modelId: model } : { ...rest, provider: model.slice(0, slash), modelId: model.slice(slash + 1) };
}

function toThinkingLevelChange(record: JsonObject): JsonObject | undefined {
  const thinkingLevel = record.thinkingLevel ?? null;
  return thinkingLevel === null || typeof thinkingLevel === "string" ? { ...withoutPosition(record), thinkingLevel } : undefined;
}

function toCustom(record: JsonObject): JsonObject | undefined {
  const noted = record.customType === FOREIGN_MARK ? readForeign(record.data) : undefined;
  return noted ?? (typeof record.customType === "string" ? withoutPosition(record) : undefined);
}

function toCustomMessage(record: JsonObject): JsonObject | undefined {
  const content = toContent(record.content);
  const isWhole = typeof record.customType === "string" && content !== undefined;
  return isWhole ? { ...withoutNulls(withoutPosition(record), ["display"]), content } : undefined;
}

/** A compaction. */
function toCompaction(record: JsonObject, reading: EntryContext): JsonObject | undefined {
  if (typeof record.summary !== "string") return undefined;
  const tokens = ["tokensBefore", "tokensAfter"].filter((key) => (numberAt(record, key) ?? -1) < 0);
  const fields = without(summaryFields(record), [...tokens, "firstKeptEntryIndex"]);
  return { ...withoutNulls(fields, ["trigger", "title", "shortSummary", "instructions"]), firstKeptEntryId: reading.firstKept() };
}

/**
 * A branch summary. Before pi 0.84.3, and in oh-my-pi, `fromId` is the target of the move, which is the summary's own parent;
 * then the branch that was left is unknown.
 */
function toBranchSummary(record: JsonObject, reading: EntryContext): JsonObject | undefined {
  if (typeof record.summary !== "string") return undefined;
  const fromId = stringAt(record, "fromId");
  const isTarget = fromId !== undefined && fromId === record.parentId && !reading.isBoughExport;
  const isKnown = fromId !== undefined && fromId !== "root" && !isTarget;
  return { ...summaryFields(record), fromId: isKnown ? reading.links.entryFor(fromId) : null };
}

/** An edit of an earlier entry; undefined if it has no valid replacement. */
function toContextEdit(record: JsonObject, { links }: EntryContext): JsonObject | undefined {
  const { targetId, replacement } = record;
  if (typeof targetId !== "string") return undefined;
  const edit = { ...withoutPosition(record), targetId: links.entryFor(targetId) ?? targetId };
  if (replacement === null) return edit;
  if (!isObject(replacement) || replacement.content === null || replacement.content === undefined) return undefined;
  const content = toAssistantContent(replacement.content);
  return content === undefined ? undefined : { ...edit, replacement: { ...replacement, content } };
}

// oh-my-pi calls a summary that an extension supplied `fromExtension`.
function summaryFields(record: JsonObject): JsonObject {
  const { fromExtension, ...fields } = withUsage(withoutPosition(record));
  const fromHook = fields.fromHook ?? fromExtension;
  return typeof fromHook === "boolean" ? { ...fields, fromHook } : without(fields, ["fromHook"]);
}

/** The facts of the file that the conversion of a record needs. */
interface EntryContext {
  readonly links: SkippedLines;
  /** Bough wrote the file: its `fromId` is always the branch that was left. */
  readonly isBoughExport: boolean;
  /** An earlier record is a system message. */
  readonly isPromptKnown: boolean;
  /** The first entry that the record, a compaction, kept; null: nothing kept. */
  firstKept(): EntryId | null;
}

const POSITION = ["id", "parentId", "timestamp"];

/** The record without its position. */
function withoutPosition(record: JsonObject): JsonObject {
  return without(record, POSITION);
}
