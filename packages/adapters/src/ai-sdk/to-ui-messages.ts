import {
  type AssistantBlock,
  type AssistantMessage,
  type ContentBlock,
  type Entry,
  type FileBlock,
  type ImageBlock,
  type Message,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isObject } from "@bough/session-core/wire";
import type { UIDataTypes, UIMessage, UIMessagePart, UITools } from "ai";
import { withApprovalAnswers } from "./approvals.js";
import { thinkingMetadata } from "./blocks.js";

/** A part of a UI message, with any tools and data. */
export type UiPart = UIMessagePart<UIDataTypes, UITools>;
/** A part before its type is checked. */
type LoosePart = Readonly<Record<string, unknown>> & { readonly type: string };

const ENTRIES = rules.list(rules.record({ type: rules.TEXT }), "an array of entries");

/**
 * A path of a session as the messages of a chat page (`UIMessage[]`), oldest first. The steps of an answer, with the results of
 * their tools, are one message; its id is that of its first entry. Entries that are no messages (compactions, branch summaries,
 * edits, data of the host) are left out: a page shows what was said. What `fromUiMessages` stored comes back as it was. Pure.
 *
 * @throws {InvalidArgumentError} `path` is not an array of entries.
 * @example
 * const messages = toUiMessages(await session.path());
 */
export function toUiMessages(path: readonly Entry[]): UIMessage[] {
  rules.checkArgument("path", path, ENTRIES);
  const entries = withApprovalAnswers(path);
  const results = resultsOf(entries);
  const groups: { readonly id: string; readonly messages: Message[] }[] = [];
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult" || message.role === "bashExecution" || message.role === "custom") continue;
    const last = groups.at(-1);
    const goesOn = message.role === "assistant" && last?.messages[0]?.role === "assistant" && message["startsMessage"] !== true;
    if (goesOn) last.messages.push(message);
    else groups.push({ id: entry.id, messages: [message] });
  }
  return groups.map(({ id, messages }) => toUiMessage(id, messages, results));
}

/** The results of the calls of each reply. Ids of calls may repeat in later replies. */
type Results = ReadonlyMap<Message, ReadonlyMap<string, ToolResultMessage>>;

function resultsOf(entries: readonly Entry[]): Results {
  const resultsByReply = new Map<Message, Map<string, ToolResultMessage>>();
  const callers = new Map<string, Map<string, ToolResultMessage>>();
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") callers.get(message.toolCallId)?.set(message.toolCallId, message);
    if (message.role !== "assistant") continue;
    const own = new Map<string, ToolResultMessage>();
    resultsByReply.set(message, own);
    for (const block of message.content) if (block.type === "toolCall") callers.set(block.id, own);
  }
  return resultsByReply;
}

function toUiMessage(id: string, messages: readonly Message[], results: Results): UIMessage {
  const [first] = messages;
  const stored = first?.["ui"];
  if (isUiContent(stored)) return { id, role: roleOf(first), ...stored };
  const metadata = first?.["metadata"];
  return {
    id,
    role: roleOf(first),
    ...(metadata === undefined ? {} : { metadata }),
    parts: messages.flatMap((one) => toParts(one, results)),
  };
}

function isUiContent(value: unknown): value is Pick<UIMessage, "parts" | "metadata"> {
  return isObject(value) && Array.isArray(value["parts"]);
}

function roleOf(message: Message | undefined): UIMessage["role"] {
  return message?.role === "assistant" || message?.role === "system" ? message.role : "user";
}

function toParts(message: Message, results: Results): UiPart[] {
  if (message.role === "assistant") return replyParts(message, results.get(message) ?? new Map());
  if (message.role !== "user" && message.role !== "system") return [];
  const { content } = message;
  const blocks: readonly ContentBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks.flatMap((block) => contentPart(block)).filter(isUiPart);
}

function replyParts({ content }: AssistantMessage, results: ReadonlyMap<string, ToolResultMessage>): UiPart[] {
  const parts = content.flatMap((block) => replyPart(block, results));
  return [{ type: "step-start" }, ...parts.filter(isUiPart)];
}

