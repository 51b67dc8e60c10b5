import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseArguments,
  stringAt,
  toDataBlock,
  toForeignBlock,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import {
  compactionPayload,
  foreignPayload,
  hiddenPayload,
  messagePayload,
  replyPayload,
  resultPayload,
  toText,
  userPayload,
} from "../source/payloads.js";

/** The starts of a user prompt with which co-cli replaces earlier messages; only the first one has a summary in it. */
const SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY]";
const PLACEHOLDER = "[CONTEXT COMPACTION — STATIC MARKER]";
const TODOS = "[ACTIVE TODOS — PRESERVED ACROSS CONVERSATION COMPACTION]";

/** The payload of a part of a request. */
export function requestPayload(part: JsonObject): JsonObject {
  const { content } = part;
  switch (part.part_kind) {
    case "system-prompt":
      if (typeof content === "string") return messagePayload({ role: "system", content });
      break;
    case "user-prompt":
      if (typeof content === "string") return promptPayload(content);
      if (Array.isArray(content)) return userPayload(content.map(promptBlock));
      break;
    case "tool-return":
      return toResult(part, content, part.outcome !== undefined && part.outcome !== "success");
    case "retry-prompt":
      return typeof part.tool_name === "string" ? toResult(part, content, true) : hiddenPayload("co-cli.retry", toText(content));
  }
  return foreignPayload(part, stringAt(part, "part_kind") ?? "unknown");
}

function promptPayload(content: string): JsonObject {
  if (content.startsWith(SUMMARY) || content.startsWith(PLACEHOLDER))
    return { ...compactionPayload({ summary: summaryOf(content) }), "co-cli": { prompt: content } };
  return content.startsWith(TODOS) ? hiddenPayload("co-cli.todos", content) : userPayload(content);
}

/** The summary between the sentences around it; the whole prompt if they are others. The bound keeps the pattern linear. */
function summaryOf(prompt: string): string {
  return /The summary covers [^\n]{0,500}\n\n([\s\S]*?)(?:\n\nRecent messages are preserved verbatim\.)?$/.exec(prompt)?.[1] ?? prompt;
}

function promptBlock(part: unknown): JsonObject {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isObject(part)) return toForeignBlock(part);
  const [url, data, mediaType] = [stringAt(part, "url"), stringAt(part, "data"), stringAt(part, "media_type")];
  const text = stringAt(part, "text") ?? (part.kind === "text" ? stringAt(part, "content") : undefined);
  if (text !== undefined) return { type: "text", text };
  // pydantic writes bytes in the URL form of base64.
  const base64 = data?.replace(/-/g, "+").replace(/_/g, "/");
  const [block] = base64 === undefined ? toDataBlock(url ?? "") : toDataBlock(`data:${mediaType ?? ""};base64,${base64}`);
  return block ?? { ...toForeignBlock(part), originalType: stringAt(part, "kind") ?? "unknown" };
}

function toResult(part: JsonObject, content: unknown, isError: boolean): JsonObject {
  const toolName = stringAt(part, "tool_name");
  const details = without(part, ["part_kind", "tool_name", "tool_call_id", "content", "timestamp", "outcome"]);
  const toolCallId = stringAt(part, "tool_call_id") ?? toolName ?? "unknown";
  const hasDetails = Object.values(details).some((value) => value !== null);
  return resultPayload({ toolCallId, toolName, content: toText(content), isError, details: hasDetails ? details : {} });
}

/** The reply of a response. */
export function responsePayload(response: JsonObject): JsonObject {
  const parts = Array.isArray(response.parts) ? response.parts : [];
  const [model, provider, stopReason] = ["model_name", "provider_name", "finish_reason"].map((name) => stringAt(response, name));
  const usage = toUsage(objectAt(response, "usage") ?? {});
  return replyPayload({ content: parts.map(replyBlock), provider, model, usage, stopReason });
}

function replyBlock(part: unknown): JsonObject {
  if (!isObject(part)) return toForeignBlock(part);
  const { content } = part;
  switch (part.part_kind) {
    case "text":
      if (typeof content === "string") return { type: "text", text: content };
      break;
    case "thinking":
      if (typeof content === "string")
        return withoutUndefined({ type: "thinking", thinking: content, thinkingSignature: stringAt(part, "signature") });
      break;
    case "tool-call": {
      const [id, name] = [stringAt(part, "tool_call_id"), stringAt(part, "tool_name")];
      if (id !== undefined && name !== undefined) return { type: "toolCall", id, name, arguments: parseArguments(part.args) };
      break;
    }
  }
  return { ...toForeignBlock(part), originalType: stringAt(part, "part_kind") ?? "unknown" };
}

/** The counts of pydantic-ai, old and new names; those of the prompt include the cached tokens. */
function toUsage(usage: JsonObject): JsonObject {
  return {
    input_tokens: numberAt(usage, "input_tokens") ?? numberAt(usage, "request_tokens"),
    output_tokens: numberAt(usage, "output_tokens") ?? numberAt(usage, "response_tokens"),
    total_tokens: usage.total_tokens,
    input_tokens_details: { cached_tokens: usage.cache_read_tokens, cache_write_tokens: usage.cache_write_tokens },
  };
}
