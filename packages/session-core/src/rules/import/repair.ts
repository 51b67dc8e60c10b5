import { isDeepStrictEqual } from "node:util";
import type { EntryPayload } from "../../entry/entry.js";
import { isObject, tryStringify } from "../../entry/json.js";
import type { Message } from "../../entry/message.js";
import { UnserializableValueError } from "../../errors/session-errors.js";
import type { EntryId } from "../../ids/ids.js";
import type { Validate } from "../batch-writer.js";

/**
 * The payload without its invalid reference, which is kept under another name. undefined: this type has no reference.
 */
export function removeReference(payload: EntryPayload): EntryPayload | undefined {
  switch (payload.type) {
    case "compaction":
      // As in pi: a compaction whose first kept entry is not on the path keeps nothing.
      return { ...payload, firstKeptEntryId: null, originalFirstKeptEntryId: payload.firstKeptEntryId };
    case "branch_summary":
      return { ...payload, fromId: null, originalFromId: payload.fromId };
    case "context_edit":
      return { type: "foreign", originalType: "context_edit", raw: payload };
    case "message":
    case "model_change":
    case "thinking_level_change":
    case "custom_message":
    case "custom":
    case "foreign":
      return undefined;
  }
}

/** Rounds a time, such as that of a file, down to whole milliseconds. Returns 0 (unknown) for NaN and for times out of range. */
export function toStoredMs(ms: number): number {
  const whole = Math.floor(ms);
  return Number.isSafeInteger(whole) ? whole : 0;
}

/** The payload with other ids of the entries that it refers to. */
export function mapReferences(payload: unknown, toId: (id: EntryId) => EntryId): unknown {
  if (!isObject(payload)) return payload;
  const keys = REFERENCES.filter((key) => typeof payload[key] === "string" && toId(payload[key]) !== payload[key]);
  const kept = payload["keptEntryIds"];
  const lists = Array.isArray(kept) ? { keptEntryIds: kept.map((id: unknown) => (typeof id === "string" ? toId(id) : id)) } : {};
  if (keys.length === 0 && !Array.isArray(kept)) return payload;
  return { ...payload, ...lists, ...Object.fromEntries(keys.map((key) => [key, toId(String(payload[key]))])) };
}

const REFERENCES = ["firstKeptEntryId", "fromId", "targetId"];

/**
 * True if `after` is a later state of `before`. An import may read a session in use in the middle of a reply, so that the next import
 * reads more blocks of it, or more of its last block; or the program has since written the summary of a boundary record that was
 * imported as foreign.
 */
export function isContinuation(before: EntryPayload, after: EntryPayload): boolean {
  if (before.type === "foreign") return after.type === "compaction";
  if (before.type !== "message" || after.type !== "message") return false;
  if (before.message.role !== "assistant" || after.message.role !== "assistant") return false;
  const [content, laterContent] = [before.message.content, after.message.content];
  return content.every((block, at) => {
    const later = laterContent[at];
    return JSON.stringify(block) === JSON.stringify(later) || (at === content.length - 1 && hasGrown(block, later));
  });
}

/**
 * True if two payloads of one record have the same meaning: an earlier version of the reader may have stored the record without its
 * usage, without the calls that the host made for it, with another list of the entries that a compaction keeps, with other members of
 * the agent beside it, or a system message without the text of its sections. The stored entry is not changed.
 */
export function saysTheSame(before: EntryPayload, after: EntryPayload): boolean {
  if (before.type === "message" && before.message.role === "system") return isSamePrompt(before.message, after);
  if (before.type === "message" && after.type === "message") {
    const [one, other] = [usageOf(before.message), usageOf(after.message)];
    return (isEmptyUsage(one) || isEmptyUsage(other)) && isDeepStrictEqual(withoutAdded(before.message), withoutAdded(after.message));
  }
  return before.type === "compaction" && after.type === "compaction" && before.summary === after.summary;
}

/** True if an earlier version of a reader stored the message, or the change of it that `after` describes, as it is in the file. */
function isSamePrompt(before: object, after: EntryPayload): boolean {
  if (after.type === "custom") return isDeepStrictEqual(before, after.data);
  if (after.type === "custom_message") return isDeepStrictEqual(before, after.details);
  if (after.type !== "message" || after.message.role !== "system" || !isObject(after.message.sections)) return false;
  return isDeepStrictEqual(before, { ...after.message, content: "content" in before ? before.content : undefined });
}

/** The message without what a later version of a reader may add. */
function withoutAdded(message: Message): object {
  const added = message.role === "custom" ? "nestedCalls" : "usage";
  return Object.fromEntries(Object.entries(message).filter(([name, value]) => name !== added && value !== undefined));
}

function usageOf(message: object): unknown {
  return "usage" in message ? message.usage : undefined;
}

/** True if no token was recorded. */
function isEmptyUsage(usage: unknown): boolean {
  return !isObject(usage) || Object.values(usage).every((count) => typeof count !== "number" || count === 0);
}

/** True if a text or thinking is the start of a later one. */
function hasGrown(block: unknown, later: unknown): boolean {
  if (!isObject(block) || !isObject(later) || block.type !== later.type) return false;
  return ["text", "thinking"].some((key) => {
    const [text, longer] = [block[key], later[key]];
    return block.type === key && typeof text === "string" && typeof longer === "string" && longer.startsWith(text);
  });
}

/** The deepest nesting of a raw record; its foreign entry adds a few levels. */
const MAX_DEPTH = 400;

/** A foreign entry with this payload, which matches no schema. */
export function toForeignEntry(payload: unknown, validate: Validate): ReturnType<Validate> {
  const foreign = { type: "foreign", originalType: typeNameOf(payload) };
  try {
    return validate({ ...foreign, raw: payload });
  } catch (error) {
    // Nested too deep, or a number out of range: replaced by text.
    if (!(error instanceof UnserializableValueError)) throw error;
    return validate({ ...foreign, raw: toStorable(payload) });
  }
}

function typeNameOf(payload: unknown): string {
  const type = typeof payload === "object" && payload !== null && "type" in payload ? payload.type : undefined;
  return typeof type === "string" ? type : "unknown";
}

/** A value that the store accepts: deeper members become JSON text, numbers that are not finite become text. */
function toStorable(value: unknown, depth = 0): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return tryStringify(value) ?? "[nested too deep to be kept]";
  if (Array.isArray(value)) return value.map((member) => toStorable(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toStorable(member, depth + 1)]));
}
