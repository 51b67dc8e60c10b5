import type { Entry, EntryInput, EntryPayload } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type {
  CustomEntry,
  MessageEntry,
  NewEntry,
  Entry as PiEntry,
  EntryType as PiEntryType,
  UsageRow,
} from "@earendil-works/pi-agent-core/harness/session";
import { NO_USAGE, toMessagePayload, toPiMessage } from "../pi-messages.js";

/** A message of pi: one of a model, or one that an application defined. */
export type PiMessage = MessageEntry["message"];
/** Token counts and cost, every field present. */
export type PiUsage = UsageRow["usage"];

/** The entry of Bough for a new entry of pi. A compaction keeps its tail as given; see `kept-tail.ts`. */
export function toBoughEntry(entry: NewEntry, createdAtMs: number): EntryInput & { readonly id: string } {
  const { parentId: _parentId, id, ...payload } = entry;
  const position = { id, createdAtMs };
  switch (payload.type) {
    case "message":
      return { ...toMessagePayload(payload.message), ...(payload.terminate === undefined ? {} : { terminate: true }), ...position };
    case "compaction":
      return { ...position, ...payload, firstKeptEntryId: null, ...withLooseUsage(payload.usage) };
    case "branch_summary":
      return { ...position, ...payload, ...withLooseUsage(payload.usage) };
    case "custom":
      return { ...position, ...payload };
  }
}

function withLooseUsage(usage: PiUsage | undefined) {
  return usage === undefined ? { usage: undefined } : { usage: { ...usage, cost: { ...usage.cost } } };
}

/** The type that pi gives an entry of Bough. */
export function piTypeOf(type: EntryPayload["type"]): PiEntryType {
  switch (type) {
    case "message":
    case "custom_message":
      return "message";
    case "compaction":
    case "branch_summary":
      return type;
    default:
      return "custom";
  }
}

/** The `customType` that pi gives an entry of Bough; undefined for entries that have none in pi. */
export function piCustomTypeOf(type: EntryPayload["type"], customType: string | null): string | undefined {
  if (piTypeOf(type) !== "custom") return undefined;
  return type === "custom" ? (customType ?? "") : type;
}

/** The entry of pi for an entry of Bough. `tail`: the messages that a compaction keeps. */
export function toPiEntry(entry: Entry, seq: number, tail: readonly PiMessage[]): PiEntry {
  const position = { id: entry.id, parentId: entry.parentId, seq, timestamp: entry.createdAtMs };
  switch (entry.type) {
    case "message":
    case "custom_message":
      return { ...position, type: "message", message: messageOf(entry), ...(entry["terminate"] === true ? { terminate: true } : {}) };
    case "compaction": {
      const tokensBefore = entry.tokensBefore ?? 0;
      return { ...position, type: "compaction", retainedTail: [...tail], tokensBefore, ...summaryFields(entry) };
    }
    case "branch_summary": {
      // A fork that does not contain the branch moves its id to `originalFromId`.
      const fromId = typeof entry["originalFromId"] === "string" ? entry["originalFromId"] : entry.fromId;
      return { ...position, type: "branch_summary", fromId, ...summaryFields(entry) };
    }
    default:
      return { ...position, ...customFields(entry) };
  }
}

function customFields(entry: Entry): Pick<CustomEntry, "type" | "customType" | "data"> {
  if (entry.type === "custom") {
    return { type: "custom", customType: entry.customType, ...(isJson(entry.data) ? { data: entry.data } : {}) };
  }
  const { id: _id, parentId: _parentId, seq: _seq, createdAtMs: _createdAtMs, type, ...data } = entry;
  return { type: "custom", customType: type, ...(isJson(data) ? { data } : {}) };
}

/** True if there is a value: values that a store returns were parsed from JSON. */
function isJson(value: unknown): value is NonNullable<CustomEntry["data"]> | null {
  return value !== undefined;
}

function summaryFields({ summary, details, usage, fromHook }: Extract<Entry, { type: "compaction" | "branch_summary" }>) {
  return {
    summary,
    fromHook: fromHook ?? false,
    ...(isJson(details) ? { details } : {}),
    ...(isObject(usage) ? { usage: wholeUsage(usage) } : {}),
  };
}

function wholeUsage(usage: Record<string, unknown>): PiUsage {
  return { ...NO_USAGE, ...usage, cost: { ...NO_USAGE.cost, ...(isObject(usage.cost) ? usage.cost : {}) } };
}

/** The message of an entry, with the fields that pi requires. A message that was kept whole comes back unchanged. */
export function messageOf(entry: Extract<Entry, { type: "message" | "custom_message" }>): PiMessage {
  const message = entry.type === "message" ? entry.message : hostMessage(entry);
  const whole = toPiMessage(message, entry.createdAtMs);
  return isPiMessage(whole) ? whole : { role: "user", content: "", timestamp: entry.createdAtMs };
}

function isPiMessage(value: object): value is PiMessage {
  return "role" in value;
}

function hostMessage(entry: Extract<Entry, { type: "custom_message" }>): Record<string, unknown> {
  const { customType, content, display, details } = entry;
  return {
    role: "custom",
    customType,
    content,
    ...(display === undefined ? {} : { display }),
    ...(details === undefined ? {} : { details }),
  };
}
