import type { Entry, EntryInput, EntryPayload, Message } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type {
  CustomEntry,
  MessageEntry,
  NewEntry,
  Entry as PiEntry,
  EntryType as PiEntryType,
  UsageRow,
} from "@earendil-works/pi-agent-core/harness/session";

/** A message of pi: one of a model, or one that an application defined. */
export type PiMessage = MessageEntry["message"];
/** Token counts and cost, every field present. */
export type PiUsage = UsageRow["usage"];

/** `customType` of a message that Bough's schema does not accept; `details.message` holds it unchanged. */
const OTHER_MESSAGE = "pi.message";

/** The usage of a session without a request. */
export const NO_USAGE: PiUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

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

function toMessagePayload(message: PiMessage): EntryInput {
  if (isBoughMessage(message)) return { type: "message", message };
  const content = "content" in message && typeof message.content === "string" ? message.content : "";
  return { type: "custom_message", customType: OTHER_MESSAGE, content, details: { message } };
}

// The types of blocks in pi's model messages. A message with other blocks is kept whole, because the store would refuse it.
const BLOCKS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  user: new Set(["text", "image"]),
  assistant: new Set(["text", "thinking", "toolCall", "image"]),
  toolResult: new Set(["text", "image"]),
  custom: new Set(["text", "image"]),
  system: new Set(["text"]),
};
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function isBoughMessage(message: unknown): message is Message {
  if (!isObject(message) || typeof message.role !== "string") return false;
  if (message.role === "bashExecution") return typeof message.command === "string" && typeof message.output === "string";
  if (message.role === "custom" && typeof message.customType !== "string") return false;
  const known = BLOCKS[message.role];
  if (known === undefined) return false;
  if (typeof message.content === "string") return message.role !== "assistant";
  return Array.isArray(message.content) && message.content.every((block) => isObject(block) && known.has(block.type) && isWhole(block));
}

function isWhole(block: Record<string, unknown>): boolean {
  switch (block.type) {
    case "image":
      return typeof block.data === "string" && BASE64.test(block.data) && /^image\/[\w.+-]+$/.test(String(block.mimeType));
    case "toolCall":
      return typeof block.id === "string" && typeof block.name === "string" && isObject(block.arguments);
    default:
      return true;
  }
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
  const kept =
    entry.type === "custom_message" && entry.customType === OTHER_MESSAGE && isObject(entry.details) ? entry.details.message : undefined;
  if (isObject(kept) && isPiMessage(kept)) return kept;
  const message = entry.type === "message" ? entry.message : hostMessage(entry);
  const whole = { timestamp: entry.createdAtMs, ...REQUIRED[String(message["role"])], ...withPiBlocks(message) };
  return isPiMessage(whole) ? whole : { role: "user", content: "", timestamp: entry.createdAtMs };
}

function isPiMessage(value: object): value is PiMessage {
  return "role" in value;
}

const REQUIRED: Readonly<Record<string, object>> = {
  assistant: { api: "unknown", provider: "unknown", model: "unknown", usage: NO_USAGE, stopReason: "stop" },
  toolResult: { toolName: "unknown", isError: false },
  custom: { display: true },
};

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

/** Blocks that pi does not know become texts that name their type: pi sends every other block as an image. */
function withPiBlocks(message: Record<string, unknown>): Record<string, unknown> {
  const known = BLOCKS[String(message.role)];
  const { content } = message;
  if (known === undefined || !Array.isArray(content)) return message;
  const isKnown = (block: unknown) => isObject(block) && known.has(block.type);
  if (content.every(isKnown)) return message;
  return { ...message, content: content.map((block) => (isKnown(block) ? block : { type: "text", text: `[${typeOf(block)}]` })) };
}

function typeOf(block: unknown): string {
  if (!isObject(block)) return "unknown";
  return String(block.originalType ?? block.type);
}
