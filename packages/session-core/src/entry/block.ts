import { z } from "zod";
import { isObject } from "./json.js";

// Every object is loose: a field that we do not know is kept, byte for byte where it is a text (signatures are).

/** Plain text. */
export const textBlockSchema = z.looseObject({ type: z.literal("text"), text: z.string() });

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** An image: `data` is base64 without a `data:` prefix. Checked here, because a broken one breaks every later request. */
export const imageBlockSchema = z.looseObject({
  type: z.literal("image"),
  data: z.string().regex(BASE64, "must be base64"),
  mimeType: z.string().regex(/^image\/[\w.+-]+$/, "must be an image type such as image/png"),
});

/** What a model thought. `thinkingSignature` is opaque and given back to the provider as it came. */
export const thinkingBlockSchema = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.string().optional(),
  redacted: z.boolean().optional(),
});

// Judged as a whole and not member by member: what stands in it is the tool's affair, and a copy would lose a member
// named `__proto__`.
const argumentsSchema = z.custom<Record<string, unknown>>(isObject, "expected an object of arguments");

/** A model's request to run a tool. `arguments` is never judged again once stored. */
export const toolCallBlockSchema = z.looseObject({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: argumentsSchema,
});

/** A block of another program that we do not know: kept whole, shown by its type, sent to no other provider. */
export const foreignBlockSchema = z.looseObject({
  type: z.literal("foreign"),
  originalType: z.string(),
  raw: z.unknown(),
});

/** What a person or a tool can say. */
export const contentBlockSchema = z.discriminatedUnion("type", [textBlockSchema, imageBlockSchema, foreignBlockSchema]);

/** What a model can say. */
export const assistantBlockSchema = z.discriminatedUnion("type", [
  textBlockSchema,
  thinkingBlockSchema,
  toolCallBlockSchema,
  imageBlockSchema,
  foreignBlockSchema,
]);

/** A text block, as its schema gives it. */
export type TextBlock = z.output<typeof textBlockSchema>;
/** An image block, as its schema gives it. */
export type ImageBlock = z.output<typeof imageBlockSchema>;
/** A thinking block, as its schema gives it. */
export type ThinkingBlock = z.output<typeof thinkingBlockSchema>;
/** A tool call block, as its schema gives it. */
export type ToolCallBlock = z.output<typeof toolCallBlockSchema>;
/** A foreign block, as its schema gives it. */
export type ForeignBlock = z.output<typeof foreignBlockSchema>;
/** A piece of what a person or a tool said. */
export type ContentBlock = z.output<typeof contentBlockSchema>;
/** A piece of what a model said. */
export type AssistantBlock = z.output<typeof assistantBlockSchema>;
