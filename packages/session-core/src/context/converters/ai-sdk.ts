import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import type { SessionContext } from "../context.js";
import {
  type ContentPart,
  imagesOf,
  type ProjectedReply,
  type ProjectedResult,
  type ProjectedThinking,
  plainText,
  type ReplyPart,
  toTextOrImage,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";

/** Text of a message. */
export interface AiSdkTextPart {
  readonly type: "text";
  readonly text: string;
}

/** An image of a user message; `image` is base64. */
export interface AiSdkImagePart {
  readonly type: "image";
  readonly image: string;
  readonly mediaType: string;
}

/** An image that a model made; `data` is base64. */
export interface AiSdkFilePart {
  readonly type: "file";
  readonly data: string;
  readonly mediaType: string;
}

/** Thinking, with the data that its provider needs to accept it again. */
export interface AiSdkReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly providerOptions?: { readonly anthropic: { readonly signature: string } | { readonly redactedData: string } };
}

/** A tool call. */
export interface AiSdkToolCallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A part of a result with images; `data` is base64. */
export type AiSdkResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image-data"; readonly data: string; readonly mediaType: string };

/** The output of a tool call. */
export type AiSdkToolOutput =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "error-text"; readonly value: string }
  | { readonly type: "content"; readonly value: AiSdkResultPart[] };

/** The result of a tool call. */
export interface AiSdkToolResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: AiSdkToolOutput;
}

/** A part of an assistant message. */
export type AiSdkAssistantPart = AiSdkTextPart | AiSdkFilePart | AiSdkReasoningPart | AiSdkToolCallPart;

/** The subset of the AI SDK's `ModelMessage` (version 6) that a context needs. */
export type AiSdkMessage =
  | { readonly role: "user"; readonly content: (AiSdkTextPart | AiSdkImagePart)[] }
  | { readonly role: "assistant"; readonly content: AiSdkAssistantPart[] }
  | { readonly role: "tool"; readonly content: AiSdkToolResultPart[] };

/** The options of `generateText` and `streamText` that come from a context; spread them into the options. */
export interface AiSdkPrompt {
  readonly system?: string;
  readonly messages: AiSdkMessage[];
}

/**
 * A context as `system` and `messages` of the AI SDK (version 6).
 *
 * Thinking of Anthropic's models keeps its signature, because their API requires it in a tool loop with thinking; of other
 * providers only the text is kept. A result with images has the type `content`, which has no error flag.
 *
 * @example
 * await generateText({ model, ...toAiSdk(context) });
 */
export function toAiSdk(context: SessionContext): AiSdkPrompt {
  checkArgument("context", context, SESSION_CONTEXT);
  const system = systemText(context);
  const messages: AiSdkMessage[] = [];
  for (const message of projectMessages(context.messages)) {
    if (message.role === "user") messages.push({ role: "user", content: message.parts.map(toUserPart) });
    else messages.push(...toReplyMessages(message));
  }
  return system === undefined ? { messages } : { system, messages };
}

function toUserPart(part: ContentPart): AiSdkTextPart | AiSdkImagePart {
  const known = toTextOrImage(part);
  return known.type === "text" ? toTextPart(known) : { type: "image", image: known.data, mediaType: known.mediaType };
}

function toTextPart({ text }: { readonly text: string }): AiSdkTextPart {
  return { type: "text", text };
}

function toReplyMessages(answer: ProjectedReply): readonly AiSdkMessage[] {
  const content = answer.parts.flatMap((part) => toReplyPart(part, answer.provider));
  // An interrupted reply; Anthropic rejects one that ends with thinking.
  if (content.every((part) => part.type === "reasoning")) return [];
  const reply: AiSdkMessage = { role: "assistant", content };
  return answer.results.length === 0 ? [reply] : [reply, { role: "tool", content: answer.results.map(toResultPart) }];
}

function toReplyPart(part: ReplyPart, provider: string | undefined): readonly AiSdkAssistantPart[] {
  switch (part.type) {
    case "text":
      return [toTextPart(part)];
    case "image":
      return [{ type: "file", data: part.data, mediaType: part.mediaType }];
    case "thinking":
      return toReasoning(part, provider);
    case "call":
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.input }];
    case "file":
    case "foreign":
      return [];
  }
}

function toReasoning(part: ProjectedThinking, provider: string | undefined): readonly AiSdkReasoningPart[] {
  const signed = provider === "anthropic" ? part.signature : undefined;
  if (part.redacted) {
    return signed === undefined ? [] : [{ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: signed } } }];
  }
  if (signed !== undefined) return [{ type: "reasoning", text: part.thinking, providerOptions: { anthropic: { signature: signed } } }];
  return part.thinking.trim() === "" ? [] : [{ type: "reasoning", text: part.thinking.toWellFormed() }];
}

function toResultPart(result: ProjectedResult): AiSdkToolResultPart {
  return { type: "tool-result", toolCallId: result.callId, toolName: result.toolName, output: toOutput(result) };
}

function toOutput(result: ProjectedResult): AiSdkToolOutput {
  if (imagesOf(result.parts).length === 0) return { type: result.isError ? "error-text" : "text", value: plainText(result.parts) };
  const value = result.parts
    .map(toTextOrImage)
    .map(
      (part): AiSdkResultPart =>
        part.type === "text" ? toTextPart(part) : { type: "image-data", data: part.data, mediaType: part.mediaType },
    );
  return { type: "content", value };
}
