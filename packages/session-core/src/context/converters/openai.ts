import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import type { SessionContext } from "../context.js";
import {
  type ContentPart,
  imagesOf,
  type ProjectedCall,
  type ProjectedReply,
  type ProjectedResult,
  plainText,
  type ReplyPart,
  toDataUrl,
  toTextOrImage,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";
import { sanitizeToolName } from "./sanitize.js";
import { IMAGES_FOLLOW, imagesOfResult } from "./templates.js";

/** Text or an image of a user message. */
export type OpenAiChatPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

/** A tool call of an assistant message; `arguments` is JSON text. */
export interface OpenAiChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a chat completion request. */
export type OpenAiChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | OpenAiChatPart[] }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: OpenAiChatToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** OpenAI's longest name of a function. */
const OPENAI_NAME_LENGTH = 64;

/**
 * A context as the `messages` of an OpenAI chat completion, the instructions first.
 *
 * Thinking is left out: the format cannot represent it. A tool message contains only text, so the images of a batch of results
 * follow the batch in a user message. The format has no error flag for a result.
 *
 * @example
 * await openai.chat.completions.create({ model, messages: toOpenAiChat(context) });
 */
export function toOpenAiChat(context: SessionContext): OpenAiChatMessage[] {
  checkArgument("context", context, SESSION_CONTEXT);
  const system = systemText(context);
  const messages: OpenAiChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of projectMessages(context.messages)) {
    if (message.role === "user") messages.push({ role: "user", content: toUserContent(message.parts) });
    else messages.push(...toReplyMessages(message));
  }
  return messages;
}

// A plain text if there are no images: many servers of this format accept nothing else.
function toUserContent(parts: readonly ContentPart[]): string | OpenAiChatPart[] {
  return imagesOf(parts).length === 0 ? plainText(parts) : parts.map(toChatPart);
}

function toChatPart(part: ContentPart): OpenAiChatPart {
  const known = toTextOrImage(part);
  return known.type === "text" ? { type: "text", text: known.text } : { type: "image_url", image_url: { url: toDataUrl(known) } };
}

function toReplyMessages(answer: ProjectedReply): readonly OpenAiChatMessage[] {
  const text = answer.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const calls = answer.parts.filter((part) => part.type === "call").map(toToolCall);
  if (text === "" && calls.length === 0) return [];
  const content = text === "" ? null : text;
  if (calls.length === 0) return [{ role: "assistant", content }];
  return [{ role: "assistant", content, tool_calls: calls }, ...answer.results.map(toToolMessage), ...toImageMessage(answer.results)];
}

function toToolCall(call: ProjectedCall): OpenAiChatToolCall {
  const name = sanitizeToolName(call.name, OPENAI_NAME_LENGTH);
  return { id: call.id, type: "function", function: { name, arguments: JSON.stringify(call.input) } };
}

function toToolMessage(result: ProjectedResult): OpenAiChatMessage {
  const text = plainText(result.parts);
  return { role: "tool", tool_call_id: result.callId, content: text === "" ? IMAGES_FOLLOW : text };
}

// After all results: the API rejects a user message between two of them.
function toImageMessage(results: readonly ProjectedResult[]): readonly OpenAiChatMessage[] {
  const content = results.flatMap((result): readonly OpenAiChatPart[] => {
    const images = imagesOf(result.parts);
    return images.length === 0 ? [] : [{ type: "text", text: imagesOfResult(result.toolName) }, ...images.map(toChatPart)];
  });
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** Text or an image of an input item. */
export type OpenAiResponsesPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: "auto" };

/** One item of the `input` of a Responses request; `arguments` is JSON text. */
export type OpenAiResponsesItem =
  | { readonly type: "message"; readonly role: "user"; readonly content: OpenAiResponsesPart[] }
  | { readonly type: "message"; readonly role: "assistant"; readonly content: string }
  | { readonly type: "function_call"; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string | OpenAiResponsesPart[] };

/** The fields of a Responses request that come from a context; spread them into the request. */
export interface OpenAiResponsesInput {
  readonly instructions?: string;
  readonly input: OpenAiResponsesItem[];
}

/**
 * A context as `instructions` and `input` of the OpenAI Responses API.
 *
 * Reasoning items are left out: they are valid only with the item ids of their response, and the context may have been
 * edited, compacted or continued by another model since.
 *
 * @example
 * await openai.responses.create({ model, store: false, ...toOpenAiResponses(context) });
 */
export function toOpenAiResponses(context: SessionContext): OpenAiResponsesInput {
  checkArgument("context", context, SESSION_CONTEXT);
  const instructions = systemText(context);
  const input: OpenAiResponsesItem[] = [];
  for (const message of projectMessages(context.messages)) {
    if (message.role === "user") input.push({ type: "message", role: "user", content: message.parts.map(toInputPart) });
    else input.push(...toReplyItems(message));
  }
  return instructions === undefined ? { input } : { instructions, input };
}

function toInputPart(part: ContentPart): OpenAiResponsesPart {
  const known = toTextOrImage(part);
  if (known.type === "text") return { type: "input_text", text: known.text };
  return { type: "input_image", image_url: toDataUrl(known), detail: "auto" };
}

function toReplyItems(answer: ProjectedReply): readonly OpenAiResponsesItem[] {
  return [...answer.parts.flatMap(toReplyItem), ...answer.results.map(toOutputItem)];
}

function toReplyItem(part: ReplyPart): readonly OpenAiResponsesItem[] {
  switch (part.type) {
    case "text":
      return [{ type: "message", role: "assistant", content: part.text }];
    case "call": {
      const name = sanitizeToolName(part.name, OPENAI_NAME_LENGTH);
      return [{ type: "function_call", call_id: part.id, name, arguments: JSON.stringify(part.input) }];
    }
    case "image":
    case "file":
    case "thinking":
    case "foreign":
      return [];
  }
}

function toOutputItem(result: ProjectedResult): OpenAiResponsesItem {
  const output = imagesOf(result.parts).length === 0 ? plainText(result.parts) : result.parts.map(toInputPart);
  return { type: "function_call_output", call_id: result.callId, output };
}
