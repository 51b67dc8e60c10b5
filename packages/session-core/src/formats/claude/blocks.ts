import { foreignBlock } from "../../entry/foreign-block.js";
import { parsedObject } from "../../source/json-text.js";
import { isObject, type JsonObject, objectAt, stringAt, without } from "../../source/narrow.js";

// The gate refuses an image that is none, and with it the whole message; so such a block is kept as a foreign one.
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

/** The content of a person's message or a tool's answer: a text as it stands, or blocks. null and the like: nothing. */
export function contentOf(content: unknown): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(contentBlock) : [];
}

/** One block of a person's message or a tool's answer. */
export function contentBlock(block: unknown): JsonObject {
  if (!isObject(block)) return foreignBlock(block);
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? block : foreignBlock(block);
    case "image":
      return imageBlock(block);
  }
  return foreignBlock(block);
}

/** The blocks of one line of a reply. */
export function replyBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(replyBlock) : [];
}

function replyBlock(block: unknown): JsonObject {
  if (!isObject(block)) return foreignBlock(block);
  switch (block.type) {
    case "thinking":
      return thinkingBlock(block);
    case "redacted_thinking":
      return redactedBlock(block);
    case "tool_use":
      return toolCallBlock(block);
  }
  return contentBlock(block);
}

function thinkingBlock(block: JsonObject): JsonObject {
  const { thinking, signature } = block;
  if (typeof thinking !== "string") return foreignBlock(block);
  const rest = without(block, ["signature", "thinkingSignature", "redacted"]);
  return typeof signature === "string" ? { ...rest, thinkingSignature: signature } : rest;
}

function redactedBlock(block: JsonObject): JsonObject {
  const data = stringAt(block, "data");
  if (data === undefined) return foreignBlock(block);
  return { ...without(block, ["data"]), type: "thinking", thinking: "", thinkingSignature: data, redacted: true };
}

function toolCallBlock(block: JsonObject): JsonObject {
  const id = stringAt(block, "id");
  const name = stringAt(block, "name");
  if (id === undefined || name === undefined) return foreignBlock(block);
  return { ...without(block, ["input"]), type: "toolCall", id, name, arguments: argumentsOf(block.input) };
}

// Arguments are an object, or a text that should have become one; what is neither is kept under `input`.
function argumentsOf(input: unknown): JsonObject {
  if (isObject(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  return (typeof input === "string" ? parsedObject(input) : undefined) ?? { input };
}

function imageBlock(block: JsonObject): JsonObject {
  const source = objectAt(block, "source");
  const data = source === undefined ? undefined : stringAt(source, "data");
  const mimeType = source === undefined ? undefined : stringAt(source, "media_type");
  if (source?.type !== "base64" || data === undefined || mimeType === undefined) return foreignBlock(block);
  if (!BASE64.test(data) || !IMAGE_TYPE.test(mimeType)) return foreignBlock(block);
  return { ...without(block, ["source"]), type: "image", data, mimeType };
}
