import { isObject } from "../../entry/json.js";
import type { AssistantMessage, ToolCallBlock, ToolResultMessage } from "../../entry/message.js";
import type { NativeCompaction } from "../../entry/native-compaction.js";
import type { ContextMessage, SessionContext } from "../context.js";
import { promptContent } from "../message-body.js";
import { matchResults, NO_RESULT } from "../tool-pairs.js";
import {
  apiMembersOf,
  type ContentPart,
  optionsOf,
  type ProjectedCall,
  type ProjectedMessage,
  type ProjectedReply,
  type ProjectedResult,
  projectContent,
  projectReplyBlock,
  projectText,
  type ReplyPart,
} from "./projected-message.js";
import { createCallIdMapper, sanitizeToolName, toWellFormedJson } from "./sanitize.js";
import { EMPTY_FAILURE, EMPTY_RESULT } from "./templates.js";

/**
 * Projects the messages of a context to user messages and replies.
 *
 * The result has no blank texts, no empty messages, no lone surrogates, and one result after each call, in any order of the
 * context. Replies without content, such as those that failed at once, are left out.
 *
 * @example
 * projectMessages(context.messages).map((message) => message.role); // ["user", "assistant", "user"]
 */
export function projectMessages(messages: readonly ContextMessage[]): readonly ProjectedMessage[] {
  const matched = matchResults(messages, "close");
  const drawId = createCallIdMapper();
  return messages.flatMap((message, index) => {
    const results = (matched.get(index) ?? []).map((at) => resultAt(messages, at));
    return projectOne(message, results, drawId);
  });
}

function resultAt(messages: readonly ContextMessage[], at: number | undefined): ToolResultMessage | undefined {
  const message = at === undefined ? undefined : messages[at];
  return message?.role === "toolResult" ? message : undefined;
}

function projectOne(
  message: ContextMessage,
  results: readonly (ToolResultMessage | undefined)[],
  drawId: (given: string) => string,
): readonly ProjectedMessage[] {
  if (message.role === "assistant") return projectReply(message, results, drawId);
  if (message.role === "toolResult") return []; // part of the reply with its call
  const content = promptContent(message);
  const native = message.role === "compactionSummary" ? message.native : undefined;
  return content === null ? [] : toUserMessages(projectContent(content), native);
}

function toUserMessages(parts: readonly ContentPart[], native: NativeCompaction | undefined): readonly ProjectedMessage[] {
  return parts.length === 0 ? [] : [{ role: "user", parts, ...(native === undefined ? {} : { native }) }];
}

function projectReply(
  message: AssistantMessage,
  results: readonly (ToolResultMessage | undefined)[],
  drawId: (given: string) => string,
): readonly ProjectedReply[] {
  const parts: ReplyPart[] = [];
  const answers: ProjectedResult[] = [];
  for (const block of message.content) {
    if (block.type !== "toolCall") {
      parts.push(...projectReplyBlock(block));
      continue;
    }
    const result = results[answers.length];
    const call = { ...projectCall(block, drawId), ...(hasRun(result) ? {} : approvedMember(block)) };
    parts.push(call);
    answers.push(projectResult(call, result));
  }
  if (parts.length === 0) return [];
  const { provider, stopReason } = message;
  const responseId = typeof message["responseId"] === "string" ? message["responseId"] : undefined;
  const isAnthropic = isFromAnthropic(message);
  return [{ role: "assistant", provider, isAnthropic, responseId, isPaused: stopReason === "pause_turn", parts, results: answers }];
}

/** True if Anthropic's API wrote a reply: Anthropic's own, or that of a cloud that serves Claude. */
function isFromAnthropic({ provider = "", model = "" }: AssistantMessage): boolean {
  return provider === "anthropic" || (/anthropic|bedrock|vertex|azure|foundry/i.test(provider) && /claude/i.test(model));
}

function hasRun(result: ToolResultMessage | undefined): boolean {
  return result !== undefined && result["synthetic"] !== true;
}

function approvedMember({ approval }: ToolCallBlock): Pick<ProjectedCall, "approved"> {
  if (!isObject(approval) || approval["approved"] !== true || typeof approval["id"] !== "string") return {};
  const { id, signature, reason } = approval;
  return {
    approved: { id, ...(typeof signature === "string" ? { signature } : {}), ...(typeof reason === "string" ? { reason } : {}) },
  };
}

function projectCall(block: ToolCallBlock, drawId: (given: string) => string): ProjectedCall {
  const own = block["providerExecuted"] === true ? { providerExecuted: true } : {};
  const options = optionsOf(block);
  return {
    type: "call",
    id: drawId(block.id),
    name: sanitizeToolName(block.name),
    input: toInput(block.arguments),
    ...own,
    ...options,
    ...apiMembersOf(block),
  };
}

// Stored arguments are not validated again, and other programs stored texts and null.
function toInput(given: unknown): Readonly<Record<string, unknown>> {
  const input = toWellFormedJson(given);
  return isObject(input) ? input : {};
}

function projectResult(call: ProjectedCall, result: ToolResultMessage | undefined): ProjectedResult {
  const shared = { callId: call.id, toolName: call.name };
  if (result === undefined) return { ...shared, isError: true, parts: projectText(NO_RESULT) };
  const parts = projectContent(result.content);
  const stand = projectText(result.isError ? EMPTY_FAILURE : EMPTY_RESULT);
  return { ...shared, isError: result.isError, parts: parts.length === 0 ? stand : parts, ...marksOf(result), ...optionsOf(result) };
}

function marksOf({ outputType, denied }: ToolResultMessage): Pick<ProjectedResult, "outputType" | "denied"> {
  return { ...(outputType === "json" ? { outputType } : {}), ...(denied === true ? { denied } : {}) };
}

/** The system text without lone surrogates; undefined if it is missing or blank. */
export function systemText(context: SessionContext): string | undefined {
  return context.system === null || context.system.trim() === "" ? undefined : context.system.toWellFormed();
}
