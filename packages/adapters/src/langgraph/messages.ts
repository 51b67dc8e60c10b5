import {
  type AssistantBlock,
  type ContentBlock,
  type EntryId,
  type EntryInput,
  InvalidEntryError,
  type Message,
  normalizeUsage,
  stopReasonOf,
  type Usage,
} from "@bough/session-core";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { classOf, contentOf, type SerializedMessage, text } from "./langchain-json.js";
import { sharedWith } from "./shared.js";

/** A Bough message that a LangChain message can become. */
type StoredMessage = Exclude<Message, { readonly role: "bashExecution" }>;

/** The id that LangChain gave to a message, and its class. */
export interface MessageIdentity {
  readonly id: string | undefined;
  readonly name: string;
}

/** The identity of a serialized message. */
export function identityOf(json: SerializedMessage): MessageIdentity {
  return { id: text(json.kwargs["id"]), name: classOf(json) };
}

/**
 * An entry for a message; with `targetId`, a context edit: a newer version of the message of that entry. `langchain` is the serialized
 * message, without what is beside it in the entry: of an edit that is the content alone.
 */
export function messageEntry(id: EntryId, json: SerializedMessage, targetId?: EntryId): EntryInput {
  const message = toMessage(classOf(json), contentOf(json), json.kwargs);
  if (targetId === undefined) return { type: "message", id, message: { ...message, langchain: sharedWith(message, json) } };
  const { content } = message;
  return { type: "context_edit", id, targetId, replacement: { content, langchain: sharedWith({ content }, json) } };
}

function toMessage(name: string, content: unknown, kwargs: JsonObject): StoredMessage {
  switch (name) {
    case "HumanMessage":
      return { role: "user", content: toContent(content) };
    case "AIMessage":
      return toReply(content, kwargs);
    case "SystemMessage":
      return { role: "system", content: toPlainText(content) };
    case "ToolMessage":
      return {
        role: "toolResult",
        toolCallId: text(kwargs["tool_call_id"]) ?? "",
        toolName: text(kwargs["name"]),
        content: toContent(content),
        isError: kwargs["status"] === "error",
      };
    default:
      return { role: "custom", customType: `langchain.${name}`, content: toContent(content) };
  }
}

function toReply(content: unknown, kwargs: JsonObject): StoredMessage {
  const response = isObject(kwargs["response_metadata"]) ? kwargs["response_metadata"] : {};
  const calls: readonly unknown[] = Array.isArray(kwargs["tool_calls"]) ? kwargs["tool_calls"] : [];
  return {
    role: "assistant",
    content: [...toReplyBlocks(content, calls), ...calls.map(toCallBlock)],
    provider: text(response["model_provider"]),
    model: text(response["model_name"]) ?? text(response["model"]),
    usage: usageOf(kwargs["usage_metadata"]),
    stopReason: readStopReason(response),
  };
}

/** The usage of a reply; undefined if it has none that Bough can count. */
function usageOf(given: unknown): Usage | undefined {
  if (!isObject(given)) return undefined;
  try {
    return normalizeUsage(given);
  } catch (error) {
    // The reply is stored without counts; `langchain` keeps what the model reported.
    if (error instanceof InvalidEntryError) return undefined;
    throw error;
  }
}

function readStopReason(response: JsonObject): string | undefined {
  const reason = text(response["finish_reason"] ?? response["stop_reason"] ?? response["finishReason"]);
  return reason === undefined ? undefined : stopReasonOf(reason);
}

type ForeignBlock = Extract<ContentBlock, { type: "foreign" }>;

/** The content of a LangChain message as that of a Bough message. */
function toContent(content: unknown): string | ContentBlock[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(toContentBlock) : [toContentBlock(content)];
}

/** The text of a content. */
function toPlainText(content: unknown): string {
  const blocks = toContent(content);
  if (typeof blocks === "string") return blocks;
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function toContentBlock(block: unknown): ContentBlock {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isObject(block)) return { type: "foreign", originalType: "unknown", raw: block ?? null };
  if (block["type"] === "text" && typeof block["text"] === "string") return { type: "text", text: block["text"] };
  return toMedia(block) ?? { type: "foreign", originalType: text(block["type"]) ?? "unknown", raw: block };
}

// Where LangChain's standard blocks (old and new), OpenAI and Anthropic have the data of an image, a sound or a file.
const HOLDERS = ["source", "file", "image_url", "input_audio", "metadata"] as const;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+$/;

/** An image or a file; undefined if the block has neither data nor a URL. */
function toMedia(block: JsonObject): ContentBlock | undefined {
  const holders = [block, ...HOLDERS.map((name) => block[name]).filter(isObject)];
  const first = (...names: string[]) => holders.flatMap((holder) => names.flatMap((name) => text(holder[name]) ?? [])).at(0);
  const url = first("url", "file_data", "image_url");
  const [, dataType, dataText] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? "") ?? [];
  const data = [dataText, first("data")].find((found) => found !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(found));
  const mediaType = dataType ?? first("mimeType", "mime_type", "media_type") ?? guessedType(block, first("format"));
  const filename = first("filename", "name");
  if (mediaType === undefined || !MEDIA_TYPE.test(mediaType)) return undefined;
  if (data !== undefined && /^image\/[\w.+-]+$/.test(mediaType)) return { type: "image", mimeType: mediaType, data };
  if (data !== undefined) return { type: "file", mediaType, data, filename };
  if (url === undefined || !/^(https?|gs|s3):\S+$/i.test(url)) return undefined;
  return { type: "file", mediaType, url, filename };
}

function guessedType(block: JsonObject, format: string | undefined): string | undefined {
  if (block["type"] === "image" || block["type"] === "image_url") return "image/*";
  return block["type"] === "input_audio" && format !== undefined ? `audio/${format}` : undefined;
}

/** Returns the content of a reply, without calls that are also in `calls`. */
function toReplyBlocks(content: unknown, calls: readonly unknown[]): readonly AssistantBlock[] {
  if (content === "") return [];
  const blocks = toContent(content);
  if (typeof blocks === "string") return [{ type: "text", text: blocks }];
  const called = new Set(calls.map((call) => (isObject(call) ? call["id"] : undefined)));
  return blocks.flatMap((block) => (block.type === "foreign" ? toReplyBlock(block, called) : [block]));
}

/** Thinking, in the shapes of LangChain and of Anthropic. */
function toReplyBlock(block: ForeignBlock, called: ReadonlySet<unknown>): readonly AssistantBlock[] {
  const raw = isObject(block.raw) ? block.raw : {};
  if (/^(tool_use|tool_call)$/.test(block.originalType) && called.has(raw["id"])) return [];
  const thinking = text(raw["thinking"]) ?? text(raw["reasoning"]);
  if (thinking === undefined || !/^(thinking|reasoning)$/.test(block.originalType)) return [block];
  return [{ type: "thinking", thinking, thinkingSignature: text(raw["signature"]) }];
}

/** A tool call; a foreign block if its arguments are no object. */
function toCallBlock(call: unknown, at: number): AssistantBlock {
  const { id, name, args } = isObject(call) ? call : {};
  if (!isObject(args)) return { type: "foreign", originalType: "tool_call", raw: call ?? null };
  return { type: "toolCall", id: text(id) ?? `call-${at + 1}`, name: text(name) ?? "unknown", arguments: args };
}