/** Parts are built from blocks whose members the gate has checked. */
function isUiPart(part: LoosePart): part is LoosePart & UiPart {
  return part.type !== "";
}

function replyPart(block: AssistantBlock, results: ReadonlyMap<string, ToolResultMessage>): readonly LoosePart[] {
  switch (block.type) {
    case "thinking":
      return [{ type: "reasoning", text: block.thinking, state: "done", ...metadataMember(thinkingMetadata(block)) }];
    case "toolCall":
      return [toolPart(block, results.get(block.id))];
    case "text":
      return [{ type: "text", text: block.text, state: "done", ...metadataMember(block.providerOptions) }];
    default:
      return contentPart(block);
  }
}

function contentPart(block: ContentBlock): readonly LoosePart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, ...metadataMember(block.providerOptions) }];
    case "image":
    case "file":
      return [filePart(block)];
    case "foreign":
      return isObject(block.raw) ? shownPart(block.originalType, block.raw) : [];
  }
}

function metadataMember(providerMetadata: object | undefined): { readonly providerMetadata?: object } {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

function filePart(block: ImageBlock | FileBlock): LoosePart {
  const mediaType = block.type === "image" ? block.mimeType : block.mediaType;
  const { filename } = block;
  const url = block.type === "file" && block.url !== undefined ? block.url : `data:${mediaType};base64,${block.data ?? ""}`;
  const name = typeof filename === "string" ? { filename } : {};
  return { type: "file", mediaType, ...name, url, ...metadataMember(block.providerOptions) };
}

/** Sources and data parts; other foreign blocks are not for a page. */
function shownPart(type: string, raw: Readonly<Record<string, unknown>>): readonly LoosePart[] {
  if (type.startsWith("data-") || type === "source-url" || type === "source-document") return [{ ...raw, type }];
  if (type !== "source") return [];
  const { type: _type, sourceType, id: sourceId, ...rest } = raw;
  return [{ type: sourceType === "document" ? "source-document" : "source-url", sourceId, ...rest }];
}

function toolPart(call: ToolCallBlock, result: ToolResultMessage | undefined): LoosePart {
  const { id: toolCallId, name, providerOptions } = call;
  const isDynamic = call["dynamic"] === true;
  const kept = ["title", "toolMetadata", "providerExecuted"].flatMap((member) =>
    call[member] === undefined ? [] : [[member, call[member]]],
  );
  return {
    ...(isDynamic ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` }),
    toolCallId,
    ...Object.fromEntries(kept),
    input: call.arguments,
    ...stateOf(call["approval"], result),
    ...(providerOptions === undefined ? {} : { callProviderMetadata: providerOptions }),
    ...(result?.providerOptions === undefined ? {} : { resultProviderMetadata: result.providerOptions }),
  };
}

function stateOf(approval: unknown, result: ToolResultMessage | undefined): Readonly<Record<string, unknown>> {
  const asked = isObject(approval) ? { approval } : {};
  const isAnswered = isObject(approval) && typeof approval["approved"] === "boolean";
  if (result === undefined) {
    if (!isObject(approval)) return { state: "input-available" };
    return { state: isAnswered ? "approval-responded" : "approval-requested", ...asked };
  }
  // A page that validates its messages accepts an answered approval only.
  const answered = isAnswered ? asked : {};
  if (result["denied"] === true) {
    const denied = isAnswered ? approval : { id: isObject(approval) ? approval["id"] : result.toolCallId, approved: false };
    return { state: "output-denied", approval: denied };
  }
  if (result.isError) return { state: "output-error", errorText: textOf(result.content), ...answered };
  return { state: "output-available", output: outputOf(result), ...answered };
}

function outputOf(result: ToolResultMessage): unknown {
  if (result["outputType"] === "details") return result.details;
  const text = textOf(result.content);
  if (result["outputType"] !== "json") return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
