import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import { isObject } from "../../entry/json.js";
import type { ProviderOptions } from "../../entry/provider-options.js";
import { leaveOutThinking, THINKING_OPTIONS, type ThinkingOptions } from "../bound-thinking.js";
import type { SessionContext } from "../context.js";
import type {
  AiSdkAssistantPart,
  AiSdkFilePart,
  AiSdkImagePart,
  AiSdkJson,
  AiSdkMessage,
  AiSdkPrompt,
  AiSdkProviderOptions,
  AiSdkReasoningPart,
  AiSdkResultPart,
  AiSdkTextPart,
  AiSdkToolOutput,
  AiSdkToolResultPart,
} from "./ai-sdk-messages.js";
import { compactionBlocks } from "./native-items.js";
import {
  type ContentPart,
  type ProjectedCall,
  type ProjectedFile,
  type ProjectedReply,
  type ProjectedResult,
  type ProjectedThinking,
  plainText,
  type ReplyPart,
  toTextOrImage,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";

/**
 * A context as `system` and `messages` of the AI SDK (version 6 and 7).
 *
 * Provider options are given back: Google's thought signatures, OpenAI's ids and encrypted reasoning, Anthropic's signatures. They
 * have the name of their provider, and each provider reads only its own. Files are sent as such, JSON outputs as JSON, and
 * what only a page shows (sources, data parts) is left out. Signed thinking whose prefix changed is left out where the model checks it.
 * A compaction that Anthropic wrote is the SDK's part for it, without a signature, which the SDK drops; a signed one, and those of other
 * providers, are sent as the text of their summary. A result with images or files has no error flag. A call at the end that
 * was approved and has not run is sent with its approval, so that the SDK runs it.
 *
 * @example
 * await generateText({ model, ...toAiSdk(context) });
 */
export function toAiSdk(context: SessionContext, options: ThinkingOptions = {}): AiSdkPrompt {
  checkArgument("context", context, SESSION_CONTEXT);
  checkArgument("options", options, THINKING_OPTIONS);
  const system = systemText(context);
  const messages: AiSdkMessage[] = [];
  const compacted = toCompactionMessage(compactionBlocks(context, options.model ?? context.model));
  const projected = projectMessages(leaveOutThinking(context, options, compacted !== undefined).messages);
  for (const [at, message] of projected.entries()) {
    if (at === 0 && compacted !== undefined) messages.push(compacted);
    else if (message.role === "user") messages.push(...toUserMessages(message.parts));
    else messages.push(...toReplyMessages(at === projected.length - 1 ? message : withoutApprovals(message)));
  }
  return system === undefined ? { messages } : { system, messages };
}

/** A compaction block as `@ai-sdk/anthropic` reads and sends it; undefined: there is none, or the SDK would drop its signature. */
function toCompactionMessage(blocks: ReturnType<typeof compactionBlocks>): AiSdkMessage | undefined {
  const [block, ...others] = blocks ?? [];
  if (block === undefined || others.length > 0 || typeof block["signature"] === "string") return undefined;
  return { role: "assistant", content: [{ type: "text", text: block.content, providerOptions: { anthropic: { type: "compaction" } } }] };
}

function toUserMessages(parts: readonly ContentPart[]): readonly AiSdkMessage[] {
  const sent = parts.filter((part) => !isOnlyShown(part));
  return sent.length === 0 ? [] : [{ role: "user", content: sent.map(toUserPart) }];
}

/** True if a part is for a page only: the AI SDK does not send these either. */
function isOnlyShown(part: ContentPart): boolean {
  return part.type === "foreign" && /^(data-|source)/.test(part.originalType);
}

function toUserPart(part: ContentPart): AiSdkTextPart | AiSdkImagePart | AiSdkFilePart {
  if (part.type === "file") return toFilePart(part);
  const known = toTextOrImage(part);
  return known.type === "text" ? toTextPart(known) : { type: "image", image: known.data, mediaType: known.mediaType, ...optionsOf(known) };
}

function toTextPart(part: { readonly text: string; readonly providerOptions?: ProviderOptions }): AiSdkTextPart {
  return { type: "text", text: part.text, ...optionsOf(part) };
}

function toFilePart(file: ProjectedFile): AiSdkFilePart {
  const { mediaType, data, url, filename } = file;
  return {
    type: "file",
    data: data ?? new URL(url ?? ""),
    mediaType,
    ...(filename === undefined ? {} : { filename }),
    ...optionsOf(file),
  };
}

/** The provider options of a part. Payloads are JSON, so the members of the options are. */
function optionsOf({ providerOptions }: { readonly providerOptions?: ProviderOptions }): { providerOptions?: AiSdkProviderOptions } {
  return providerOptions !== undefined && isSdkOptions(providerOptions) ? { providerOptions } : {};
}

function isSdkOptions(options: ProviderOptions): options is AiSdkProviderOptions {
  return Object.values(options).every(isObject);
}

/** The SDK runs approved calls of the last reply only. */
function withoutApprovals(answer: ProjectedReply): ProjectedReply {
  return { ...answer, parts: answer.parts.map((part) => (part.type === "call" ? { ...part, approved: undefined } : part)) };
}

function toReplyMessages(answer: ProjectedReply): readonly AiSdkMessage[] {
  const calls = answer.parts.filter((part) => part.type === "call");
  const inReply = new Set(calls.filter(({ providerExecuted }) => providerExecuted === true).map(({ id }) => id));
  const approved = new Map(calls.flatMap(({ id, approved: given }) => (given === undefined ? [] : [[id, given] as const])));
  const own = answer.parts.flatMap((part) => [...toReplyPart(part, answer.isAnthropic), ...ownResult(part, answer, inReply)]);
  // An interrupted reply; Anthropic rejects one that ends with thinking.
  if (own.every((part) => part.type === "reasoning")) return [];
  const requests = [...approved].map(([toolCallId, { id, signature }]) => ({
    type: "tool-approval-request" as const,
    approvalId: id,
    toolCallId,
    ...(signature === undefined ? {} : { signature }),
  }));
  const results = answer.results
    .filter(({ callId }) => !inReply.has(callId))
    .map((result) => approvalOf(result, approved) ?? toResultPart(result));
  const reply: AiSdkMessage = { role: "assistant", content: [...own, ...requests] };
  return results.length === 0 ? [reply] : [reply, { role: "tool", content: results }];
}

type ApprovalResponse = Extract<Extract<AiSdkMessage, { role: "tool" }>["content"][number], { type: "tool-approval-response" }>;
type Approved = ReadonlyMap<string, NonNullable<ProjectedCall["approved"]>>;

/** The approval in the place of the result of a call that has not run. */
function approvalOf({ callId }: ProjectedResult, approved: Approved): ApprovalResponse | undefined {
  const given = approved.get(callId);
  if (given === undefined) return undefined;
  const { id: approvalId, reason } = given;
  return { type: "tool-approval-response", approvalId, approved: true, ...(reason === undefined ? {} : { reason }) };
}

/** The result of a call that the provider ran, which stands behind the call in the same message. */
function ownResult(part: ReplyPart, { results }: ProjectedReply, inReply: ReadonlySet<string>): readonly AiSdkToolResultPart[] {
  if (part.type !== "call" || !inReply.has(part.id)) return [];
  return results.filter(({ callId }) => callId === part.id).map(toResultPart);
}

function toReplyPart(part: ReplyPart, isAnthropic: boolean): readonly AiSdkAssistantPart[] {
  switch (part.type) {
    case "text":
      return [toTextPart(part)];
    case "image":
      return [{ type: "file", data: part.data, mediaType: part.mediaType, ...optionsOf(part) }];
    case "thinking":
      return toReasoning(part, isAnthropic);
    case "call":
      return [toCallPart(part)];
    case "file":
      return [toFilePart(part)];
    case "foreign":
      return [];
  }
}

function toCallPart(call: ProjectedCall): AiSdkAssistantPart {
  const { id: toolCallId, name: toolName, input, providerExecuted } = call;
  return {
    type: "tool-call",
    toolCallId,
    toolName,
    input,
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...optionsOf(call),
  };
}

function toReasoning(part: ProjectedThinking, isAnthropic: boolean): readonly AiSdkReasoningPart[] {
  const options = optionsOf(part).providerOptions;
  const signed = isAnthropic ? part.signature : undefined;
  if (signed !== undefined) {
    const own = part.redacted ? { redactedData: signed } : { signature: signed };
    const providerOptions = { ...options, anthropic: { ...options?.["anthropic"], ...own } };
    return [{ type: "reasoning", text: part.redacted ? "" : part.thinking, providerOptions }];
  }
  if (options !== undefined) return [{ type: "reasoning", text: part.thinking, providerOptions: options }];
  return part.redacted || part.thinking.trim() === "" ? [] : [{ type: "reasoning", text: part.thinking }];
}

function toResultPart(result: ProjectedResult): AiSdkToolResultPart {
  const { callId: toolCallId, toolName } = result;
  return { type: "tool-result", toolCallId, toolName, output: toOutput(result), ...optionsOf(result) };
}

function toOutput({ parts, isError, outputType, denied }: ProjectedResult): AiSdkToolOutput {
  const isText = parts.every(({ type }) => type === "text" || type === "foreign");
  if (!isText) return { type: "content", value: parts.map(toOutputPart) };
  const value = plainText(parts);
  if (denied === true) return { type: "execution-denied", reason: value };
  const json = outputType === "json" ? parseJson(value) : undefined;
  if (json !== undefined) return { type: isError ? "error-json" : "json", value: json };
  return { type: isError ? "error-text" : "text", value };
}

/** undefined: compaction has shortened the text, so that it is no JSON any more. */
function parseJson(text: string): AiSdkJson | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toOutputPart(part: ContentPart): AiSdkResultPart {
  if (part.type === "file") return { ...toOutputFile(part), ...optionsOf(part) };
  const known = toTextOrImage(part);
  const options = optionsOf(known);
  if (known.type === "text") return { type: "text", text: known.text, ...options };
  return { type: "image-data", data: known.data, mediaType: known.mediaType, ...options };
}

function toOutputFile({ data, url = "", mediaType, filename }: ProjectedFile): AiSdkResultPart {
  if (data === undefined) return { type: mediaType.startsWith("image/") ? "image-url" : "file-url", url };
  return { type: "file-data", data, mediaType, ...(filename === undefined ? {} : { filename }) };
}
