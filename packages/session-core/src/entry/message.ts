// Every object is loose: a field that we do not know is kept, byte for byte where it is a text (signatures are).
import { z } from "zod";
import { isObject } from "./json.js";

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

const count = z.number().nonnegative();

/** What a reply used, as the provider reported it: counts of tokens, and cost in US dollars. Each figure may be missing. */
export const usageSchema = z.looseObject({
  input: count.optional(),
  output: count.optional(),
  cacheRead: count.optional(),
  cacheWrite: count.optional(),
  totalTokens: count.optional(),
  cost: z.looseObject({ total: count.optional() }).optional(),
});

// Other programs wrote null for "nothing"; readers must never meet it (regression R33).
const content = z
  .union([z.string(), z.array(contentBlockSchema)])
  .nullable()
  .transform((given) => given ?? []);

const assistantContent = z
  .union([z.array(assistantBlockSchema), z.string().transform((text): AssistantBlock[] => [{ type: "text", text }])])
  .nullable()
  .transform((given) => given ?? []);

/** The instructions an agent works under. The latest one on a path is the context's `system`. */
export const systemMessageSchema = z.looseObject({
  role: z.literal("system"),
  content: z
    .union([z.string(), z.array(textBlockSchema)])
    .nullable()
    .transform((given) => given ?? ""),
});

/** What a person said. */
export const userMessageSchema = z.looseObject({ role: z.literal("user"), content });

/** What a model answered: its blocks in order, which model, what it used and why it stopped. */
export const assistantMessageSchema = z.looseObject({
  role: z.literal("assistant"),
  content: assistantContent,
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: usageSchema.optional(),
  stopReason: z.string().optional(),
  errorMessage: z.string().optional(),
});

/** What a tool answered to the call `toolCallId`. `details` is for screens and never sent to a model. */
export const toolResultMessageSchema = z.looseObject({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string().optional(),
  content,
  isError: z.boolean().default(false),
  details: z.unknown().optional(),
});

/** A command that the person ran, with its output. `excludeFromContext`: shown, but never sent to a model. */
export const bashExecutionMessageSchema = z.looseObject({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: z.number().nullish(),
  cancelled: z.boolean().optional(),
  truncated: z.boolean().optional(),
  excludeFromContext: z.boolean().optional(),
});

/** A message that a host put in for the model to read. `display: false`: not meant for the person. */
export const customMessageSchema = z.looseObject({
  role: z.literal("custom"),
  customType: z.string(),
  content,
  display: z.boolean().optional(),
  details: z.unknown().optional(),
});

/** One gate for every message. */
export const messageSchema = z.discriminatedUnion("role", [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  toolResultMessageSchema,
  bashExecutionMessageSchema,
  customMessageSchema,
]);

/** What a reply used. */
export type Usage = z.output<typeof usageSchema>;
/** A system message, as its schema gives it. */
export type SystemMessage = z.output<typeof systemMessageSchema>;
/** An user message, as its schema gives it. */
export type UserMessage = z.output<typeof userMessageSchema>;
/** An assistant message, as its schema gives it. */
export type AssistantMessage = z.output<typeof assistantMessageSchema>;
/** A tool result message, as its schema gives it. */
export type ToolResultMessage = z.output<typeof toolResultMessageSchema>;
/** A bash execution message, as its schema gives it. */
export type BashExecutionMessage = z.output<typeof bashExecutionMessageSchema>;
/** A custom message, as its schema gives it. */
export type CustomMessage = z.output<typeof customMessageSchema>;
/** Any message of a conversation. */
export type Message = z.output<typeof messageSchema>;
/** Who or what a message is from. */
export type MessageRole = Message["role"];
