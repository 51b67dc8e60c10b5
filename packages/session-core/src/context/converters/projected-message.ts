import type { AssistantBlock, ContentBlock, ImageBlock, ThinkingBlock } from "../../entry/message.js";
import { blockPlaceholder } from "./templates.js";

/** Text that is not blank and has no lone surrogate. */
export interface ProjectedText {
  readonly type: "text";
  readonly text: string;
}

/** An image that every provider takes: `data` is base64. */
export interface ProjectedImage {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
}

/** What a model thought. `signature` is opaque, and with it `thinking` is untouched; `redacted`: only the signature says what. */
export interface ProjectedThinking {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string | undefined;
  readonly redacted: boolean;
}

/** A call, with an id that every provider takes and no other call of the context has. */
export interface ProjectedCall {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A block that only the program that wrote it understands. */
export interface ProjectedForeign {
  readonly type: "foreign";
  readonly originalType: string;
  readonly raw: unknown;
}

/** What a person, a host or a tool says. */
export type ContentPart = ProjectedText | ProjectedImage | ProjectedForeign;

/** What a model says. */
export type ReplyPart = ProjectedText | ProjectedImage | ProjectedThinking | ProjectedCall | ProjectedForeign;

/** The result of one call. `parts` is never empty. */
export interface ProjectedResult {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
}

/** Something said to the model. */
export interface ProjectedUserMessage {
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

/** A context in the form that all converters start from: what differs between providers comes after it. */
export type ProjectedMessage = ProjectedUserMessage | ProjectedReply;

/** The parts of what a person, a host or a tool said; blank texts are left out, because Anthropic refuses them. */
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

/** A block of a reply that is no call. */
export function projectReplyBlock(block: Exclude<AssistantBlock, { type: "toolCall" }>): readonly ReplyPart[] {
  return block.type === "thinking" ? projectThinking(block) : projectContentBlock(block);
}

/** The text as one part, or none when it is blank. */
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

// The four types that OpenAI, Anthropic and Google all take. Another one breaks this and every later request.
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

/** A foreign block as the words that stand for it, every other part as it is. */
export function replaceForeign(part: ContentPart): ProjectedText | ProjectedImage {
  return part.type === "foreign" ? { type: "text", text: blockPlaceholder(`A block of type ${part.originalType}`).toWellFormed() } : part;
}

/** The texts of the parts, joined by line breaks; images are left out, foreign blocks are named. */
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

/** An image as OpenAI takes it. */
export function toDataUrl(image: ProjectedImage): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
