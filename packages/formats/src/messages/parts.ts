import {
  isObject,
  isProviderOptions,
  type JsonObject,
  parseArguments,
  stringAt,
  toContentBlock,
  toDataBlock,
  toForeignBlock,
  toReplyBlocks,
  tryStringify,
  without,
} from "@bough/session-core/wire";

/** The parts of a content: a text is one part, null is none. */
export function toParts(content: unknown): readonly unknown[] {
  if (content === undefined || content === null || content === "") return [];
  return Array.isArray(content) ? content : [content];
}

/**
 * A part of a message as a block: the parts of OpenAI (chat completions, Responses), Anthropic and the AI SDK have different types.
 * A part of another type, or with an unexpected shape, is a foreign block. Calls and thinking are such only in a reply.
 */
export function toBlock(part: unknown, isReply: boolean): JsonObject {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isObject(part)) return toForeignBlock(part);
  return (isReply ? replyBlock(part) : undefined) ?? contentBlock(part) ?? toForeignBlock(part);
}

function replyBlock(part: JsonObject): JsonObject | undefined {
  switch (part.type) {
    case "thinking":
    case "redacted_thinking":
    case "tool_use":
      return toReplyBlocks([part])[0];
    case "reasoning":
      return thinkingBlock(part);
    case "tool-call":
      return callBlock(part);
  }
  return undefined;
}

function contentBlock(part: JsonObject): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      return textBlock(part, part.text);
    case "refusal":
      return typeof part.refusal === "string" ? { type: "text", text: part.refusal, refusal: true } : undefined;
    case "document":
      return toContentBlock(part);
    case "image":
      return isObject(part.source) ? toContentBlock(part) : dataBlock(part, part.image, "image/png");
    case "image_url":
    case "input_image":
      return dataBlock(part, isObject(part.image_url) ? part.image_url.url : part.image_url, "image/png");
    case "file":
      return fileBlock(part);
    case "input_audio":
      return audioBlock(part);
  }
  return undefined;
}

function textBlock(part: JsonObject, text: unknown): JsonObject | undefined {
  if (typeof text !== "string") return undefined;
  // Anthropic's members, such as citations, stay; the AI SDK's options have one name in both of its kinds of messages.
  return { ...without(part, [...OPTIONS, "state"]), type: "text", text, ...optionsOf(part) };
}

function thinkingBlock(part: JsonObject): JsonObject | undefined {
  const thinking = stringAt(part, "text") ?? stringAt(part, "reasoning");
  if (thinking === undefined) return undefined;
  const signature = stringAt(part, "signature") ?? anthropicSignature(part);
  const rest = without(part, [...OPTIONS, "text", "reasoning", "signature", "state"]);
  return { ...rest, type: "thinking", thinking, ...(signature === undefined ? {} : { thinkingSignature: signature }), ...optionsOf(part) };
}

function anthropicSignature(part: JsonObject): string | undefined {
  const { anthropic } = optionsOf(part).providerOptions ?? {};
  return anthropic === undefined ? undefined : stringAt(anthropic, "signature");
}

/** A call of the AI SDK, in a part of a message or in a part of a chat page. */
export function callBlock(part: JsonObject): JsonObject | undefined {
  const [id, name] = [stringAt(part, "toolCallId"), stringAt(part, "toolName")];
  if (id === undefined || name === undefined) return undefined;
  return {
    ...without(part, CALL_MEMBERS),
    type: "toolCall",
    id,
    name,
    arguments: parseArguments(part.input ?? part.args),
    ...optionsOf(part),
  };
}

const OPTIONS = ["providerOptions", "callProviderMetadata", "providerMetadata", "resultProviderMetadata"];
const CALL_MEMBERS = [...OPTIONS, "toolCallId", "toolName", "input", "args", "output", "result", "errorText", "state"];

interface Options {
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
}

/** The options that a provider gave to a part, under the AI SDK's two names. */
export function optionsOf(part: JsonObject): Options {
  const options = part.providerOptions ?? part.callProviderMetadata ?? part.providerMetadata;
  return isProviderOptions(options) && Object.keys(options).length > 0 ? { providerOptions: options } : {};
}

function fileBlock(part: JsonObject): JsonObject | undefined {
  const file = isObject(part.file) ? part.file : part;
  const mediaType = stringAt(part, "mediaType") ?? stringAt(part, "mimeType");
  const filename = stringAt(file, "filename");
  const block = dataBlock(part, file.data ?? file.url ?? file.file_data, mediaType);
  return block === undefined || filename === undefined ? block : { ...block, filename };
}

/** A content in base64, a data URL or a URL. */
function dataBlock(part: JsonObject, content: unknown, mediaType: string | undefined): JsonObject | undefined {
  if (typeof content !== "string") return undefined;
  const type = stringAt(part, "mediaType") ?? stringAt(part, "mimeType") ?? mediaType;
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(content);
  const [block] = toDataBlock(isUrl || type === undefined ? content : `data:${type};base64,${content}`);
  if (block === undefined) return undefined;
  return {
    ...block,
    ...(block.type === "file" && block.url !== undefined && type !== undefined ? { mediaType: type } : {}),
    ...optionsOf(part),
  };
}

function audioBlock({ input_audio: audio }: JsonObject): JsonObject | undefined {
  const [data, format] = isObject(audio) ? [stringAt(audio, "data"), stringAt(audio, "format")] : [];
  return data === undefined || format === undefined ? undefined : toDataBlock(`data:audio/${format};base64,${data}`)[0];
}

/** Converts a tool's result, which has one of three forms: a text, parts, or the AI SDK's output. */
export function toResult(value: unknown): { readonly content: string | readonly JsonObject[]; readonly isError: boolean } {
  if (value === undefined || value === null) return { content: [], isError: false };
  if (typeof value === "string") return { content: value, isError: false };
  if (isParts(value)) return { content: value.map((part) => toBlock(part, false)), isError: false };
  const output = isObject(value) && typeof value.type === "string" && OUTPUTS.has(value.type) ? value : undefined;
  if (output === undefined) return { content: tryStringify(value) ?? "", isError: false };
  const said = output.value ?? output.reason;
  return { content: toResult(said).content, isError: output.type !== "text" && output.type !== "json" && output.type !== "content" };
}

const OUTPUTS = new Set(["text", "json", "content", "error-text", "error-json", "execution-denied"]);

function isParts(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => isObject(part) && typeof part.type === "string");
}
