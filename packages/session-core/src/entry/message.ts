// Every object is loose: unknown fields are kept, and texts such as signatures are unchanged.
import * as z from "zod";
import { isObject } from "./json.js";
import { isProviderOptions, type ProviderOptions } from "./provider-options.js";

// Only checked to be objects: the providers define their members, and a copy by zod would lose a member named `__proto__`.
const providerOptions = z
  .custom<ProviderOptions>(isProviderOptions, 'expected an object for each provider, such as { openai: { itemId: "rs_1" } }')
  .optional();

/** Plain text. */
const textBlockSchema = z.looseObject({ type: z.literal("text"), text: z.string(), providerOptions });

/** Base64 without a `data:` prefix. Checked, because invalid data makes every later request fail. */
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, "must be base64");

/** An image. */
const imageBlockSchema = z.looseObject({
  type: z.literal("image"),
  data: base64,
  mimeType: z.string().regex(/^image\/[\w.+-]+$/, "must be an image type such as image/png"),
  providerOptions,
});

/** A file of any type, such as a PDF or a sound: its content as base64, or its URL, which the provider loads. */
const fileBlockSchema = z
  .looseObject({
    type: z.literal("file"),
    mediaType: z.string().regex(/^[\w.+-]+\/[\w.+*-]+(;.*)?$/, "must be a media type such as application/pdf"),
    data: base64.optional(),
    url: z
      .string()
      .regex(/^(?!data:)[a-z][a-z0-9+.-]*:\S+$/i, "must be a URL such as https://…; the content of a file goes into data, as base64")
      .optional(),
    filename: z.string().optional(),
    providerOptions,
  })
  .refine(({ data, url }) => (data === undefined) !== (url === undefined), "a file has either data (base64) or a url");

/** Thinking of a model. `thinkingSignature` is opaque and sent back to the provider unchanged. */
const thinkingBlockSchema = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.string().optional(),
  redacted: z.boolean().optional(),
  providerOptions,
});

// Only checked to be an object: the tool defines its members, and a copy by zod would lose a member named `__proto__`.
const argumentsSchema = z.custom<Record<string, unknown>>(isObject, "expected an object of arguments");

/** A model's request to run a tool. */
const toolCallBlockSchema = z.looseObject({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: argumentsSchema,
  providerOptions,
});

/** Any value but undefined, which JSON leaves out: without it the record or block would not be valid when it is read again. */
export const anyJsonSchema = z.unknown().refine((value): boolean => value !== undefined, "is required");

/** A block of an unknown type: stored unchanged, shown by its type, sent only to the provider it came from. */
const foreignBlockSchema = z.looseObject({
  type: z.literal("foreign"),
  originalType: z.string(),
  raw: anyJsonSchema,
  providerOptions,
});

/** A block of a user message or a tool result. */
export const contentBlockSchema = z.discriminatedUnion("type", [textBlockSchema, imageBlockSchema, fileBlockSchema, foreignBlockSchema]);

/** A block of a reply. */
export const assistantBlockSchema = z.discriminatedUnion("type", [
  textBlockSchema,
  thinkingBlockSchema,
  toolCallBlockSchema,
  imageBlockSchema,
  fileBlockSchema,
  foreignBlockSchema,
]);

/** A text. */
export type TextBlock = z.output<typeof textBlockSchema>;
/** An image. `data` is base64 without a `data:` prefix. */
export type ImageBlock = z.output<typeof imageBlockSchema>;
/** A file of any type. It has either `data`, base64 without a `data:` prefix, or `url`. */
export type FileBlock = z.output<typeof fileBlockSchema>;
/** Thinking of a model. `thinkingSignature` is opaque and sent back to the provider unchanged. */
export type ThinkingBlock = z.output<typeof thinkingBlockSchema>;
/** A tool call. */
export type ToolCallBlock = z.output<typeof toolCallBlockSchema>;
/** A block of an unknown type, stored unchanged in `raw`. */
export type ForeignBlock = z.output<typeof foreignBlockSchema>;
/** A block of a user message, a tool result or a custom message. */
export type ContentBlock = z.output<typeof contentBlockSchema>;
/** A block of a reply. */
export type AssistantBlock = z.output<typeof assistantBlockSchema>;

