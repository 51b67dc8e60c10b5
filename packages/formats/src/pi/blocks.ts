import { isObject, type JsonObject, parseJson, stringAt, without, withoutNulls } from "@bough/session-core/wire";
import { readFileBlock, readForeign, readForeignBlock, TEXT_CONTENT } from "./marks.js";

/** Fields that some versions left behind from streaming. They repeat other fields of the record. */
export const SCRATCH = ["partialJson", "jsonlEvents"];

/** A content: blocks or a text; undefined for other values. Null, as in old files, is empty content. */
type Content = string | readonly JsonObject[] | undefined;

/** The content of a user message, tool result or custom message. */
export function toContent(content: unknown): Content {
  const [only, ...others] = Array.isArray(content) ? content.filter(isObject) : [];
  const isText = only !== undefined && others.length === 0 && only[TEXT_CONTENT] === true;
  return (isText ? stringAt(only, "text") : undefined) ?? toBlocks(content, contentBlock);
}

/** The content of a reply. */
export function toAssistantContent(content: unknown): Content {
  return toBlocks(content, assistantBlock);
}

function toBlocks(content: unknown, block: (value: JsonObject) => JsonObject): Content {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const blocks = content.map((value: unknown) =>
    isObject(value) ? block(value) : { type: "foreign", originalType: typeof value, raw: value },
  );
  // The array itself if nothing changed, so that an unchanged message needs no copy.
  return blocks.every((one, at) => one === content[at]) ? content : blocks;
}

function contentBlock(block: JsonObject): JsonObject {
  switch (block.type) {
    case "text":
      return readReplacedBlock(block) ?? (typeof block.text === "string" ? block : toForeignBlock(block));
    case "image":
      return isImage(block) ? block : toForeignBlock(block);
    case "file":
      return isFile(block) ? block : toForeignBlock(block);
  }
  return toForeignBlock(block);
}

/** The block that Bough replaced by this text block when it wrote the file; undefined for any other block. */
function readReplacedBlock(block: JsonObject): JsonObject | undefined {
  const file = readFileBlock(block);
  return file !== undefined && isFile(file) ? file : readForeignBlock(block);
}

function assistantBlock(source: JsonObject): JsonObject {
  const block = SCRATCH.some((key) => key in source) ? without(source, SCRATCH) : source;
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

/** A block of an unknown type or an invalid one: stored unchanged as a foreign block. */
function toForeignBlock(block: JsonObject): JsonObject {
  const noted = block.type === "foreign" ? readForeign(block) : undefined;
  if (noted !== undefined) return noted;
  return { type: "foreign", originalType: stringAt(block, "type") ?? "unknown", raw: block };
}

function thinkingBlock(source: JsonObject): JsonObject {
  const block = withoutNulls(source, ["thinkingSignature", "redacted"]);
  const { thinking, thinkingSignature, redacted } = block;
  const isValid = typeof thinking === "string" && isOptional(thinkingSignature, "string") && isOptional(redacted, "boolean");
  return isValid ? block : toForeignBlock(source);
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

// The same rules as in the schemas of images and files (entry/message.ts), repeated here because that file loads zod.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

function isImage({ data, mimeType }: JsonObject): boolean {
  return typeof data === "string" && typeof mimeType === "string" && IMAGE_TYPE.test(mimeType) && BASE64.test(data);
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+(;.*)?$/;
const URL_OF_FILE = /^(?!data:)[a-z][a-z0-9+.-]*:\S+$/i;

function isFile({ mediaType, data, url, filename }: JsonObject): boolean {
  if (typeof mediaType !== "string" || !MEDIA_TYPE.test(mediaType) || !isOptional(filename, "string")) return false;
  if (data === undefined) return typeof url === "string" && URL_OF_FILE.test(url);
  return url === undefined && typeof data === "string" && BASE64.test(data);
}

function isOptional(value: unknown, type: "string" | "boolean"): boolean {
  return value === undefined || typeof value === type;
}

/** The arguments of a tool call as an object. Some programs wrote them as JSON text, or as text that is not JSON. */
function toToolArguments(source: unknown): JsonObject {
  if (source === null || source === undefined || source === "") return {};
  const value = typeof source === "string" ? parseJson(source) : source;
  return isObject(value) ? value : { raw: source };
}
