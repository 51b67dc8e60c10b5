import { isObject, type JsonObject, parseJson, stringAt, without, withoutNulls } from "../../source/json.js";
import { readForeign, readForeignBlock } from "./marks.js";

/** Fields that some versions left behind from streaming (regression R11): they repeat what the record says anyway. */
export const SCRATCH = ["partialJson", "jsonlEvents"];

/** A content of blocks, or a text; undefined when it is neither. Null, which old files have for "nothing", is no block. */
type Content = string | readonly JsonObject[] | undefined;

/** What a person, a tool or a host said. */
export function toContent(content: unknown): Content {
  return toBlocks(content, contentBlock);
}

/** What a model said. */
export function toAssistantContent(content: unknown): Content {
  return toBlocks(content, assistantBlock);
}

function toBlocks(content: unknown, block: (value: JsonObject) => JsonObject): Content {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  return content.map((value: unknown) => (isObject(value) ? block(value) : { type: "foreign", originalType: typeof value, raw: value }));
}

function contentBlock(block: JsonObject): JsonObject {
  switch (block.type) {
    case "text":
      return readForeignBlock(block) ?? (typeof block.text === "string" ? block : toForeignBlock(block));
    case "image":
      return isImage(block) ? block : toForeignBlock(block);
  }
  return toForeignBlock(block);
}

function assistantBlock(given: JsonObject): JsonObject {
  const block = SCRATCH.some((key) => key in given) ? without(given, SCRATCH) : given;
  switch (block.type) {
    case "thinking":
      return thinkingBlock(block);
    case "redactedThinking":
      return redactedBlock(block);
    case "toolCall":
      return toolCallBlock(block);
  }
  return contentBlock(block);
}

/** A block that Bough does not know, or one that is broken: kept whole, sent to no model. */
function toForeignBlock(block: JsonObject): JsonObject {
  const noted = block.type === "foreign" ? readForeign(block) : undefined;
  if (noted !== undefined) return noted;
  return { type: "foreign", originalType: stringAt(block, "type") ?? "unknown", raw: block };
}

function thinkingBlock(given: JsonObject): JsonObject {
  const block = withoutNulls(given, ["thinkingSignature", "redacted"]);
  const { thinking, thinkingSignature, redacted } = block;
  const fits = typeof thinking === "string" && isOptional(thinkingSignature, "string") && isOptional(redacted, "boolean");
  return fits ? block : toForeignBlock(given);
}

function redactedBlock(block: JsonObject): JsonObject {
  const { data } = block;
  if (typeof data !== "string") return toForeignBlock(block);
  return { ...without(block, ["data"]), type: "thinking", thinking: "", thinkingSignature: data, redacted: true };
}

function toolCallBlock(block: JsonObject): JsonObject {
  if (typeof block.id !== "string" || typeof block.name !== "string") return toForeignBlock(block);
  return isObject(block.arguments) ? block : { ...block, arguments: toToolArguments(block.arguments) };
}

// The same two rules as in the gate for blocks, which would load zod for every program that only lists formats.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

function isImage({ data, mimeType }: JsonObject): boolean {
  return typeof data === "string" && typeof mimeType === "string" && IMAGE_TYPE.test(mimeType) && BASE64.test(data);
}

function isOptional(value: unknown, type: "string" | "boolean"): boolean {
  return value === undefined || typeof value === type;
}

/** The arguments of a tool call as an object: some programs wrote them as JSON text, and some texts are no JSON. */
function toToolArguments(given: unknown): JsonObject {
  if (given === null || given === undefined || given === "") return {};
  const value = typeof given === "string" ? parseJson(given) : given;
  return isObject(value) ? value : { raw: given };
}
