import {
  isObject,
  type JsonObject,
  objectAt,
  parseArguments,
  stringAt,
  toDataBlock,
  toForeignBlock,
  tryStringify,
} from "@bough/session-core/wire";

/** The parts of a content of Google's API: a text, a part, or a list of both. */
export function toParts(content: unknown): readonly JsonObject[] {
  if (content === undefined || content === null || content === "") return [];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "string" ? { text: part } : isObject(part) ? part : { unknown: part }));
}

/** The texts of parts that are not thoughts. */
export function textOf(parts: readonly JsonObject[]): string {
  return parts.flatMap((part) => (part.thought === true ? [] : (stringAt(part, "text") ?? []))).join("\n");
}

/** True if a part is the result of a call. */
export function isResponse(part: JsonObject): boolean {
  return isObject(part.functionResponse);
}

/** A part that is neither a call nor the result of one as a block. */
export function toBlock(part: JsonObject): JsonObject {
  const text = stringAt(part, "text");
  if (text !== undefined) return part.thought === true ? { type: "thinking", thinking: text, ...signatureOf(part) } : textBlock(text, part);
  const [block] = isObject(part.inlineData) ? dataBlock(part.inlineData) : isObject(part.fileData) ? uriBlock(part.fileData) : [];
  return block ?? { ...toForeignBlock(part), originalType: Object.keys(part)[0] ?? "part" };
}

function textBlock(text: string, part: JsonObject): JsonObject {
  return { type: "text", text, ...signatureOf(part) };
}

/** The signature of a part, under the name that the AI SDK and the converters of contexts use. */
export function signatureOf(part: JsonObject): JsonObject {
  const signature = stringAt(part, "thoughtSignature");
  return signature === undefined ? {} : { providerOptions: { google: { thoughtSignature: signature } } };
}

function dataBlock({ mimeType, data }: JsonObject): readonly JsonObject[] {
  return typeof mimeType === "string" && typeof data === "string" ? toDataBlock(`data:${mimeType};base64,${data}`) : [];
}

const URL_OF_FILE = /^(?!data:)[a-z][a-z0-9+.-]*:\S+$/i;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+$/;

function uriBlock({ fileUri: url, mimeType: mediaType }: JsonObject): readonly JsonObject[] {
  const isUsable = typeof url === "string" && URL_OF_FILE.test(url) && typeof mediaType === "string" && MEDIA_TYPE.test(mediaType);
  return isUsable ? [{ type: "file", mediaType, url }] : [];
}

/** The call in a part with `functionCall`; `id`: for one without an id of its own. */
export function callBlock(part: JsonObject, id: string): JsonObject {
  const call = objectAt(part, "functionCall") ?? {};
  const name = stringAt(call, "name") ?? "unknown";
  return { type: "toolCall", id: stringAt(call, "id") ?? id, name, arguments: parseArguments(call.args), ...signatureOf(part) };
}

/** Converts the answer of a tool: the text of its output or error, other answers as JSON, and the media beside it. */
export function toResultContent(parts: readonly JsonObject[]): readonly JsonObject[] {
  return parts.flatMap((part) => {
    const answer = objectAt(part, "functionResponse");
    if (answer === undefined) return [toBlock(part)];
    const media = Array.isArray(answer.parts) ? toParts(answer.parts).map(toBlock) : [];
    return [...answerBlocks(answer.response), ...media];
  });
}

function answerBlocks(response: unknown): readonly JsonObject[] {
  if (response === undefined || response === null) return [];
  const said = isObject(response) ? (response.output ?? response.error ?? response.result ?? response.content) : response;
  const text = typeof said === "string" ? said : tryStringify(response);
  return text === undefined || text === "{}" ? [] : [{ type: "text", text }];
}

export function isErrorAnswer(parts: readonly JsonObject[]): boolean {
  return parts.some((part) => {
    const response = objectAt(objectAt(part, "functionResponse") ?? {}, "response") ?? {};
    return response.error !== undefined && response.output === undefined;
  });
}
