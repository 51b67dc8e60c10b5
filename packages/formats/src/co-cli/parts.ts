import { stopReasonOf } from "@bough/session-core";
import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseArguments,
  stringAt,
  toDataBlock,
  toForeignBlock,
  toOwnUsage,
  tryStringify,
  without,
} from "@bough/session-core/wire";

/** The starts of a user prompt with which co-cli replaces earlier messages; only the first one has a summary in it. */
const SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY]";
const PLACEHOLDER = "[CONTEXT COMPACTION — STATIC MARKER]";
const TODOS = "[ACTIVE TODOS — PRESERVED ACROSS CONVERSATION COMPACTION]";

/** The payload of a part of a request. */
export function requestPayload(part: JsonObject): JsonObject {
  const { content } = part;
  switch (part.part_kind) {
    case "system-prompt":
      if (typeof content === "string") return toEntry({ role: "system", content });
      break;
    case "user-prompt":
      if (typeof content === "string") return promptPayload(content);
      if (Array.isArray(content)) return toEntry({ role: "user", content: content.map(promptBlock) });
      break;
    case "tool-return":
      return toEntry(toResult(part, content, part.outcome !== undefined && part.outcome !== "success"));
    case "retry-prompt":
      if (typeof part.tool_name === "string") return toEntry(toResult(part, content, true));
      return toEntry({ role: "custom", customType: "co-cli.retry", display: false, content: textOf(content) });
  }
  return { type: "foreign", originalType: stringAt(part, "part_kind") ?? "unknown", raw: part };
}

function toEntry(message: JsonObject): JsonObject {
  return { type: "message", message };
}

function promptPayload(content: string): JsonObject {
  if (content.startsWith(SUMMARY) || content.startsWith(PLACEHOLDER))
    return { type: "compaction", summary: summaryOf(content), firstKeptEntryId: null, "co-cli": { prompt: content } };
  if (content.startsWith(TODOS)) return toEntry({ role: "custom", customType: "co-cli.todos", display: false, content });
  return toEntry({ role: "user", content });
}

/** The summary between the sentences around it; the whole prompt if they are others. */
function summaryOf(prompt: string): string {
  return /The summary covers [^\n]*\n\n([\s\S]*?)(?:\n\nRecent messages are preserved verbatim\.)?$/.exec(prompt)?.[1] ?? prompt;
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
  return {
    role: "toolResult",
    toolCallId: stringAt(part, "tool_call_id") ?? toolName ?? "unknown",
    ...(toolName === undefined ? {} : { toolName }),
    content: textOf(content),
    isError,
    ...(Object.values(details).every((value) => value === null) ? {} : { details }),
  };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : content === undefined || content === null ? "" : (tryStringify(content) ?? "");
}

/** The reply of a response. */
export function replyPayload(response: JsonObject): JsonObject {
  const parts = Array.isArray(response.parts) ? response.parts : [];
  const [model, provider, reason] = ["model_name", "provider_name", "finish_reason"].map((name) => stringAt(response, name));
  const usage = objectAt(response, "usage");
  return toEntry({
    role: "assistant",
    content: parts.map(replyBlock),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage: toUsage(usage) }),
    ...(reason === undefined ? {} : { stopReason: stopReasonOf(reason) }),
  });
}

function replyBlock(part: unknown): JsonObject {
  if (!isObject(part)) return toForeignBlock(part);
  const { content } = part;
  switch (part.part_kind) {
    case "text":
      if (typeof content === "string") return { type: "text", text: content };
      break;
    case "thinking":
      if (typeof content === "string") return { type: "thinking", thinking: content, ...signatureOf(part) };
      break;
    case "tool-call": {
      const [id, name] = [stringAt(part, "tool_call_id"), stringAt(part, "tool_name")];
      if (id !== undefined && name !== undefined) return { type: "toolCall", id, name, arguments: parseArguments(part.args) };
      break;
    }
  }
  return { ...toForeignBlock(part), originalType: stringAt(part, "part_kind") ?? "unknown" };
}

function signatureOf(part: JsonObject): JsonObject {
  const signature = stringAt(part, "signature");
  return signature === undefined ? {} : { thinkingSignature: signature };
}

/** The counts of pydantic-ai, old and new names; those of the prompt include the cached tokens. */
function toUsage(usage: JsonObject): JsonObject {
  return toOwnUsage(
    {
      input_tokens: numberAt(usage, "input_tokens") ?? numberAt(usage, "request_tokens"),
      output_tokens: numberAt(usage, "output_tokens") ?? numberAt(usage, "response_tokens"),
      total_tokens: usage.total_tokens,
      input_tokens_details: { cached_tokens: usage.cache_read_tokens, cache_write_tokens: usage.cache_write_tokens },
    },
    "usage",
  );
}
