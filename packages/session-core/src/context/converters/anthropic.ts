import { Buffer } from "node:buffer";
import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import { optionsFor } from "../../entry/provider-options.js";
import type { SessionContext } from "../context.js";
import type {
  AnthropicAssistantBlock,
  AnthropicDocumentBlock,
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicPrompt,
  AnthropicRawBlock,
  AnthropicRedactedThinkingBlock,
  AnthropicTextBlock,
  AnthropicUserBlock,
} from "./anthropic-messages.js";
import {
  type ContentPart,
  type ProjectedFile,
  type ProjectedForeign,
  type ProjectedImage,
  type ProjectedMessage,
  type ProjectedReply,
  type ProjectedResult,
  type ProjectedText,
  type ProjectedThinking,
  plainText,
  type ReplyPart,
  toTextOrImage,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";
import { toWellFormedJson } from "./sanitize.js";
import { FILES_FOLLOW, IMAGES_FOLLOW, OPENING } from "./templates.js";

/**
 * A context as `system` and `messages` of Anthropic's Messages API.
 *
 * Roles alternate, starting with `user`. All results of a reply are the first blocks of the user message after it. Thinking
 * that an Anthropic model signed is sent back unchanged; other thinking is left out. Blocks of the API that Bough stores as
 * `foreign` (documents, server tools) are sent back unchanged.
 *
 * @example
 * await anthropic.messages.create({ model, max_tokens: 8192, ...toAnthropic(context) });
 */
export function toAnthropic(context: SessionContext): AnthropicPrompt {
  checkArgument("context", context, SESSION_CONTEXT);
  const system = systemText(context);
  // Merged first, because a reply with only thinking may be the start of the next reply; merged again, because the removal
  // may leave a reply empty.
  const joined = mergeSameRole(projectMessages(context.messages).flatMap(toMessages)).map(removeRejectedBlocks);
  const messages = ensureUserFirst(mergeSameRole(joined)).map(trimLastText);
  return system === undefined ? { messages } : { system, messages };
}

function toMessages(message: ProjectedMessage): readonly AnthropicMessage[] {
  if (message.role === "user") return [{ role: "user", content: message.parts.map(toUserBlock) }];
  const content = message.parts.flatMap((part) => toReplyBlocks(part, message));
  if (message.results.length === 0) return [{ role: "assistant", content }];
  return [
    { role: "assistant", content },
    { role: "user", content: toResultBlocks(message.results) },
  ];
}

function mergeSameRole(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const joined: AnthropicMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.content.length === 0) continue;
    if (last?.role === "user" && message.role === "user") last.content.push(...message.content);
    else if (last?.role === "assistant" && message.role === "assistant") last.content.push(...message.content);
    else joined.push(message);
  }
  return joined;
}

function removeRejectedBlocks(message: AnthropicMessage): AnthropicMessage {
  if (message.role === "user") return message;
  const content = removeUnpairedServerTools(message.content);
  // The API rejects a reply that ends with thinking (an interrupted one).
  while (isThinking(content.at(-1))) content.pop();
  return { role: "assistant", content };
}

