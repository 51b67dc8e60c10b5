import { checkArgument, optional, record, TEXT } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import type { JsonObject } from "../../entry/json.js";
import { optionsFor } from "../../entry/provider-options.js";
import type { SessionContext } from "../context.js";
import {
  type ContentPart,
  type ProjectedCall,
  type ProjectedFile,
  type ProjectedImage,
  type ProjectedReply,
  type ProjectedResult,
  plainText,
  toDataUrl,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";
import { sanitizeToolName } from "./sanitize.js";
import { FILES_FOLLOW, filesOfResult, IMAGES_FOLLOW, imagesOfResult } from "./templates.js";

/** Text, an image, a PDF or a sound of a user message. `data` is base64; `file_data` is a data URL. */
export type OpenAiChatPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: "wav" | "mp3" } };

/** A tool call of an assistant message; `arguments` is JSON text. Other members are those that its server demands back. */
export interface OpenAiChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** Google's thought signature. */
  readonly extra_content?: unknown;
}

/** An assistant message. `reasoning…`: thinking, in the member in which its server sent it. */
export interface OpenAiChatReply {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: OpenAiChatToolCall[];
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: unknown;
}

/** A message of a chat completion request. */
export type OpenAiChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | OpenAiChatPart[] }
  | OpenAiChatReply
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** Which server the request is for. */
export interface OpenAiChatOptions {
  /**
   * The provider to send to, by the name that `fromOpenAiChat` was given: thinking and signatures that came from it are given back.
   * Without it, and to another provider, they are left out: OpenAI rejects members that it does not know.
   */
  readonly provider?: string | undefined;
}

/** OpenAI's longest name of a function. */
export const OPENAI_NAME_LENGTH = 64;

/**
 * A context as the `messages` of an OpenAI chat completion, the instructions first.
 *
 * Thinking is left out, except that of `provider`. A PDF and a sound (WAV, MP3) given as base64 are sent; other files become a line
 * of text. A tool message contains only text, so the images and files of a batch of results follow the batch in a user message. The
 * format has no error flag for a result.
 *
 * @example
 * await openai.chat.completions.create({ model, messages: toOpenAiChat(context) });
 */
export function toOpenAiChat(context: SessionContext, options: OpenAiChatOptions = {}): OpenAiChatMessage[] {
  checkArgument("context", context, SESSION_CONTEXT);
  checkArgument("options", options, record({ provider: optional(TEXT) }));
  const system = systemText(context);
  const messages: OpenAiChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of projectMessages(context.messages)) {
    if (message.role === "user") messages.push({ role: "user", content: toUserContent(message.parts) });
    else messages.push(...toReplyMessages(message, options.provider));
  }
  return messages;
}

// A plain text if there is nothing else: many servers of this format accept nothing else.
function toUserContent(parts: readonly ContentPart[]): string | OpenAiChatPart[] {
  return parts.some((part) => toAttachment(part) !== undefined) ? parts.map(toChatPart) : plainText(parts);
}

function toChatPart(part: ContentPart): OpenAiChatPart {
  const attachment = toAttachment(part);
  return attachment ?? { type: "text", text: plainText([part]) };
}

/** An image or a file that the format can represent; undefined: another part. */
function toAttachment(part: ContentPart): OpenAiChatPart | undefined {
  if (part.type === "image") return toImagePart(part);
  return part.type === "file" ? toFilePart(part) : undefined;
}

function toImagePart(image: ProjectedImage): OpenAiChatPart {
  return { type: "image_url", image_url: { url: toDataUrl(image) } };
}

const SOUNDS: Readonly<Record<string, "wav" | "mp3">> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
};

