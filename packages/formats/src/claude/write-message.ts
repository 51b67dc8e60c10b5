import type { AssistantMessage, CustomMessage, Message, ToolResultMessage, Usage } from "@bough/session-core";
import { bashExecutionText, isObject, type JsonObject, without, withoutUndefined } from "@bough/session-core/wire";
import { ATTACHED, attachmentRecord } from "./attachments.js";
import { META, QUEUED } from "./record-kind.js";
import { type CallIds, toClaudeContent, toClaudeReply } from "./write-blocks.js";

/** The ids of the transcript around a message that its conversion needs. */
export interface TranscriptIds {
  /** The id of a call that is made here: another one if an earlier reply has it. */
  readonly newCall: CallIds;
  /** The id of the last call with this id. */
  readonly lastCall: CallIds;
  /** The `message.id` of a reply: another one if an earlier reply has it, because Claude Code merges replies with one id. */
  readonly reply: (responseId: string | undefined) => string;
}

/**
 * The members of the record of a message: its type, the message, and marks. undefined: Claude Code has no record for it. A system message
 * has none, because Claude Code writes its own.
 */
export function toClaudeRecord(message: Message, ids: TranscriptIds): JsonObject | undefined {
  switch (message.role) {
    case "system":
      return undefined;
    case "user":
      return userRecord(toClaudeContent(message.content));
    case "assistant":
      return replyRecord(message, ids);
    case "toolResult":
      return resultRecord(message, ids);
    case "bashExecution":
      return message.excludeFromContext === true ? undefined : metaRecord(bashExecutionText(message));
    case "custom":
      return customRecord(message);
  }
}

function userRecord(content: unknown, marks: JsonObject = {}): JsonObject {
  return { type: "user", message: { role: "user", content }, ...marks };
}

/** A text for the model that is not the user's. */
export function metaRecord(content: unknown): JsonObject {
  return userRecord(content, { isMeta: true });
}

function resultRecord({ toolCallId, content, isError, details }: ToolResultMessage, ids: TranscriptIds): JsonObject {
  const result = { type: "tool_result", tool_use_id: ids.lastCall(toolCallId), content: toClaudeContent(content) };
  const block = isError ? { ...result, is_error: true } : result;
  return userRecord([block], details === undefined ? {} : { toolUseResult: details });
}

// Messages that Claude Code's importer made get their record back; others become texts that the terminal does not show.
function customRecord({ customType, content, details }: CustomMessage): JsonObject {
  const written = toClaudeContent(content);
  if (customType === QUEUED.customType)
    return { type: "attachment", attachment: { type: "queued_command", prompt: written, ...(isObject(details) ? details : {}) } };
  if (customType === ATTACHED.customType && isObject(details)) return attachmentRecord(details, written);
  return customType.startsWith("claude.") && customType !== META.customType ? userRecord(written) : metaRecord(written);
}

function replyRecord(message: AssistantMessage, ids: TranscriptIds): JsonObject {
  const { responseId, model, usage, stopReason, errorMessage } = message;
  const content = toClaudeReply(message, ids.newCall);
  const isFailure = stopReason === "error" && content.length === 0 && errorMessage !== undefined && errorMessage !== "";
  const cost = usage?.cost?.total;
  return {
    type: "assistant",
    message: {
      id: ids.reply(typeof responseId === "string" ? responseId : undefined),
      type: "message",
      role: "assistant",
      model: model ?? "<synthetic>",
      content: isFailure ? [{ type: "text", text: errorMessage }] : content,
      stop_reason: STOP_REASONS.get(stopReason ?? "") ?? stopReason ?? null,
      stop_sequence: null,
      usage: toClaudeUsage(usage, message.provider === "anthropic"),
    },
    ...(isFailure || isOnlyError(message) ? { isApiErrorMessage: true } : {}),
    ...(cost === undefined ? {} : { costUSD: cost }),
  };
}

/** Claude Code writes a failed request as a reply whose text is the error. */
function isOnlyError({ stopReason, errorMessage, content }: AssistantMessage): boolean {
  const texts = content.map((block) => (block.type === "text" ? block.text : undefined));
  return stopReason === "error" && texts.length > 0 && texts.join("") === errorMessage;
}

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["toolUse", "tool_use"],
  ["contentFilter", "content_filter"],
]);

const OURS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"];

function toClaudeUsage(usage: Usage | undefined, isOwn: boolean): JsonObject {
  const { input = 0, output = 0, cacheRead, cacheWrite } = usage ?? {};
  return {
    ...{ input_tokens: input, ...withoutUndefined({ cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead }) },
    output_tokens: output,
    ...(isOwn ? without(usage ?? {}, OURS) : {}),
  };
}
