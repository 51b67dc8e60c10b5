import type { AssistantBlock, ContentBlock, EntryInput, Message, Usage } from "@bough/session-core";
import { type Shared, sharedWith } from "./shared.js";

/** A message as LangChain serializes it. */
interface SerializedMessage {
  readonly id: readonly unknown[];
  readonly kwargs: Members;
}

type Members = Readonly<Record<string, unknown>>;

/** A message as a Bough message, with `langchain`: the serialized message, without the parts that the Bough message has already. */
export type StoredMessage = Message & { readonly langchain: Shared };

/** Whether a value is an object, and not an array or null. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id that LangChain gave to a message, and its class; undefined if `json` is no serialized message. */
export function identityOf(json: unknown): { readonly id: string | undefined; readonly name: string } | undefined {
  if (!isMessage(json)) return undefined;
  const { id } = json.kwargs;
  return { id: typeof id === "string" ? id : undefined, name: nameOf(json) };
}

/** The message that a serialized LangChain message is in Bough; undefined if `json` is none. */
export function toStoredMessage(json: unknown): StoredMessage | undefined {
  if (!isMessage(json)) return undefined;
  const message = toMessage(nameOf(json), json.kwargs);
  return { ...message, langchain: sharedWith(message, json) };
}

/** An entry for a message, or for a changed version of the message of the entry `targetId`. */
export function messageEntry(id: string, message: StoredMessage, targetId?: string): EntryInput {
  if (targetId === undefined) return { type: "message", id, message };
  const content = message.role === "bashExecution" ? message.output : message.content;
  return { type: "context_edit", id, targetId, replacement: { content, ...{ langchain: message.langchain } } };
}

function isMessage(json: unknown): json is SerializedMessage {
  return (
    isObject(json) &&
    json["lc"] === 1 &&
    json["type"] === "constructor" &&
    isObject(json["kwargs"]) &&
    "content" in json["kwargs"] &&
    Array.isArray(json["id"]) &&
    /Message(Chunk)?$/.test(String(json["id"].at(-1)))
  );
}

function nameOf(message: SerializedMessage): string {
  return String(message.id.at(-1)).replace(/Chunk$/, "");
}

function toMessage(name: string, kwargs: Members): Message {
  switch (name) {
    case "HumanMessage":
      return { role: "user", content: toContent(kwargs["content"]) };
    case "AIMessage":
      return toReply(kwargs);
    case "ToolMessage":
      return {
        role: "toolResult",
        toolCallId: text(kwargs["tool_call_id"]) ?? "",
        toolName: text(kwargs["name"]),
        content: toContent(kwargs["content"]),
        isError: kwargs["status"] === "error",
      };
    case "SystemMessage":
      return { role: "system", content: toSystem(kwargs["content"]) };
    default:
      return { role: "custom", customType: `langchain.${name}`, content: toContent(kwargs["content"]), display: true };
  }
}

function toSystem(content: unknown): string {
  const blocks = toContent(content);
  if (typeof blocks === "string") return blocks;
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function toContent(content: unknown): string | ContentBlock[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(toContentBlock) : [toContentBlock(content)];
}

function toContentBlock(block: unknown): ContentBlock {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isObject(block)) return { type: "foreign", originalType: "unknown", raw: block ?? null };
  if (block["type"] === "text" && typeof block["text"] === "string") return { type: "text", text: block["text"] };
  const image = imageOf(block);
  if (image !== undefined) return { type: "image", ...image };
  return { type: "foreign", originalType: text(block["type"]) ?? "unknown", raw: block };
}

/** The image of a block, in one of the shapes of LangChain and its providers; undefined if it has no data. */
function imageOf(block: Members): { readonly mimeType: string; readonly data: string } | undefined {
  const url = isObject(block["image_url"]) ? block["image_url"]["url"] : block["image_url"];
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/.exec(text(url) ?? "") ?? [];
  if (mimeType !== undefined && data !== undefined) return { mimeType, data };
  const source = isObject(block["source"]) ? block["source"] : block;
  const type = text(source["mimeType"] ?? source["mime_type"] ?? source["media_type"]) ?? "";
  const base64 = text(source["data"]) ?? "";
  if (block["type"] !== "image" || !/^image\/[\w.+-]+$/.test(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  return { mimeType: type, data: base64 };
}

function toReply(kwargs: Members): Message {
  const response = isObject(kwargs["response_metadata"]) ? kwargs["response_metadata"] : {};
  const calls = Array.isArray(kwargs["tool_calls"]) ? kwargs["tool_calls"] : [];
  return {
    role: "assistant",
    content: [...toReplyBlocks(kwargs["content"], calls), ...calls.map(toCall)],
    provider: text(response["model_provider"]),
    model: text(response["model_name"]) ?? text(response["model"]),
    usage: usageOf(kwargs["usage_metadata"]),
    stopReason: stopReasonOf(response),
  };
}

function toReplyBlocks(content: unknown, calls: readonly unknown[]): readonly AssistantBlock[] {
  if (content === "") return [];
  const blocks = toContent(content);
  if (typeof blocks === "string") return [{ type: "text", text: blocks }];
  const called = new Set(calls.map((call) => (isObject(call) ? call["id"] : undefined)));
  return blocks.flatMap((block) => (block.type === "foreign" ? toReplyBlock(block, called) : [block]));
}

type ForeignBlock = Extract<ContentBlock, { type: "foreign" }>;

/** Thinking, in the shapes of LangChain and of Anthropic. A call that stands among the tool calls too is left out. */
function toReplyBlock(block: ForeignBlock, called: ReadonlySet<unknown>): readonly AssistantBlock[] {
  const raw = isObject(block.raw) ? block.raw : {};
  if (/^(tool_use|tool_call)$/.test(block.originalType) && called.has(raw["id"])) return [];
  const thinking = text(raw["thinking"]) ?? text(raw["reasoning"]);
  if (thinking === undefined || !/^(thinking|reasoning)$/.test(block.originalType)) return [block];
  return [{ type: "thinking", thinking, thinkingSignature: text(raw["signature"]) }];
}

function toCall(call: unknown, at: number): AssistantBlock {
  const { id, name, args } = isObject(call) ? call : {};
  if (!isObject(args)) return { type: "foreign", originalType: "tool_call", raw: call };
  return { type: "toolCall", id: text(id) ?? `call-${at + 1}`, name: text(name) ?? "unknown", arguments: args };
}

/** LangChain counts the cached tokens as input too; Bough counts them apart. */
function usageOf(given: unknown): Usage | undefined {
  if (!isObject(given)) return undefined;
  const details = isObject(given["input_token_details"]) ? given["input_token_details"] : {};
  const cacheRead = count(details["cache_read"]);
  const cacheWrite = count(details["cache_creation"]);
  return {
    input: Math.max(0, count(given["input_tokens"]) - cacheRead - cacheWrite),
    output: count(given["output_tokens"]),
    ...(cacheRead > 0 ? { cacheRead } : {}),
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
    totalTokens: count(given["total_tokens"]),
  };
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["STOP", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["MAX_TOKENS", "length"],
  ["tool_calls", "toolUse"],
  ["tool_use", "toolUse"],
  ["content_filter", "contentFilter"],
]);

function stopReasonOf(response: Members): string | undefined {
  const reason = response["finish_reason"] ?? response["stop_reason"] ?? response["finishReason"];
  return STOP_REASONS.get(reason) ?? text(reason);
}

function count(value: unknown): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : 0;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
