import { stopReasonOf } from "@bough/session-core";
import { type JsonObject, numberAt, stringAt, toDataBlock, toForeignBlock, toOwnUsage, tryStringify } from "@bough/session-core/wire";

// Payloads of entries as the readers of logs make them. Members that a record does not have are left out.

/** The content of a message: a text or blocks. */
type Content = string | readonly JsonObject[];

export function messagePayload(message: JsonObject): JsonObject {
  return { type: "message", message };
}

export function userPayload(content: Content, more: JsonObject = {}): JsonObject {
  return messagePayload({ role: "user", content, ...more });
}

/** A text that the program wrote into the conversation for the model: it is in the context, and no title and no prompt of the user. */
export function hiddenPayload(customType: string, content: Content, more: JsonObject = {}): JsonObject {
  return messagePayload({ role: "custom", customType, display: false, content, ...more });
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

export function replyPayload({ content, provider, model, usage, stopReason, errorMessage, responseId }: ReplyParts): JsonObject {
  const counts =
    usage === undefined || !Object.values(usage).some((count) => typeof count === "number") ? undefined : toOwnUsage(usage, "usage");
  return messagePayload({
    ...{ role: "assistant", content },
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined || model === "" ? {} : { model }),
    ...(counts === undefined ? {} : { usage: counts }),
    ...(stopReason === undefined ? {} : { stopReason: stopReasonOf(stopReason) }),
    ...(errorMessage === undefined ? {} : { errorMessage, stopReason: "error" }),
    ...(responseId === undefined ? {} : { responseId }),
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
  return messagePayload({
    ...{ role: "toolResult", toolCallId },
    ...(toolName === undefined ? {} : { toolName }),
    ...{ content, isError },
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
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
