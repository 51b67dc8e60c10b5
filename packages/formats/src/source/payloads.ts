import type { EntryId } from "@bough/session-core";
import { stopReasonOf } from "@bough/session-core";
import {
  type JsonObject,
  numberAt,
  stringAt,
  toDataBlock,
  toForeignBlock,
  toOwnUsage,
  tryStringify,
  withoutUndefined,
} from "@bough/session-core/wire";

// Payloads of entries as the readers of logs make them. Members that a record does not have are left out.

/** The content of a message: a text or blocks. */
type Content = string | readonly JsonObject[];

/** `message`: a member that is undefined is left out. */
export function messagePayload(message: JsonObject): JsonObject {
  return { type: "message", message: withoutUndefined(message) };
}

/** The payload with what its record has no other place for, under the name of the program; without such, the payload itself. */
export function withOthers(payload: JsonObject, program: string, others: JsonObject): JsonObject {
  return Object.keys(others).length === 0 ? payload : { ...payload, [program]: others };
}

export function userPayload(content: Content, more: JsonObject = {}): JsonObject {
  return messagePayload({ role: "user", content, ...more });
}

/** A text that the program wrote into the conversation for the model: it is in the context, and no title and no prompt of the user. */
export function hiddenPayload(customType: string, content: Content, more: JsonObject = {}): JsonObject {
  return messagePayload({ role: "custom", customType, display: false, content, ...more });
}

/**
 * The member of a message of a program that says which files the program read for it, such as those that the user mentioned: as calls of
 * a tool with these arguments. Empty: there is none.
 */
export function programReads(inputs: readonly JsonObject[]): JsonObject {
  return inputs.length === 0 ? {} : { nestedCalls: { calls: inputs.map((input) => ({ name: "read", arguments: input, status: "ok" })) } };
}

/** A record that is about the session and not in the context. */
export function notePayload(customType: string, data: unknown): JsonObject {
  return { type: "custom", customType, data };
}

export function foreignPayload(record: JsonObject, type = stringAt(record, "type")): JsonObject {
  return { type: "foreign", originalType: type === undefined || type === "" ? "unknown" : type, raw: record };
}

/** The parts of a reply. */
export interface ReplyParts {
  readonly content: readonly JsonObject[];
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** In the names of any provider. One without a known count is left out. */
  readonly usage?: JsonObject | undefined;
  /** In the words of any provider. */
  readonly stopReason?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly responseId?: string | undefined;
}

export function replyPayload({ content, provider, model, usage = {}, stopReason, errorMessage, responseId }: ReplyParts): JsonObject {
  const hasCounts = Object.values(usage).some((count) => typeof count === "number");
  const reason = stopReason === undefined ? undefined : stopReasonOf(stopReason);
  return messagePayload({
    ...{ role: "assistant", content, provider, model: model || undefined },
    usage: hasCounts ? toOwnUsage(usage, "usage") : undefined,
    stopReason: errorMessage === undefined ? reason : "error",
    ...{ errorMessage, responseId },
  });
}

/** The parts of a tool's result. */
export interface ResultParts {
  readonly toolCallId: string;
  readonly toolName?: string | undefined;
  readonly content: Content;
  readonly isError: boolean;
  readonly details?: JsonObject | undefined;
}

export function resultPayload({ toolCallId, toolName, content, isError, details = {} }: ResultParts): JsonObject {
  const known = Object.keys(details).length === 0 ? undefined : details;
  return messagePayload({ role: "toolResult", toolCallId, toolName, content, isError, details: known });
}

/** The entries that a compaction keeps: all from the first one on, or those that are listed, null for the place of the summary. */
export interface KeptEntries {
  readonly firstKeptEntryId: EntryId | null;
  readonly keptEntryIds?: readonly (EntryId | null)[];
}

/** Keeps `before` in front of the summary of a compaction, and `after` behind it. */
export function keptEntries(before: readonly EntryId[], after: readonly EntryId[] = []): KeptEntries {
  const [first] = before;
  if (first === undefined) return { firstKeptEntryId: after[0] ?? null };
  return { firstKeptEntryId: first, keptEntryIds: [...before, null, ...after] };
}

/** The parts of a compaction. */
export interface CompactionParts {
  readonly summary: string;
  /** Default: none. */
  readonly kept?: KeptEntries;
  /** The size of the context before; anything but a count is left out. */
  readonly tokensBefore?: unknown;
  readonly tokensAfter?: unknown;
  readonly trigger?: string | undefined;
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly details?: JsonObject | undefined;
}

export function compactionPayload({ summary, kept, tokensBefore, tokensAfter, title, instructions, ...more }: CompactionParts): JsonObject {
  return withoutUndefined({
    ...{ type: "compaction", summary, ...(kept ?? { firstKeptEntryId: null }) },
    ...{ tokensBefore: toCount(tokensBefore), tokensAfter: toCount(tokensAfter) },
    ...{ title: title || undefined, instructions: instructions || undefined, ...more },
  });
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** A thought as a block; none without a text and a signature, which its provider wants back. */
export function thinkingBlocks(thinking: string | undefined, signature?: string): readonly JsonObject[] {
  if (!thinking && !signature) return [];
  return [withoutUndefined({ type: "thinking", thinking: thinking ?? "", thinkingSignature: signature || undefined })];
}

/** A text as a block; none for an empty one. */
export function textBlocks(text: string | undefined): readonly JsonObject[] {
  return text ? [{ type: "text", text }] : [];
}

/** A text, or the JSON of another value; empty for none. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : (tryStringify(value) ?? "");
}

/**
 * The content of a message that is a text, or a list of parts as OpenAI's API and those that follow it have them: texts, images as URLs.
 * Another part is a foreign block.
 */
export function toMediaContent(content: unknown): Content {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(toMediaBlock) : [];
}

function toMediaBlock(part: unknown): JsonObject {
  if (typeof part === "string") return { type: "text", text: part };
  if (typeof part !== "object" || part === null) return { ...toForeignBlock(part) };
  const block: JsonObject = { ...part };
  const text = stringAt(block, "text");
  if (text !== undefined && /^(?:input_|output_)?text$/.test(stringAt(block, "type") ?? "text")) return { type: "text", text };
  const [data, mimeType] = [stringAt(block, "data"), stringAt(block, "mimeType") ?? stringAt(block, "media_type")];
  const { image_url: given, imageUrl = given, url = imageUrl } = block;
  const address = typeof url === "object" && url !== null ? stringAt({ ...url }, "url") : typeof url === "string" ? url : undefined;
  const [found] = toDataBlock(address ?? (data !== undefined && mimeType !== undefined ? `data:${mimeType};base64,${data}` : ""));
  return found ?? { ...toForeignBlock(block) };
}

/** The members of `object` that are counts, under other names. `names`: theirs by ours. */
export function countsOf(object: JsonObject | undefined, names: Readonly<Record<string, string>>): JsonObject | undefined {
  if (object === undefined) return undefined;
  const counts = Object.entries(names).flatMap(([own, theirs]) => {
    const count = numberAt(object, theirs);
    return count === undefined ? [] : [[own, count] as const];
  });
  return counts.length === 0 ? undefined : Object.fromEntries(counts);
}
