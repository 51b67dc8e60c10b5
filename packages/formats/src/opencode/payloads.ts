import { stopReasonOf } from "@bough/session-core";
import {
  isObject,
  isProviderOptions,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseJson,
  parseTime,
  stringAt,
  tryStringify,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import { resultPayload } from "../source/payloads.js";

/** The text that opencode sends in place of a tool's output that it has cleared from the context. */
export const CLEARED = "[Old tool result content cleared]";

/** The block of a part of a user message; undefined: it has none. */
export function toUserBlock(part: JsonObject): JsonObject | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: stringAt(part, "text") ?? "" };
    case "file":
      return toFileBlock(part);
    case "agent":
    case "subtask":
      return { type: "foreign", originalType: part.type, raw: part };
  }
  return undefined;
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,;]+)*;base64,([A-Za-z0-9+/]*={0,2})$/;

/** A file of a message or of a tool's output. A local path is kept as it is: no provider can load it. */
function toFileBlock(part: JsonObject): JsonObject {
  const [url, mediaType, filename] = [stringAt(part, "url") ?? "", stringAt(part, "mime") ?? "", stringAt(part, "filename")];
  const name = filename === undefined ? {} : { filename };
  const [, type, data] = DATA_URL.exec(url) ?? [];
  if (type?.startsWith("image/") === true) return { type: "image", data, mimeType: type, ...name };
  if (type !== undefined) return { type: "file", data, mediaType: type, ...name };
  if (/^https?:\S+$/i.test(url) && /^[\w.+-]+\/[\w.+*-]+$/.test(mediaType)) return { type: "file", url, mediaType, ...name };
  return { type: "foreign", originalType: "file", raw: part };
}

/** The block of a part of a reply; undefined: it has none. */
export function toReplyBlock(part: JsonObject): JsonObject | undefined {
  switch (part.type) {
    case "text":
      return stringAt(part, "text") ? { type: "text", text: part.text, ...providerOptions(part.metadata) } : undefined;
    case "reasoning":
      return toThinking(part);
    case "file":
      return toFileBlock(part);
    case "tool":
      return toToolCall(part);
  }
  return undefined;
}

function toThinking(part: JsonObject): JsonObject | undefined {
  const metadata = objectAt(part, "metadata") ?? {};
  const anthropic = objectAt(metadata, "anthropic") ?? {};
  const rest = without(anthropic, ["signature", "redactedData"]);
  const others = Object.keys(rest).length === 0 ? without(metadata, ["anthropic"]) : { ...metadata, anthropic: rest };
  const redacted = stringAt(anthropic, "redactedData");
  const signature = redacted ?? stringAt(anthropic, "signature");
  const text = stringAt(part, "text") ?? "";
  if (text === "" && Object.keys(metadata).length === 0) return undefined;
  return withoutUndefined({
    ...{ type: "thinking", thinking: text, thinkingSignature: signature },
    ...{ redacted: redacted === undefined ? undefined : true, ...providerOptions(others) },
  });
}

function providerOptions(metadata: unknown): JsonObject {
  return isObject(metadata) && Object.keys(metadata).length > 0 && isProviderOptions(metadata) ? { providerOptions: metadata } : {};
}

/** True if a part is a tool call of the known shape. */
export function isToolPart(part: JsonObject): boolean {
  return part.type === "tool" && typeof part.callID === "string" && typeof part.tool === "string" && isObject(part.state);
}

function toToolCall(part: JsonObject): JsonObject | undefined {
  if (!isToolPart(part)) return undefined;
  const state = objectAt(part, "state") ?? {};
  const raw = stringAt(state, "raw") ?? "";
  const input = isObject(state.input) && Object.keys(state.input).length > 0 ? state.input : parseJson(raw);
  const unreadable = raw === "" && state.input !== undefined && !isObject(state.input) ? (tryStringify(state.input) ?? "") : raw;
  const given = isObject(input) ? input : unreadable === "" ? {} : { unreadable };
  return { type: "toolCall", id: part.callID, name: part.tool, arguments: given, ...providerOptions(part.metadata) };
}

