import { Buffer } from "node:buffer";
import type { FileBlock, ForeignBlock, ImageBlock, ProviderOptions, TextBlock, ThinkingBlock, ToolCallBlock } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type { ProviderMetadata } from "ai";

/** Provider metadata as the member `providerOptions` of a block; nothing if it is empty. */
export function optionsMember(metadata: ProviderOptions | ProviderMetadata | undefined): { providerOptions?: ProviderOptions } {
  if (metadata === undefined) return {};
  const filled = Object.entries(metadata).filter(([, members]) => Object.keys(members).length > 0);
  return filled.length === 0 ? {} : { providerOptions: Object.fromEntries(filled) };
}

/** A text block. */
export function textBlock(text: string, metadata: ProviderMetadata | undefined): TextBlock {
  return { type: "text", text, ...optionsMember(metadata) };
}

/** A thinking block. Anthropic's signature, or the data of redacted thinking, becomes `thinkingSignature`. */
export function thinkingBlock(thinking: string, metadata: ProviderMetadata | undefined): ThinkingBlock {
  const { anthropic, ...others } = metadata ?? {};
  const { signature, redactedData, ...rest } = anthropic ?? {};
  const redacted = typeof redactedData === "string";
  const opaque = redacted ? redactedData : signature;
  return {
    type: "thinking",
    thinking,
    ...(typeof opaque === "string" ? { thinkingSignature: opaque } : {}),
    ...(redacted ? { redacted } : {}),
    ...optionsMember({ ...others, anthropic: rest }),
  };
}

/** The provider metadata of a thinking block: the reverse of `thinkingBlock`. */
export function thinkingMetadata({ thinkingSignature, redacted, providerOptions }: ThinkingBlock): ProviderOptions | undefined {
  if (thinkingSignature === undefined) return providerOptions;
  const own = redacted === true ? { redactedData: thinkingSignature } : { signature: thinkingSignature };
  return { ...providerOptions, anthropic: { ...providerOptions?.["anthropic"], ...own } };
}

/** A tool call of the SDK. */
export interface ForeignCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerExecuted?: boolean | undefined;
  readonly dynamic?: boolean | undefined;
  readonly title?: string | undefined;
  readonly toolMetadata?: object | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A tool call. Arguments that are no object, such as invalid JSON, are kept as `unreadable`. */
export function callBlock(call: ForeignCall): ToolCallBlock {
  const { toolCallId: id, toolName: name, input, providerExecuted, dynamic, title, toolMetadata, providerMetadata } = call;
  return {
    type: "toolCall",
    id,
    name,
    arguments: isObject(input) ? toJsonObject(input) : { unreadable: typeof input === "string" ? input : JSON.stringify(input ?? null) },
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...(dynamic === true ? { dynamic } : {}),
    ...(title === undefined ? {} : { title }),
    ...(toolMetadata === undefined ? {} : { toolMetadata }),
    ...optionsMember(providerMetadata),
  };
}

/** A value as JSON: without functions, undefined members and classes. */
export function toJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}

function toJsonObject(value: object): Record<string, unknown> {
  const json = toJson(value);
  return isObject(json) ? { ...json } : {};
}

const DATA_URL = /^data:([^;,]*)(?:;[^;,]+)*;base64,(.*)$/s;

/**
 * An image or file block. `content`: base64, a URL, a data URL or bytes; in version 7 also with its kind, such as `{ type: "url", url }`.
 * A content that is none of these, such as a reference to a file of the provider, is kept as a foreign block.
 */
export function fileBlock(
  content: unknown,
  given: string | undefined,
  more: { readonly filename?: string | undefined; readonly metadata?: ProviderMetadata | undefined } = {},
): ImageBlock | FileBlock | ForeignBlock {
  const { filename, metadata } = more;
  const shared = { ...(filename === undefined ? {} : { filename }), ...optionsMember(metadata) };
  const text = toText(content);
  if (text === undefined) return { type: "foreign", originalType: "file", raw: toJson({ data: content, mediaType: given, ...shared }) };
  const [, typeInUrl = "", dataInUrl] = DATA_URL.exec(text) ?? [];
  const isUrl = dataInUrl === undefined && /^[a-z][a-z0-9+.-]*:/i.test(text);
  const data = isUrl ? undefined : (dataInUrl ?? text);
  const mediaType = wholeType(given, typeInUrl, data);
  const isValid = data === undefined ? !/^data:|\s/.test(text) : /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  if (!isValid) return { type: "foreign", originalType: "file", raw: { url: text, mediaType, ...shared } };
  if (data === undefined) return { type: "file", mediaType, url: text, ...shared };
  if (/^image\/[\w.+-]+$/.test(mediaType)) return { type: "image", data, mimeType: mediaType, ...shared };
  return { type: "file", mediaType, data, ...shared };
}

/** A URL, or base64; undefined: neither. */
function toText(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (content instanceof URL) return content.href;
  if (content instanceof Uint8Array || content instanceof ArrayBuffer) return Buffer.from(new Uint8Array(content)).toString("base64");
  if (!isObject(content)) return undefined;
  if (content["type"] === "text") return typeof content["text"] === "string" ? Buffer.from(content["text"]).toString("base64") : undefined;
  return content["type"] === "data" || content["type"] === "url" ? toText(content[content["type"]]) : undefined;
}

/** The start of the base64 of an image, by its type. */
const IMAGES = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lG", "image/gif"],
  ["UklG", "image/webp"],
] as const;

/** The type of a file. Of one that is only said to be an image (`image`, `image/*`): that of its data URL, or what the first bytes say. */
function wholeType(given: string | undefined, typeInUrl: string, data: string | undefined): string {
  const isPart = given === undefined || !given.includes("/") || given.endsWith("/*");
  if (isPart && typeInUrl !== "") return typeInUrl;
  if (given === undefined) return "application/octet-stream";
  if (isPart && given.startsWith("image") && data !== undefined)
    return IMAGES.find(([start]) => data.startsWith(start))?.[1] ?? "image/png";
  return given.includes("/") ? given : `${given}/*`;
}

/** A file that a model made while it thought: only its provider can read it. */
export function thinkingFileBlock(content: unknown, mediaType: string, metadata: ProviderMetadata | undefined): ForeignBlock {
  return shownBlock({ ...fileBlock(content, mediaType, { metadata }), type: "reasoning-file" });
}

/** A part that only a page shows, such as a source: stored unchanged, and never sent to a model. */
export function shownBlock(part: { readonly type: string }): ForeignBlock {
  return { type: "foreign", originalType: part.type, raw: toJson(part) };
}
