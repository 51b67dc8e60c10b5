import { checkArgument } from "../../arguments/rules.js";
import { SESSION_CONTEXT } from "../../arguments/shapes.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import { optionsFor } from "../../entry/provider-options.js";
import type { SessionContext } from "../context.js";
import { isSameProvider } from "../model-key.js";
import { isCompactionItem, nativeItems } from "./native-items.js";
import { OPENAI_NAME_LENGTH } from "./openai-chat.js";
import {
  type ContentPart,
  type ProjectedCall,
  type ProjectedFile,
  type ProjectedImage,
  type ProjectedReply,
  type ProjectedResult,
  type ProjectedText,
  type ProjectedThinking,
  plainText,
  type ReplyPart,
  toDataUrl,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";
import { sanitizeToolName } from "./sanitize.js";

/** Text, an image or a PDF of an input item. */
export type OpenAiResponsesPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: "auto" }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string }
  | { readonly type: "input_file"; readonly file_url: string };

/** Thinking of an OpenAI model: its summary, and its content, encrypted. */
export interface OpenAiReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly summary: { readonly type: "summary_text"; readonly text: string }[];
  readonly encrypted_content: string;
}

/** A text of the model with the id of its item. `phase`: whether it comments on its work or is the answer. */
export interface OpenAiOutputMessage {
  readonly type: "message";
  readonly role: "assistant";
  readonly id: string;
  readonly status: "completed";
  readonly content: { readonly type: "output_text"; readonly text: string; readonly annotations: readonly [] }[];
  readonly phase?: string;
}

/** A conversation that OpenAI or xAI compacted, encrypted. It stands in place of the items before it. */
export interface OpenAiCompactionItem {
  readonly type: "compaction";
  readonly id?: string;
  readonly encrypted_content: string;
}

/** A call of a tool that OpenAI ran, and its result: an item of a response, unchanged. */
export interface OpenAiHostedItem extends JsonObject {
  readonly type: "web_search_call" | "file_search_call" | "code_interpreter_call" | "image_generation_call" | "mcp_call" | "mcp_list_tools";
}

/** One item of the `input` of a Responses request; `arguments` is JSON text, `input` any text, `id` that of the item in its response. */
export type OpenAiResponsesItem =
  | { readonly type: "message"; readonly role: "user"; readonly content: OpenAiResponsesPart[] }
  | { readonly type: "message"; readonly role: "assistant"; readonly content: string }
  | OpenAiOutputMessage
  | OpenAiReasoningItem
  | OpenAiCompactionItem
  | {
      readonly type: "function_call";
      readonly id?: string;
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string;
      readonly arguments: string;
    }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string | OpenAiResponsesPart[] }
  | {
      readonly type: "custom_tool_call";
      readonly id?: string;
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string;
      readonly input: string;
    }
  | { readonly type: "custom_tool_call_output"; readonly call_id: string; readonly output: string | OpenAiResponsesPart[] }
  | OpenAiHostedItem;

/** The fields of a Responses request that come from a context; spread them into the request. */
export interface OpenAiResponsesInput<Item = OpenAiResponsesItem> {
  readonly instructions?: string;
  readonly input: Item[];
}

/**
 * A context as `instructions` and `input` of the OpenAI Responses API.
 *
 * Reasoning of an OpenAI model is given back with its id and encrypted content, and the items after it with their ids, so that a
 * tool loop continues its reasoning. Request it with `include: ["reasoning.encrypted_content"]`; reasoning without it is left out, because
 * its id is valid only as long as OpenAI stores the response. Thinking of other providers than the context's is left out (xAI's API has the
 * same items, and cannot decrypt OpenAI's). A call of a custom tool, whose input is a text, is sent as such to its provider, and as a call of a
 * function to others. Items of tools that OpenAI ran go to OpenAI only, which rejects reasoning without the item that followed it. PDFs are
 * sent; other files that are not images become a line of text. A compaction that the provider wrote is sent unchanged to its model; other
 * models get its summary as text.
 *
 * `Item`: the type of an item in the SDK that sends it. No version of the SDK has the type of every item that the API has returned, so the
 * compiler does not compare the two.
 *
 * @example
 * const input = toOpenAiResponses<OpenAI.Responses.ResponseInputItem>(context);
 * await openai.responses.create({ model, store: false, include: ["reasoning.encrypted_content"], ...input });
 */