/**
 * Divides the parts of a reply into steps: a model's next step starts after the results of its calls. Old versions keep several
 * steps in one message. Steps without content are left out.
 */
export function toSteps<T extends { readonly value: JsonObject }>(parts: readonly T[]): readonly (readonly T[])[] {
  const isMarked = parts.some(({ value }) => value.type === "step-start");
  const steps: T[][] = [[]];
  for (const part of parts) {
    const step = steps.at(-1) ?? [];
    const begins = isMarked ? part.value.type === "step-start" : part.value.type === "text" || part.value.type === "reasoning";
    if (begins && step.some(({ value }) => value.type === "tool")) steps.push([part]);
    else step.push(part);
  }
  return steps.filter((step) => step.some(({ value }) => toReplyBlock(value) !== undefined));
}

/** Returns the time of a tool's result, in milliseconds since 1970; undefined: the part has no result yet. */
export function resultTime(part: JsonObject): number | undefined {
  const state = objectAt(part, "state") ?? {};
  if (!isToolPart(part) || !["completed", "success", "error"].includes(stringAt(state, "status") ?? "")) return undefined;
  const time = objectAt(state, "time") ?? {};
  return parseTime(time.end) ?? parseTime(time.start) ?? 0;
}

/** The result of a tool call that has ended. */
export function toToolResult(part: JsonObject): JsonObject {
  const state = objectAt(part, "state") ?? {};
  const isError = state.status === "error";
  const text = isError ? state.error : state.output;
  const content = [
    { type: "text", text: typeof text === "string" ? text : (tryStringify(text) ?? "") },
    ...objectsAt(state, "attachments").map(toFileBlock),
  ];
  const details = without(state, ["status", "input", "raw", "time", "attachments", isError ? "error" : "output"]);
  return resultPayload({ toolCallId: String(part.callID), toolName: String(part.tool), content, isError, details });
}

/** The usage of a reply or of one of its steps: `tokens` and `cost`. */
export function usageOf(record: JsonObject): JsonObject {
  const tokens = objectAt(record, "tokens") ?? {};
  const cache = objectAt(tokens, "cache") ?? {};
  const [input, cacheRead, cacheWrite] = [count(tokens, "input"), count(cache, "read"), count(cache, "write")];
  const [total, reasoning] = [count(tokens, "total"), count(tokens, "reasoning")];
  const output = withReasoning(
    count(tokens, "output"),
    reasoning,
    total === undefined ? undefined : total - sum(input, cacheRead, cacheWrite),
  );
  const cost = count(record, "cost");
  if (sum(input, output, cacheRead, cacheWrite, cost) === 0) return {};
  const costs = cost === undefined ? undefined : { total: cost };
  return { usage: withoutUndefined({ input, output, cacheRead, cacheWrite, totalTokens: total, reasoning, cost: costs }) };
}

/** Adds the thinking to the output where it is counted apart, as by versions after 1.1: then the rest of the total is the sum of both. */
function withReasoning(output: number | undefined, reasoning = 0, rest?: number): number | undefined {
  return output !== undefined && rest === output + reasoning ? rest : output;
}

function sum(...values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

function count(object: JsonObject, key: string): number | undefined {
  const value = numberAt(object, key);
  return value !== undefined && value >= 0 ? value : undefined;
}

/** The members for the end of a reply, from `finish` and `error`. Empty while opencode writes it. */
export function endOf(info: JsonObject): JsonObject {
  const error = objectAt(info, "error");
  if (error === undefined) return typeof info.finish === "string" ? { stopReason: stopReasonOf(info.finish) } : {};
  const name = stringAt(error, "name") ?? "error";
  const message = stringAt(objectAt(error, "data") ?? {}, "message") ?? name;
  return { stopReason: name === "MessageAbortedError" ? "aborted" : "error", errorMessage: message };
}

/** The provider and the model of a message; in old versions they are in `model`. */
export function modelOf(info: JsonObject): JsonObject {
  const model = objectAt(info, "model") ?? info;
  const [provider, id] = [stringAt(model, "providerID"), stringAt(model, "modelID")];
  return withoutUndefined({ provider, model: id });
}
