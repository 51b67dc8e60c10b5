import { isObject, type JsonObject, without } from "../../entry/json.js";
import type { AssistantBlock, ContentBlock, FileBlock, ImageBlock, TextBlock, ThinkingBlock } from "../../entry/message.js";
import type { NativeCompaction } from "../../entry/native-compaction.js";
import { isProviderOptions, type ProviderOptions } from "../../entry/provider-options.js";
import { describeFile } from "../../entry/text.js";
import { toWellFormedJson } from "./sanitize.js";
import { blockPlaceholder, filePlaceholder } from "./templates.js";

/** Options that a part of any type may have. */
interface PartOptions {
  /** The options of the block, by provider. A converter sends those of its provider only. */
  readonly providerOptions?: ProviderOptions;
  /** Members of a block of Anthropic's API that Bough does not know. They are sent back to that API, because a reply is sent unchanged. */
  readonly apiMembers?: JsonObject;
}

/** Text that is not blank and has no lone surrogate. */
export interface ProjectedText extends PartOptions {
  readonly type: "text";
  readonly text: string;
}

/** An image of a type that every provider accepts. `data` is base64. */
export interface ProjectedImage extends PartOptions {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
}

/**
 * A file that is not an image of a type above, or an image by its URL: `data` is base64. It has exactly one of `data` and `url`.
 * `description` names it in a text where a provider does not take it.
 */
export interface ProjectedFile extends PartOptions {
  readonly type: "file";
  /** In lower case, without parameters, such as `application/pdf`; `image/*` if only the kind is known. */
  readonly mediaType: string;
  readonly data: string | undefined;
  readonly url: string | undefined;
  readonly filename: string | undefined;
  readonly description: string;
}

/** Thinking of a model, without lone surrogates. With a `signature`, which is opaque, it is unchanged. `redacted`: the provider hid the text. */
export interface ProjectedThinking extends PartOptions {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string | undefined;
  readonly redacted: boolean;
}

/** A tool call, with an id that every provider accepts and that is unique in the context. */
export interface ProjectedCall extends PartOptions {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The provider ran the tool itself. */
  readonly providerExecuted?: boolean;
  /** A person approved the call, and it has not run yet. */
  readonly approved?: { readonly id: string; readonly signature?: string; readonly reason?: string } | undefined;
}

/** A block of a type that Bough does not know. */
export interface ProjectedForeign {
  readonly type: "foreign";
  readonly originalType: string;
  readonly raw: unknown;
}

/** A part of a user message or a tool result. */
export type ContentPart = ProjectedText | ProjectedImage | ProjectedFile | ProjectedForeign;

/** A part of a reply. */
export type ReplyPart = ContentPart | ProjectedThinking | ProjectedCall;

/** The result of a tool call. `parts` is never empty. */
export interface ProjectedResult extends PartOptions {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
  /** The text of `parts` is JSON, unless it was shortened. */
  readonly outputType?: "json";
  /** The user denied the call. */
  readonly denied?: boolean;
}

/** A user message: user input, a custom message, a command, or a summary. */
interface ProjectedUserMessage {
  readonly role: "user";
  readonly parts: readonly ContentPart[];
  /** The provider's own form of the summary that `parts` says in words. */
  readonly native?: NativeCompaction | undefined;
}

/** A reply with exactly one result for each of its calls, in the order of the calls. */
export interface ProjectedReply {
  readonly role: "assistant";
  readonly provider: string | undefined;
  /** Anthropic's API wrote it, at Anthropic or at a provider that serves it. */
  readonly isAnthropic: boolean;
  /** The id of the response. Entries with the same id are parts of one response. */
  readonly responseId: string | undefined;
  /** The provider paused the turn: the next request continues the reply. */
  readonly isPaused: boolean;
  readonly parts: readonly ReplyPart[];
  readonly results: readonly ProjectedResult[];
}

/** A message in the form that all converters start from. */
export type ProjectedMessage = ProjectedUserMessage | ProjectedReply;

/** The parts of a content. Blank texts are left out, because Anthropic rejects them. */
export function projectContent(content: string | readonly ContentBlock[]): readonly ContentPart[] {
  return typeof content === "string" ? projectText(content) : content.flatMap(projectContentBlock);
}

function projectContentBlock(block: ContentBlock): readonly ContentPart[] {
  switch (block.type) {
    case "text":
      return projectTextBlock(block);
    case "image":
      return [projectImage(block)];
    case "file":
      return [projectFile(block)];
    case "foreign":
      return [{ type: "foreign", originalType: block.originalType, raw: block.raw }];
  }
}

/** The parts of a block of a reply that is not a tool call. */
export function projectReplyBlock(block: Exclude<AssistantBlock, { type: "toolCall" }>): readonly ReplyPart[] {
  return block.type === "thinking" ? projectThinking(block) : projectContentBlock(block);
}