const count = z.number().nonnegative();

/** The usage of a reply as the provider reported it: token counts, and the cost in US dollars. Every field may be missing. */
export const usageSchema = z.looseObject({
  input: count.optional(),
  output: count.optional(),
  cacheRead: count.optional(),
  cacheWrite: count.optional(),
  totalTokens: count.optional(),
  cost: z.looseObject({ total: count.optional() }).optional(),
});

// Other programs write null for empty content; readers always get an array or a text.
const content = z
  .union([z.string(), z.array(contentBlockSchema)])
  .nullable()
  .transform((given) => given ?? []);

const assistantContent = z
  .union([z.array(assistantBlockSchema), z.string().transform((text): AssistantBlock[] => [{ type: "text", text }])])
  .nullable()
  .transform((given) => given ?? []);

/** Instructions for the model. The text of the latest one on a path is the context's `system`. */
const systemMessageSchema = z.looseObject({
  role: z.literal("system"),
  content: z
    .union([z.string(), z.array(textBlockSchema)])
    .nullable()
    .transform((given) => given ?? ""),
  providerOptions,
});

/** Input of a user. */
const userMessageSchema = z.looseObject({ role: z.literal("user"), content, providerOptions });

/** A reply of a model: its blocks in order, the model, the usage and the reason why it stopped. */
const assistantMessageSchema = z.looseObject({
  role: z.literal("assistant"),
  content: assistantContent,
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: usageSchema.optional(),
  stopReason: z.string().optional(),
  errorMessage: z.string().optional(),
  providerOptions,
});

/** The result of the tool call `toolCallId`. `details` is for display and never sent to a model. */
const toolResultMessageSchema = z.looseObject({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string().optional(),
  content,
  isError: z.boolean().default(false),
  details: z.unknown().optional(),
  providerOptions,
});

/** A command that the user ran, with its output. `excludeFromContext`: never sent to a model. */
const bashExecutionMessageSchema = z.looseObject({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: z.number().nullish(),
  cancelled: z.boolean().optional(),
  truncated: z.boolean().optional(),
  excludeFromContext: z.boolean().optional(),
});

/**
 * A message that the host added for the model. `display: false`: not shown to the user. A member `nestedCalls: { calls: [{ name, arguments,
 * status: "ok" }] }` says which tools the host ran for it, such as the reading of a file that the user mentioned: its files are read. `recallFile`
 * takes the text of such a file from a block of the content: `<file path="PATH">`, a line break, the text, a line break, `</file>`.
 */
const customMessageSchema = z.looseObject({
  role: z.literal("custom"),
  customType: z.string(),
  content,
  display: z.boolean().optional(),
  details: z.unknown().optional(),
});

/** Any message. */
export const messageSchema = z.discriminatedUnion("role", [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  toolResultMessageSchema,
  bashExecutionMessageSchema,
  customMessageSchema,
]);

/** The usage of a reply: token counts, and the cost in US dollars. */
export type Usage = z.output<typeof usageSchema>;
/** Instructions for the model. */
export type SystemMessage = z.output<typeof systemMessageSchema>;
/** Input of a user. */
export type UserMessage = z.output<typeof userMessageSchema>;
/** A reply of a model. */
export type AssistantMessage = z.output<typeof assistantMessageSchema>;
/** The result of a tool call. */
export type ToolResultMessage = z.output<typeof toolResultMessageSchema>;
/** A command that the user ran, with its output. */
export type BashExecutionMessage = z.output<typeof bashExecutionMessageSchema>;
/** A message that the host added for the model. */
export type CustomMessage = z.output<typeof customMessageSchema>;
/** Any message. */
export type Message = z.output<typeof messageSchema>;
/** The role of a message. */
export type MessageRole = Message["role"];