function isThinking(block: AnthropicAssistantBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

function ensureUserFirst(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  return messages[0]?.role === "assistant" ? [{ role: "user", content: [{ type: "text", text: OPENING }] }, ...messages] : messages;
}

// A request may end with a text of the assistant, to be continued, but the API rejects trailing white space.
function trimLastText(message: AnthropicMessage, at: number, all: readonly AnthropicMessage[]): AnthropicMessage {
  const last = message.content.at(-1);
  if (at < all.length - 1 || message.role === "user" || last?.type !== "text") return message;
  return { role: "assistant", content: [...message.content.slice(0, -1), { type: "text", text: last.text.trimEnd() }] };
}

function toReplyBlocks(part: ReplyPart, reply: ProjectedReply): readonly AnthropicAssistantBlock[] {
  const isOwn = reply.provider === "anthropic";
  switch (part.type) {
    case "text":
      return [toTextBlock(part)];
    case "file":
      return [{ type: "text", text: plainText([part]) }];
    case "call":
      return [{ type: "tool_use", id: part.id, name: part.name, input: part.input }];
    case "thinking":
      return toThinkingBlocks(part, isOwn);
    case "foreign":
      return isOwn ? [toRawAssistantBlock(part)].filter((block) => block !== undefined) : [];
    case "image":
      return []; // the API accepts no images from the assistant
  }
}

// The AI SDK keeps the signature in the options of the provider.
function toThinkingBlocks(part: ProjectedThinking, isOwn: boolean): readonly AnthropicAssistantBlock[] {
  const { thinking } = part;
  const options = optionsFor(part, "anthropic");
  const hidden = textIn(options, "redactedData") ?? (isOwn && part.redacted ? part.signature : undefined);
  if (hidden !== undefined) return [{ type: "redacted_thinking", data: hidden }];
  const signature = textIn(options, "signature") ?? (isOwn ? part.signature : undefined);
  // Without a signature it was interrupted, or is of another provider; the API rejects both.
  return signature === undefined || part.redacted ? [] : [{ type: "thinking", thinking, signature }];
}

function textIn(options: JsonObject | undefined, name: string): string | undefined {
  const value = options?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function toUserBlock(part: ContentPart): AnthropicTextBlock | AnthropicImageBlock | AnthropicDocumentBlock | AnthropicRawBlock {
  const own = part.type === "foreign" ? toRawUserBlock(part) : part.type === "file" ? toFileBlock(part) : undefined;
  if (own !== undefined) return own;
  const known = toTextOrImage(part);
  return known.type === "text" ? toTextBlock(known) : toImageBlock(known);
}

function toTextBlock({ text }: ProjectedText): AnthropicTextBlock {
  return { type: "text", text };
}

function toImageBlock(image: ProjectedImage): AnthropicImageBlock {
  return { type: "image", source: { type: "base64", media_type: image.mediaType, data: image.data } };
}

/** A document or an image by its URL; undefined: a file of a type that the API does not take. */
function toFileBlock({ mediaType, data, url, filename }: ProjectedFile): AnthropicDocumentBlock | AnthropicImageBlock | undefined {
  const isWeb = url !== undefined && /^https?:/i.test(url);
  const title = filename === undefined || filename.trim() === "" ? {} : { title: filename };
  if (isWeb && mediaType.startsWith("image/")) return { type: "image", source: { type: "url", url } };
  if (isWeb && mediaType === "application/pdf") return { type: "document", source: { type: "url", url }, ...title };
  if (data === undefined) return undefined;
  if (mediaType === "application/pdf") return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...title };
  if (!/^text\/|^application\/json$/.test(mediaType)) return undefined;
  const text = Buffer.from(data, "base64").toString("utf8").toWellFormed();
  return text.trim() === "" ? undefined : { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
}

// A failed result can contain only text, so its images and documents come after all results.
function toResultBlocks(results: readonly ProjectedResult[]): AnthropicUserBlock[] {
  const failed = results.filter((result) => result.isError).flatMap((result) => result.parts);
  return [...results.map(toResultBlock), ...failed.filter(isAttachment).map(toUserBlock)];
}

function isAttachment(part: ContentPart): boolean {
  return part.type === "image" || (part.type === "file" && toFileBlock(part) !== undefined);
}

function toResultBlock(result: ProjectedResult): AnthropicUserBlock {
  if (!result.isError) return { type: "tool_result", tool_use_id: result.callId, content: result.parts.map(toUserBlock) };
  const text = plainText(result.parts.filter((part) => !isAttachment(part)));
  const follows = result.parts.every(({ type }) => type === "image") ? IMAGES_FOLLOW : FILES_FOLLOW;
  const content: AnthropicTextBlock[] = [{ type: "text", text: text === "" ? follows : text }];
  return { type: "tool_result", tool_use_id: result.callId, content, is_error: true };
}

type Raw = Readonly<Record<string, unknown>>;

/** A block that the API accepts in a user message or a tool result: a document or a search result. */
function toRawUserBlock(part: ProjectedForeign): AnthropicRawBlock | undefined {
  const raw = toRaw(part.raw);
  if (raw?.["type"] === "document" && toRaw(raw["source"]) !== undefined) return { ...raw, type: "document" };
  if (raw?.["type"] === "search_result" && Array.isArray(raw["content"])) return { ...raw, type: "search_result" };
  return undefined;
}

/** A block that the API accepts in a reply: a call of a tool that Anthropic runs, its result, or redacted thinking. */
function toRawAssistantBlock(part: ProjectedForeign): AnthropicRawBlock | AnthropicRedactedThinkingBlock | undefined {
  const raw = toRaw(part.raw);
  const type = raw?.["type"];
  if (raw === undefined || typeof type !== "string") return undefined;
  if (type === "redacted_thinking") return typeof raw["data"] === "string" ? { type, data: raw["data"] } : undefined;
  if (type === "server_tool_use" || type === "mcp_tool_use") return typeof raw["id"] === "string" ? { ...raw, type } : undefined;
  return isServerResult(type) && typeof raw["tool_use_id"] === "string" ? { ...raw, type } : undefined;
}

function isServerResult(type: string): type is `${string}_tool_result` {
  return type.endsWith("_tool_result");
}

/**
 * Removes calls of server tools without a result, and results without a call: after a reply that was interrupted between
 * them, the API would reject every later request.
 */
function removeUnpairedServerTools(blocks: readonly AnthropicAssistantBlock[]): AnthropicAssistantBlock[] {
  const callIds = new Set(blocks.flatMap((block) => (isServerUse(block) ? [block["id"]] : [])));
  const resultIds = new Set(blocks.flatMap((block) => (isServerResultBlock(block) ? [block["tool_use_id"]] : [])));
  return blocks.filter((block) => {
    if (isServerUse(block)) return resultIds.has(block["id"]);
    return !isServerResultBlock(block) || callIds.has(block["tool_use_id"]);
  });
}

function isServerUse(block: AnthropicAssistantBlock): block is AnthropicRawBlock {
  return block.type === "server_tool_use" || block.type === "mcp_tool_use";
}

function isServerResultBlock(block: AnthropicAssistantBlock): block is AnthropicRawBlock {
  return isServerResult(block.type);
}

function toRaw(value: unknown): Raw | undefined {
  const raw = toWellFormedJson(value);
  return isObject(raw) ? raw : undefined;
}
