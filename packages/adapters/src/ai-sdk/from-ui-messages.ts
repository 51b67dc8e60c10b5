import { isDeepStrictEqual } from "node:util";
import { type AssistantBlock, assistantMessage, type ContentBlock, type Entry, type EntryInput, userMessage } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isObject, validateEntry } from "@bough/session-core/wire";
import type { UIMessage } from "ai";
import { callBlock, fileBlock, shownBlock, textBlock, thinkingBlock, toJson } from "./blocks.js";
import { providerOf } from "./step-entries.js";
import { toUiMessages, type UiPart } from "./to-ui-messages.js";
import { resultEntry } from "./tool-output.js";

const UI_MESSAGES = rules.list(
  rules.record({ id: rules.TEXT, role: rules.TEXT, parts: rules.list(rules.record({ type: rules.TEXT }), "an array of parts") }),
  "an array of UI messages",
);

/**
 * Messages of a chat page (`UIMessage[]`) as entries to append: an entry for each user message and for each step of an answer, and
 * one for each result of a tool. The first entry has the id of its message. Nothing is lost: `toUiMessages` of the stored entries
 * gives the same messages; parts that blocks cannot represent (unfinished input, data of an unknown kind) are stored as they are
 * beside them. Validate messages of a client with `validateUIMessages` first.
 *
 * @throws {InvalidArgumentError} `messages` is not an array of UI messages.
 * @example
 * const entries = fromUiMessages(await validateUIMessages({ messages }));
 * await session.append(entries);
 */
export function fromUiMessages(messages: readonly UIMessage[]): EntryInput[] {
  rules.checkArgument("messages", messages, UI_MESSAGES);
  return messages.flatMap((message, at) => complete(message, messages[at - 1]?.role === "assistant"));
}

/** The entries of a message; with the message as it is if they alone would not give it back. */
function complete(message: UIMessage, followsReply: boolean): EntryInput[] {
  const plain = toEntries(message, followsReply);
  const [restored] = toUiMessages(plain.map(asEntry));
  const given = { ...message, parts: message.parts };
  if (isDeepStrictEqual(toJson(restored), toJson(given))) return plain;
  const { metadata, parts } = message;
  return plain.map((entry, at) => (at === 0 ? withFields(entry, { ui: toJson({ parts, metadata }) }) : entry));
}

function asEntry(entry: EntryInput, seq: number): Entry {
  return { ...validateEntry(entry).payload, id: entry.id ?? `entry-${seq}`, seq, parentId: null, createdAtMs: 0 };
}

function withFields(entry: EntryInput, fields: object): EntryInput {
  return entry.type === "message" ? { ...entry, message: { ...entry.message, ...fields } } : entry;
}

function toEntries({ id, role, parts, metadata }: UIMessage, followsReply: boolean): EntryInput[] {
  const fields = {
    ...(metadata === undefined ? {} : { metadata: toJson(metadata) }),
    ...(followsReply && role === "assistant" ? { startsMessage: true } : {}),
  };
  const entries = role === "assistant" ? stepsOf(parts).flatMap(stepEntries) : [spokenEntry(role, parts)];
  return entries.map((entry, at) => (at === 0 ? { ...withFields(entry, fields), id } : entry));
}

function spokenEntry(role: UIMessage["role"], parts: readonly UiPart[]): EntryInput {
  if (role === "user") return userMessage(parts.map(contentBlock));
  const texts = parts.flatMap((part) => (part.type === "text" ? [textBlock(part.text, part.providerMetadata)] : []));
  return { type: "message", message: { role: "system", content: texts } };
}

/** The parts of each step; always at least one step. */
function stepsOf(parts: readonly UiPart[]): readonly (readonly UiPart[])[] {
  const steps: UiPart[][] = [[]];
  for (const [at, part] of parts.entries()) {
    if (part.type !== "step-start") steps.at(-1)?.push(part);
    else if (at > 0) steps.push([]);
  }
  return steps;
}

function stepEntries(parts: readonly UiPart[]): EntryInput[] {
  const blocks = parts.flatMap(replyBlock);
  const provider = providerOf(undefined, blocks);
  const stopReason = blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return [assistantMessage(blocks, { stopReason, ...(provider === undefined ? {} : { provider }) }), ...parts.flatMap(toolResultOf)];
}

function contentBlock(part: UiPart): ContentBlock {
  if (part.type === "text") return textBlock(part.text, part.providerMetadata);
  if (part.type !== "file") return shownBlock(part);
  const { url, mediaType, filename, providerMetadata: metadata } = part;
  return fileBlock(url, mediaType, { filename, metadata });
}

type ToolPart = Extract<UiPart, { readonly toolCallId: string }>;

function isToolPart(part: UiPart): part is ToolPart {
  return "toolCallId" in part;
}

function toolNameOf(part: ToolPart): string {
  return part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
}

function replyBlock(part: UiPart): readonly AssistantBlock[] {
  if (part.type === "reasoning") return [thinkingBlock(part.text, part.providerMetadata)];
  if (!isToolPart(part)) return [contentBlock(part)];
  // The input is not complete: no call yet.
  if (part.state === "input-streaming") return [];
  const { toolCallId, input, callProviderMetadata, approval } = part;
  const call = callBlock({
    ...part,
    toolName: toolNameOf(part),
    toolCallId,
    input,
    dynamic: part.type === "dynamic-tool",
    providerMetadata: callProviderMetadata,
  });
  return [approval === undefined ? call : { ...call, approval: toJson(approval) }];
}

function toolResultOf(part: UiPart): EntryInput[] {
  if (!isToolPart(part)) return [];
  const { toolCallId, providerExecuted } = part;
  const shared = { toolCallId, toolName: toolNameOf(part), providerExecuted };
  switch (part.state) {
    case "output-available":
      return [resultEntry({ ...shared, raw: { value: part.output }, providerMetadata: part.resultProviderMetadata })];
    case "output-error":
      return [
        resultEntry({ ...shared, output: { type: "error-text", value: part.errorText }, providerMetadata: part.resultProviderMetadata }),
      ];
    case "output-denied":
      return [resultEntry({ ...shared, output: { type: "execution-denied", ...reasonOf(part.approval) } })];
    default:
      return [];
  }
}

function reasonOf(approval: unknown): { readonly reason?: string } {
  const reason = isObject(approval) ? approval["reason"] : undefined;
  return typeof reason === "string" ? { reason } : {};
}