export function toOpenAiResponses<Item = OpenAiResponsesItem>(context: SessionContext): OpenAiResponsesInput<Item>;
// `ReturnType<typeof toOpenAiResponses>` takes the last overload.
export function toOpenAiResponses(context: SessionContext): OpenAiResponsesInput;
export function toOpenAiResponses(context: SessionContext): OpenAiResponsesInput {
  checkArgument("context", context, SESSION_CONTEXT);
  const instructions = systemText(context);
  const input: OpenAiResponsesItem[] = [];
  for (const message of projectMessages(context.messages)) {
    const compacted = message.role === "user" ? nativeItems(message.native, context.model) : undefined;
    if (compacted !== undefined && isCompactedInput(compacted)) input.push(...compacted);
    else if (message.role === "user") input.push({ type: "message", role: "user", content: message.parts.map(toInputPart) });
    else input.push(...toReplyItems(message, isSameProvider(message.provider, context.model?.provider)));
  }
  return instructions === undefined ? { input } : { instructions, input };
}

/** True for what `/responses/compact` or a response returned: a compaction item, and the messages of the user that were kept in front of it. */
function isCompactedInput(items: readonly JsonObject[]): items is readonly (JsonObject & OpenAiCompactionItem)[] {
  return items.some(isCompactionItem) && items.every((item) => typeof item["type"] === "string" || typeof item["role"] === "string");
}

function toInputPart(part: ContentPart): OpenAiResponsesPart {
  if (part.type === "image") return { type: "input_image", image_url: toDataUrl(part), detail: "auto" };
  const file = part.type === "file" ? toFilePart(part) : undefined;
  return file ?? { type: "input_text", text: plainText([part]) };
}

function toFilePart({ mediaType, data, url, filename }: ProjectedFile): OpenAiResponsesPart | undefined {
  const isWeb = url !== undefined && /^https?:/i.test(url);
  if (isWeb && mediaType.startsWith("image/")) return { type: "input_image", image_url: url, detail: "auto" };
  if (mediaType !== "application/pdf") return undefined;
  if (isWeb) return { type: "input_file", file_url: url };
  return data === undefined
    ? undefined
    : { type: "input_file", filename: filename ?? "file.pdf", file_data: toDataUrl({ mediaType, data }) };
}

/** A reply and the outputs of its calls. `isOwn`: its provider is that of the request, which cannot decrypt the reasoning of another one. */
function toReplyItems(reply: ProjectedReply, isOwn: boolean): readonly OpenAiResponsesItem[] {
  const items: OpenAiResponsesItem[] = [];
  // The API rejects an id without the reasoning before it: ids are sent only after reasoning of the same reply.
  let afterReasoning = false;
  for (const part of reply.parts) {
    if (part.type === "thinking" && !isOwn) continue;
    const item = toReplyItem(part, items.at(-1), afterReasoning, isOwn);
    if (item === undefined) continue;
    items.push(item);
    afterReasoning ||= item.type === "reasoning";
  }
  // It also rejects reasoning without an item after it: of a reply that was interrupted, or edited.
  while (items.at(-1)?.type === "reasoning") items.pop();
  const custom = new Set(items.flatMap((item) => (item.type === "custom_tool_call" ? [item.call_id] : [])));
  return [...items, ...reply.results.map((result) => toOutputItem(result, custom.has(result.callId)))];
}

/** The item of a part; undefined: the part was added to `before`, or it has none. */
function toReplyItem(
  part: ReplyPart,
  before: OpenAiResponsesItem | undefined,
  withId: boolean,
  isOwn: boolean,
): OpenAiResponsesItem | undefined {
  switch (part.type) {
    case "text":
      return toTextItem(part, before, withId);
    case "thinking":
      return toReasoningItem(part, before);
    case "call":
      return toCallItem(part, withId, isOwn);
    case "file":
      return { type: "message", role: "assistant", content: plainText([part]) };
    case "image":
      return isOwn ? toGeneratedImage(part, withId) : undefined;
    case "foreign":
      return isOwn ? toHostedItem(part.raw, withId) : undefined;
  }
}

