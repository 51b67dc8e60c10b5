import { Buffer } from "node:buffer";
import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import { optionsFor } from "../../entry/provider-options.js";
import { leaveOutThinking, THINKING_OPTIONS, type ThinkingOptions } from "../bound-thinking.js";
import type { SessionContext } from "../context.js";
import type {
  AnthropicAssistantBlock,
  AnthropicCompactionBlock,
  AnthropicDocumentBlock,
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicPrompt,
  AnthropicRawBlock,
  AnthropicRedactedThinkingBlock,
  AnthropicTextBlock,
  AnthropicThinkingBlock,
  AnthropicUserBlock,
} from "./anthropic-messages.js";
import { compactionBlocks } from "./native-items.js";
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
 * `foreign` (documents, server tools) are sent back unchanged, and members of blocks that Bough does not know. A compaction that Anthropic
 * wrote is sent first and unchanged to its model; other models get its summary as text.
 *
 * Newer models bind signed thinking to what stands before it, and reject it once that has changed. For them the thinking of another
 * model and that of `context.staleThinking` is left out.
 *
 * `Message`: the type of a message in the SDK that sends it. No version of the SDK has the type of every block that the API has returned, so
 * the compiler does not compare the two.
 *
 * @example
 * await anthropic.messages.create({ model, max_tokens: 8192, ...toAnthropic<Anthropic.MessageParam>(context) });
 */
export function toAnthropic<Message = AnthropicMessage>(context: SessionContext, options?: ThinkingOptions): AnthropicPrompt<Message>;
// `ReturnType<typeof toAnthropic>` takes the last overload.
export function toAnthropic(context: SessionContext, options?: ThinkingOptions): AnthropicPrompt;
export function toAnthropic(context: SessionContext, options: ThinkingOptions = {}): AnthropicPrompt {
  checkArgument("context", context, SESSION_CONTEXT);
  checkArgument("options", options, THINKING_OPTIONS);
  const system = systemText(context);
  const model = options.model ?? context.model;
  const compacted = compactionBlocks(context, model);
  const projected = projectMessages(leaveOutThinking(context, options, compacted !== undefined).messages);
  const start: readonly AnthropicMessage[] =
    compacted === undefined ? [] : [{ role: "assistant", content: compacted.map(toCompactionBlock) }];
  const rest = projected.slice(start.length);
  const joined = mergeSameRole([...start, ...rest.flatMap((message, at) => toMessages(message, rest[at + 1]))]);
  const paused = projected.at(-1);
  const kept = paused?.role === "assistant" && paused.isPaused ? joined.at(-1) : undefined;
  // Merged again, because the removal may leave a reply empty.
  const messages: AnthropicMessage[] = ensureUserFirst(
    mergeSameRole(joined.map((message) => (message === kept ? message : removeUnpairedServerTools(message)))),
  );
  const last = messages.at(-1);
  if (last?.role === "assistant") trimLastText(last.content);
  return system === undefined ? { messages } : { system, messages };
}

/** The API returns `encrypted_content: null` and rejects it. Everything else is sent as it came. */
function toCompactionBlock(given: AnthropicCompactionBlock): AnthropicCompactionBlock {
  const { encrypted_content, ...block } = given;
  return encrypted_content === null ? block : given;
}

function toMessages(message: ProjectedMessage, next: ProjectedMessage | undefined): readonly AnthropicMessage[] {
  if (message.role === "user") return [{ role: "user", content: message.parts.map(toUserBlock) }];
  const content = message.parts.flatMap((part) => toReplyBlocks(part, message));
  if (!isContinued(message, next)) endReply(content, next);
  if (message.results.length === 0) return [{ role: "assistant", content }];
  return [
    { role: "assistant", content },
    { role: "user", content: toResultBlocks(message.results) },
  ];
}

/** True if the next message is the rest of this reply. One whose id is unknown may be: some programs store each block by itself. */
function isContinued({ responseId, isPaused }: ProjectedReply, next: ProjectedMessage | undefined): boolean {
  if (next?.role !== "assistant") return false;
  return isPaused || responseId === undefined || next.responseId === undefined || responseId === next.responseId;
}

/**
 * Removes what the API rejects at the end of a reply: thinking (of an interrupted one), and white space of a text that the next reply
 * continues. It depends only on the reply and whether another one follows it, so that later requests repeat this one.
 */
function endReply(content: AnthropicAssistantBlock[], next: ProjectedMessage | undefined): void {
  while (isThinking(content.at(-1))) content.pop();
  if (next?.role !== "user") trimLastText(content);
}

/** Removes the white space at the end of a reply: the API rejects it at the end of a request. */
function trimLastText(content: AnthropicAssistantBlock[]): void {
  const last = content.at(-1);
  if (last?.type === "text") content[content.length - 1] = { ...last, text: last.text.trimEnd() };
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

function isThinking(block: AnthropicAssistantBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

function ensureUserFirst(messages: AnthropicMessage[]): AnthropicMessage[] {
  const [first] = messages;
  return first?.role === "assistant" && first.content[0]?.type !== "compaction"
    ? [{ role: "user", content: [{ type: "text", text: OPENING }] }, ...messages]
    : messages;
}

function toReplyBlocks(part: ReplyPart, reply: ProjectedReply): readonly AnthropicAssistantBlock[] {
  const isOwn = reply.isAnthropic;
  const more = isOwn && "apiMembers" in part ? part.apiMembers : undefined;
  switch (part.type) {
    case "text":
      return [{ ...more, ...toTextBlock(part) }];
    case "file":
      return [{ type: "text", text: plainText([part]) }];
    case "call":
      return [{ ...more, type: "tool_use", id: part.id, name: part.name, input: part.input }];
    case "thinking":
      return toThinkingBlocks(part, isOwn).map((block) => ({ ...more, ...block }));
    case "foreign":
      return isOwn ? [toRawAssistantBlock(part)].filter((block) => block !== undefined) : [];
    case "image":
      return []; // the API accepts no images from the assistant
  }
}

// The AI SDK keeps the signature in the options of the provider.
function toThinkingBlocks(part: ProjectedThinking, isOwn: boolean): readonly (AnthropicThinkingBlock | AnthropicRedactedThinkingBlock)[] {
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
function removeUnpairedServerTools(message: AnthropicMessage): AnthropicMessage {
  if (message.role === "user") return message;
  const { content } = message;
  const callIds = new Set(content.flatMap((block) => (isServerUse(block) ? [block["id"]] : [])));
  const resultIds = new Set(content.flatMap((block) => (isServerResultBlock(block) ? [block["tool_use_id"]] : [])));
  const paired = content.filter((block) => {
    if (isServerUse(block)) return resultIds.has(block["id"]);
    return !isServerResultBlock(block) || callIds.has(block["tool_use_id"]);
  });
  while (isThinking(paired.at(-1))) paired.pop();
  return { role: "assistant", content: paired };
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