function projectTextBlock(block: TextBlock): readonly ProjectedText[] {
  return projectText(block.text).map((part) => ({ ...part, ...optionsOf(block), ...apiMembersOf(block) }));
}

/** The provider options of a block as members of its part. A row that was changed by another program may have any value. */
export function optionsOf({ providerOptions }: { readonly providerOptions?: unknown }): PartOptions {
  if (providerOptions === undefined || !isProviderOptions(providerOptions)) return {};
  const sent = toWellFormedJson(providerOptions);
  return isProviderOptions(sent) ? { providerOptions: sent } : {};
}

// Members that other programs add to blocks are camelCase or one word; those of the API are known words or have an underscore.
const API_MEMBER = /^(?:caller|citations|[a-z]+(?:_[a-z0-9]+)+)$/;

/** The members of a block that Anthropic's API wrote and Bough does not know. `cache_control` belongs to requests. */
export function apiMembersOf(block: object): PartOptions {
  const members = Object.entries(block).filter(([name]) => API_MEMBER.test(name) && name !== "cache_control");
  if (members.length === 0) return {};
  const sent = toWellFormedJson(Object.fromEntries(members));
  return isObject(sent) ? { apiMembers: sent } : {};
}

/** The text as one part; none if it is blank. */
export function projectText(text: string): readonly ProjectedText[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

function projectThinking(block: ThinkingBlock): readonly ProjectedThinking[] {
  const { thinkingSignature, redacted = false } = block;
  const thinking = block.thinking.toWellFormed();
  // A signature holds for the unchanged text only. A text with a lone surrogate cannot be sent as it is, so it goes without its signature.
  const isSigned = (redacted || thinking === block.thinking) && thinkingSignature?.isWellFormed() !== false;
  const signature = isSigned && thinkingSignature !== "" ? thinkingSignature : undefined;
  const options = isSigned ? optionsOf(block) : withoutSignatures(optionsOf(block));
  if (thinking.trim() === "" && signature === undefined && options.providerOptions === undefined) return [];
  return [{ type: "thinking", thinking, signature, redacted, ...options, ...apiMembersOf(block) }];
}

// OpenAI's ids and encrypted reasoning stay: an item that follows its reasoning is rejected without it.
function withoutSignatures({ providerOptions = {} }: PartOptions): PartOptions {
  const left = Object.entries(providerOptions).map(([provider, options]) => [provider, without(options, ["signature"])] as const);
  const kept = left.filter(([, options]) => Object.keys(options).length > 0);
  return kept.length === 0 ? {} : { providerOptions: Object.fromEntries(kept) };
}

// The four types that OpenAI, Anthropic and Google all accept. With another one, this and every later request fails.
const MEDIA_TYPES: Readonly<Record<string, ProjectedImage["mediaType"]>> = {
  "image/png": "image/png",
  "image/jpeg": "image/jpeg",
  "image/jpg": "image/jpeg",
  "image/gif": "image/gif",
  "image/webp": "image/webp",
};

function projectImage(block: ImageBlock): ProjectedImage | ProjectedText {
  const mediaType = MEDIA_TYPES[block.mimeType.toLowerCase()];
  if (mediaType === undefined || block.data === "") return { type: "text", text: blockPlaceholder(`An image (${block.mimeType})`) };
  return { type: "image", data: block.data, mediaType, ...optionsOf(block) };
}

function projectFile(block: FileBlock): ProjectedFile | ProjectedImage | ProjectedText {
  const mediaType = (block.mediaType.split(";")[0] ?? "").trim().toLowerCase();
  const { data, url, filename } = block;
  const image = MEDIA_TYPES[mediaType];
  if (image !== undefined && data !== undefined && data !== "") return { type: "image", data, mediaType: image, ...optionsOf(block) };
  const description = describeFile(block).toWellFormed();
  // An image of another type is accepted by no provider, and an address without a valid host or port by no program.
  const isRejected = url === undefined ? mediaType.startsWith("image/") || (data ?? "") === "" : !URL.canParse(url);
  if (isRejected) return { type: "text", text: filePlaceholder(description) };
  return { type: "file", mediaType, data, url, filename: filename?.toWellFormed(), description, ...optionsOf(block) };
}

/** A part as a text or an image; a file and a foreign block become a text that names them. */
export function toTextOrImage(part: ContentPart): ProjectedText | ProjectedImage {
  switch (part.type) {
    case "text":
    case "image":
      return part;
    case "file":
      return { type: "text", text: filePlaceholder(part.description) };
    case "foreign":
      return { type: "text", text: blockPlaceholder(`A block of type ${part.originalType}`).toWellFormed() };
  }
}

/** The texts of the parts, joined by line breaks. Images are left out; files and foreign blocks are named. */
export function plainText(parts: readonly ContentPart[]): string {
  return parts
    .map(toTextOrImage)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}

/** The data URL of an image or a file, the form that OpenAI accepts. */
export function toDataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`;
}