const HOSTED: ReadonlySet<unknown> = new Set<OpenAiHostedItem["type"]>([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
]);

function isHosted(raw: JsonObject): raw is OpenAiHostedItem {
  return HOSTED.has(raw["type"]);
}

function toHostedItem(raw: unknown, withId: boolean): OpenAiHostedItem | undefined {
  if (!isObject(raw) || !isHosted(raw)) return undefined;
  const { id, ...rest } = raw;
  return withId && id !== undefined ? raw : rest;
}

/** An image that a tool of OpenAI made; undefined: it has another source. */
function toGeneratedImage(part: ProjectedImage, withId: boolean): OpenAiHostedItem | undefined {
  const id = itemIdOf(part);
  if (id?.startsWith("ig") !== true) return undefined;
  return toHostedItem({ type: "image_generation_call", id, status: "completed", result: part.data }, withId);
}

function toTextItem(part: ProjectedText, before: OpenAiResponsesItem | undefined, withId: boolean): OpenAiResponsesItem | undefined {
  const id = withId ? itemIdOf(part) : undefined;
  if (id === undefined) return { type: "message", role: "assistant", content: part.text };
  const content = { type: "output_text", text: part.text, annotations: [] } as const;
  if (before?.type === "message" && "id" in before && before.id === id) {
    before.content.push(content);
    return undefined;
  }
  const phase = openAiOptions(part)?.["phase"];
  const item = { type: "message", role: "assistant", id, status: "completed", content: [content] } as const;
  return typeof phase === "string" ? { ...item, content: [content], phase } : { ...item, content: [content] };
}

// Each part of a summary is a thinking block of its own; the blocks of one item have the same id.
function toReasoningItem(part: ProjectedThinking, before: OpenAiResponsesItem | undefined): OpenAiReasoningItem | undefined {
  const id = itemIdOf(part);
  const encrypted = openAiOptions(part)?.["reasoningEncryptedContent"];
  const summary = part.thinking === "" ? [] : [{ type: "summary_text", text: part.thinking } as const];
  if (id !== undefined && before?.type === "reasoning" && before.id === id) {
    before.summary.push(...summary);
    return undefined;
  }
  return id === undefined || typeof encrypted !== "string" ? undefined : { type: "reasoning", id, summary, encrypted_content: encrypted };
}

function toCallItem(part: ProjectedCall, withId: boolean, isOwn: boolean): OpenAiResponsesItem {
  const { custom, namespace } = (isOwn ? openAiOptions(part) : undefined) ?? {};
  const named = { call_id: part.id, name: sanitizeToolName(part.name, OPENAI_NAME_LENGTH) };
  const call = typeof namespace === "string" ? { ...named, namespace } : named;
  const { input } = part.input;
  const isCustom = custom === true && typeof input === "string";
  const itemId = withId ? itemIdOf(part) : undefined;
  // The API rejects the id of an item of another type: a client's own tools can come from items that are no call of a function.
  const id = itemId?.startsWith(isCustom ? "ctc" : "fc") === true ? { id: itemId } : {};
  if (isCustom) return { type: "custom_tool_call", ...call, input, ...id };
  return { type: "function_call", ...call, arguments: JSON.stringify(part.input), ...id };
}

/** The id of the item that a part came from, as `fromOpenAiResponses` and the AI SDK store it. */
function itemIdOf(part: ReplyPart): string | undefined {
  const id = openAiOptions(part)?.["itemId"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

function openAiOptions(part: ReplyPart) {
  if (part.type === "foreign") return undefined;
  return optionsFor(part, "openai") ?? optionsFor(part, "azure");
}

function toOutputItem(result: ProjectedResult, isCustom: boolean): OpenAiResponsesItem {
  const parts = result.parts.map(toInputPart);
  const output = parts.every(({ type }) => type === "input_text") ? plainText(result.parts) : parts;
  return { type: isCustom ? "custom_tool_call_output" : "function_call_output", call_id: result.callId, output };
}
