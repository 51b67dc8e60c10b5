import type { AssistantBlock, ContentBlock, EntryInput } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import type { ModelMessage } from "ai";
import { callBlock, fileBlock, optionsMember, shownBlock, textBlock, thinkingBlock, thinkingFileBlock } from "./blocks.js";
import { providerOf, replyEntries } from "./step-entries.js";
import { resultEntry } from "./tool-output.js";

const MESSAGES = rules.list(rules.record({ role: rules.TEXT }), "an array of messages");

/**
 * Messages of the AI SDK (`ModelMessage[]`) as entries to append: an entry for each message, and one for each tool result. Provider
 * options of parts, files and JSON outputs are kept; `toAiSdk` of the stored entries gives the same messages, with texts as parts,
 * without blank texts, and with a result for each call. Options of a whole message, such as a cache mark, are stored, but not sent
 * again. A model message has no usage, stop reason or model: to record a running agent use `recordSteps`. Pure.
 *
 * @throws {InvalidArgumentError} `messages` is not an array of messages.
 * @example
 * const entries = fromAiSdk(await convertToModelMessages(uiMessages));
 * await session.append(entries);
 */
export function fromAiSdk(messages: readonly ModelMessage[]): EntryInput[] {
  rules.checkArgument("messages", messages, MESSAGES);
  return messages.flatMap(toEntries);
}

function toEntries(message: ModelMessage): EntryInput[] {
  const options = optionsMember(message.providerOptions);
  switch (message.role) {
    case "system":
      return [{ type: "message", message: { role: "system", content: message.content, ...options } }];
    case "user": {
      const content = typeof message.content === "string" ? message.content : message.content.map(userBlock);
      return [{ type: "message", message: { role: "user", content, ...options } }];
    }
    case "assistant":
      return assistantEntries(message.content, options);
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [resultOf(part)] : []));
  }
}

type UserPart = Exclude<Extract<ModelMessage, { role: "user" }>["content"], string>[number];

function userBlock(part: UserPart): ContentBlock {
  switch (part.type) {
    case "text":
      return textBlock(part.text, part.providerOptions);
    case "image":
      return fileBlock(part.image, part.mediaType ?? "image", { metadata: part.providerOptions });
    case "file":
      return fileBlock(part.data, part.mediaType, { filename: part.filename, metadata: part.providerOptions });
  }
}

type AssistantContent = Extract<ModelMessage, { role: "assistant" }>["content"];
type AssistantPart = Exclude<AssistantContent, string>[number];
/** The parts that version 7 added: content of a kind of the provider's own, and files of its thinking. */
type LaterPart =
  | { readonly type: "custom"; readonly kind: string }
  | {
      readonly type: "reasoning-file";
      readonly data: unknown;
      readonly mediaType: string;
      readonly providerOptions?: Extract<AssistantPart, { type: "file" }>["providerOptions"];
    };

function assistantEntries(content: AssistantContent, options: object): EntryInput[] {
  const parts: readonly AssistantPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const blocks = parts.flatMap(assistantBlock);
  const stopReason = blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  const provider = providerOf(undefined, blocks);
  // Results of tools that the provider ran are in its reply.
  const results = parts.flatMap((part) => (part.type === "tool-result" ? [resultOf(part, true)] : []));
  return [...replyEntries(blocks, { stopReason, ...(provider === undefined ? {} : { provider }), ...options }), ...results];
}

function assistantBlock(part: AssistantPart | LaterPart): readonly AssistantBlock[] {
  switch (part.type) {
    case "text":
      return [textBlock(part.text, part.providerOptions)];
    case "reasoning":
      return [thinkingBlock(part.text, part.providerOptions)];
    case "file":
      return [fileBlock(part.data, part.mediaType, { filename: part.filename, metadata: part.providerOptions })];
    case "tool-call":
      return [callBlock({ ...part, providerMetadata: part.providerOptions })];
    case "reasoning-file":
      return [thinkingFileBlock(part.data, part.mediaType, part.providerOptions)];
    case "custom":
    case "tool-approval-request":
      return [shownBlock(part)];
    case "tool-result":
      return [];
  }
}

type ToolResultPart = Extract<AssistantPart, { type: "tool-result" }>;

function resultOf({ toolCallId, toolName, output, providerOptions }: ToolResultPart, providerExecuted = false) {
  return resultEntry({ toolCallId, toolName, output, providerExecuted, providerMetadata: providerOptions });
}
