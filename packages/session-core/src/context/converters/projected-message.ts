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
export type SaidPart = ProjectedText | ProjectedImage | ProjectedForeign;

/** What a model says. */
export type AnswerPart = ProjectedText | ProjectedImage | ProjectedThinking | ProjectedCall | ProjectedForeign;

/** The result of one call. `parts` is never empty. */
export interface ProjectedResult {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly parts: readonly SaidPart[];
}

/** Something said to the model. */
export interface ProjectedSaid {
  readonly role: "user";
  readonly parts: readonly SaidPart[];
}

/** A reply with exactly one result for each of its calls, in the order of the calls. */
export interface ProjectedAnswer {
  readonly role: "assistant";
  readonly provider: string | undefined;
  readonly parts: readonly AnswerPart[];
  readonly results: readonly ProjectedResult[];
}

/** A context in the form that all converters start from: what differs between providers comes after it. */
export type ProjectedMessage = ProjectedSaid | ProjectedAnswer;

/** The parts of what a person, a host or a tool said; blank texts are left out, because Anthropic refuses them. */
export function saidParts(content: string | readonly ContentBlock[]): readonly SaidPart[] {
  return typeof content === "string" ? textParts(content) : content.flatMap(saidPart);
}

function saidPart(block: ContentBlock): readonly SaidPart[] {
  switch (block.type) {
    case "text":
      return textParts(block.text);
    case "image":
      return [imagePart(block)];
    case "foreign":
      return [{ type: "foreign", originalType: block.originalType, raw: block.raw }];
  }
}

/** A block of a reply that is no call. */
export function answerParts(block: Exclude<AssistantBlock, { type: "toolCall" }>): readonly AnswerPart[] {
  return block.type === "thinking" ? thinkingParts(block) : saidPart(block);
}

/** The text as one part, or none when it is blank. */
export function textParts(text: string): readonly ProjectedText[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

function thinkingParts(block: ThinkingBlock): readonly ProjectedThinking[] {
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

function imagePart(block: ImageBlock): ProjectedImage | ProjectedText {
  const mediaType = MEDIA_TYPES[block.mimeType.toLowerCase()];
  if (mediaType === undefined || block.data === "") return { type: "text", text: blockPlaceholder(`An image (${block.mimeType})`) };
  return { type: "image", data: block.data, mediaType };
}

/** A foreign block as the words that stand for it, every other part as it is. */
export function withoutForeign(part: SaidPart): ProjectedText | ProjectedImage {
  return part.type === "foreign" ? { type: "text", text: blockPlaceholder(`A block of type ${part.originalType}`).toWellFormed() } : part;
}

/** The texts of the parts, joined by line breaks; images are left out, foreign blocks are named. */
export function plainText(parts: readonly SaidPart[]): string {
  return parts
    .map(withoutForeign)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}

/** The images among the parts. */
export function imagesOf(parts: readonly SaidPart[]): readonly ProjectedImage[] {
  return parts.filter((part) => part.type === "image");
}

/** An image as OpenAI takes it. */
export function dataUrl(image: ProjectedImage): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
