// Blocks of Anthropic's Messages API as blocks of Bough. They come from files and servers, so nothing is assumed about them.
import { toForeignBlock } from "../../entry/foreign-block.js";
import { isObject, type JsonObject, objectAt, parseJsonObject, stringAt, without } from "../../entry/json.js";

// An invalid image or document would make the whole message invalid, so it becomes a foreign block.
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

/** The content of a user message or a tool result: a text or blocks; empty for other values. */
export function toContent(content: unknown): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(toContentBlock) : [];
}

/** A block of a user message or a tool result. */
export function toContentBlock(block: unknown): JsonObject {
  if (!isObject(block)) return toForeignBlock(block);
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? block : toForeignBlock(block);
    case "image":
      return imageBlock(block);
    case "document":
      return documentBlock(block);
  }
  return toForeignBlock(block);
}

/** The blocks of a reply. */
export function toReplyBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(toReplyBlock) : [];
}

function toReplyBlock(block: unknown): JsonObject {
  if (!isObject(block)) return toForeignBlock(block);
  switch (block.type) {
    case "thinking":
      return thinkingBlock(block);
    case "redacted_thinking":
      return redactedBlock(block);
    case "tool_use":
      return toolCallBlock(block);
  }
  return toContentBlock(block);
}

function thinkingBlock(block: JsonObject): JsonObject {
  const { thinking, signature } = block;
  if (typeof thinking !== "string") return toForeignBlock(block);
  const rest = without(block, ["signature", "thinkingSignature", "redacted"]);
  return typeof signature === "string" ? { ...rest, thinkingSignature: signature } : rest;
}

function redactedBlock(block: JsonObject): JsonObject {
  const data = stringAt(block, "data");
  if (data === undefined) return toForeignBlock(block);
  return { ...without(block, ["data"]), type: "thinking", thinking: "", thinkingSignature: data, redacted: true };
}

function toolCallBlock(block: JsonObject): JsonObject {
  const id = stringAt(block, "id");
  const name = stringAt(block, "name");
  if (id === undefined || name === undefined) return toForeignBlock(block);
  return { ...without(block, ["input"]), type: "toolCall", id, name, arguments: toArguments(block.input) };
}

// Arguments are an object or its JSON text; other values are kept under `input`.
function toArguments(input: unknown): JsonObject {
  if (isObject(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  return (typeof input === "string" ? parseJsonObject(input) : undefined) ?? { input };
}

function imageBlock(block: JsonObject): JsonObject {
  const source = objectAt(block, "source");
  const data = source === undefined ? undefined : stringAt(source, "data");
  const mimeType = source === undefined ? undefined : stringAt(source, "media_type");
  if (source?.type !== "base64" || data === undefined || mimeType === undefined) return toForeignBlock(block);
  if (!BASE64.test(data) || !IMAGE_TYPE.test(mimeType)) return toForeignBlock(block);
  return { ...without(block, ["source"]), type: "image", data, mimeType };
}

/** A PDF as a file; texts and other documents stay as they are in a foreign block, which `toAnthropic` sends back. */
function documentBlock(block: JsonObject): JsonObject {
  const source = objectAt(block, "source") ?? {};
  const [data, url, title] = [stringAt(source, "data"), stringAt(source, "url"), stringAt(block, "title")];
  const shared = {
    ...without(block, ["source", "title"]),
    type: "file",
    mediaType: PDF,
    ...(title === undefined ? {} : { filename: title }),
  };
  if (source.type === "base64" && source.media_type === PDF && data !== undefined && BASE64.test(data)) return { ...shared, data };
  return source.type === "url" && url !== undefined && /^https?:\/\/\S+$/.test(url) ? { ...shared, url } : toForeignBlock(block);
}

const PDF = "application/pdf";
