import type { AssistantBlock, ContentBlock, ImageBlock, ThinkingBlock } from "../../entry/message.js";
import { blockPlaceholder } from "./templates.js";

/** Text that is not blank and has no lone surrogate. */
interface ProjectedText {
  readonly type: "text";
  readonly text: string;
}

/** An image of a type that every provider accepts. `data` is base64. */
export interface ProjectedImage {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
}

/** Thinking of a model. `signature` is opaque; with one, `thinking` is unchanged. `redacted`: the provider hid the text. */
export interface ProjectedThinking {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string | undefined;
  readonly redacted: boolean;
}

/** A tool call, with an id that every provider accepts and that is unique in the context. */
export interface ProjectedCall {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A block of a type that Bough does not know. */
export interface ProjectedForeign {
  readonly type: "foreign";
  readonly originalType: string;
  readonly raw: unknown;
}

/** A part of a user message or a tool result. */
export type ContentPart = ProjectedText | ProjectedImage | ProjectedForeign;

/** A part of a reply. */
export type ReplyPart = ProjectedText | ProjectedImage | ProjectedThinking | ProjectedCall | ProjectedForeign;

/** The result of a tool call. `parts` is never empty. */
export interface ProjectedResult {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
}

/** A user message: user input, a custom message, a command, or a summary. */
interface ProjectedUserMessage {
  readonly role: "user";
  readonly parts: readonly ContentPart[];
}

/** A reply with exactly one result for each of its calls, in the order of the calls. */
export interface ProjectedReply {
  readonly role: "assistant";
  readonly provider: string | undefined;
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
      return projectText(block.text);
    case "image":
      return [projectImage(block)];
    case "foreign":
      return [{ type: "foreign", originalType: block.originalType, raw: block.raw }];
  }
}

/** The parts of a block of a reply that is not a tool call. */
export function projectReplyBlock(block: Exclude<AssistantBlock, { type: "toolCall" }>): readonly ReplyPart[] {
  return block.type === "thinking" ? projectThinking(block) : projectContentBlock(block);
}

/** The text as one part; none if it is blank. */
export function projectText(text: string): readonly ProjectedText[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

function projectThinking(block: ThinkingBlock): readonly ProjectedThinking[] {
  const { thinking, thinkingSignature: signature, redacted = false } = block;
  if (signature === undefined || signature === "") {
    return thinking.trim() === "" ? [] : [{ type: "thinking", thinking: thinking.toWellFormed(), signature: undefined, redacted }];
  }
  return [{ type: "thinking", thinking, signature, redacted }];
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
  return { type: "image", data: block.data, mediaType };
}

/** Replaces a foreign block by a text that names its type. */
export function replaceForeign(part: ContentPart): ProjectedText | ProjectedImage {
  return part.type === "foreign" ? { type: "text", text: blockPlaceholder(`A block of type ${part.originalType}`).toWellFormed() } : part;
}

/** The texts of the parts, joined by line breaks. Images are left out; foreign blocks are named. */
export function plainText(parts: readonly ContentPart[]): string {
  return parts
    .map(replaceForeign)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}

/** The images among the parts. */
export function imagesOf(parts: readonly ContentPart[]): readonly ProjectedImage[] {
  return parts.filter((part) => part.type === "image");
}

/** An image as a data URL, the form that OpenAI accepts. */
export function toDataUrl(image: ProjectedImage): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