function toFilePart({ mediaType, data, url, filename }: ProjectedFile): OpenAiChatPart | undefined {
  if (url !== undefined)
    return mediaType.startsWith("image/") && /^https?:/i.test(url) ? { type: "image_url", image_url: { url } } : undefined;
  if (data === undefined) return undefined;
  const format = SOUNDS[mediaType];
  if (format !== undefined) return { type: "input_audio", input_audio: { data, format } };
  if (mediaType !== "application/pdf") return undefined;
  return { type: "file", file: { filename: filename ?? "file.pdf", file_data: toDataUrl({ mediaType, data }) } };
}

function toReplyMessages(reply: ProjectedReply, provider: string | undefined): readonly OpenAiChatMessage[] {
  const said = reply.parts.flatMap((part) => (part.type === "text" || part.type === "file" ? [plainText([part])] : []));
  const text = said.join("\n");
  const calls = reply.parts.filter((part) => part.type === "call").map((call) => toToolCall(call, provider));
  if (text === "" && calls.length === 0) return [];
  const message = { role: "assistant", content: text === "" ? null : text, ...toReasoning(reply, provider) } as const;
  if (calls.length === 0) return [message];
  return [{ ...message, tool_calls: calls }, ...reply.results.map(toToolMessage), ...toAttachmentMessage(reply.results)];
}

/** The thinking of a reply in the members in which `provider` sent it. */
function toReasoning(reply: ProjectedReply, provider: string | undefined): Partial<OpenAiChatReply> {
  if (provider === undefined) return {};
  const texts: Record<"reasoning_content" | "reasoning", string[]> = { reasoning_content: [], reasoning: [] };
  let details: unknown;
  for (const part of reply.parts) {
    const options = part.type === "thinking" ? optionsFor(part, provider) : undefined;
    if (part.type !== "thinking" || options === undefined) continue;
    const field = options["field"];
    if (field === "reasoning_content" || field === "reasoning") texts[field].push(part.thinking);
    details = options["reasoning_details"] ?? details;
  }
  return {
    ...(texts.reasoning_content.length === 0 ? {} : { reasoning_content: texts.reasoning_content.join("\n") }),
    ...(texts.reasoning.length === 0 ? {} : { reasoning: texts.reasoning.join("\n") }),
    ...(details === undefined ? {} : { reasoning_details: details }),
  };
}

function toToolCall(call: ProjectedCall, provider: string | undefined): OpenAiChatToolCall {
  const name = sanitizeToolName(call.name, OPENAI_NAME_LENGTH);
  const options = provider === undefined ? undefined : optionsFor(call, provider);
  const extra = options && extraContentOf(options, provider);
  const sent = { id: call.id, type: "function", function: { name, arguments: JSON.stringify(call.input) } } as const;
  return extra === undefined ? sent : { ...sent, extra_content: extra };
}

// The AI SDK stores the same signature as `thoughtSignature`.
function extraContentOf(options: JsonObject, provider: string | undefined): unknown {
  const signature = options["thoughtSignature"];
  return provider === "google" && typeof signature === "string" ? { google: { thought_signature: signature } } : options["extra_content"];
}

function toToolMessage(result: ProjectedResult): OpenAiChatMessage {
  const attachments = result.parts.map(toAttachment);
  const text = plainText(result.parts.filter((_part, at) => attachments[at] === undefined));
  const follows = attachments.every((part) => part?.type === "image_url") ? IMAGES_FOLLOW : FILES_FOLLOW;
  return { role: "tool", tool_call_id: result.callId, content: text === "" ? follows : text };
}

// After all results: the API rejects a user message between two of them.
function toAttachmentMessage(results: readonly ProjectedResult[]): readonly OpenAiChatMessage[] {
  const content = results.flatMap((result): readonly OpenAiChatPart[] => {
    const attachments = result.parts.map(toAttachment).filter((part) => part !== undefined);
    if (attachments.length === 0) return [];
    const heading = attachments.every(({ type }) => type === "image_url") ? imagesOfResult : filesOfResult;
    return [{ type: "text", text: heading(result.toolName) }, ...attachments];
  });
  return content.length === 0 ? [] : [{ role: "user", content }];
}
