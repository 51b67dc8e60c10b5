import { z } from "zod";
import { type AssistantBlock, assistantBlockSchema, contentBlockSchema, textBlockSchema } from "./block.js";

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
