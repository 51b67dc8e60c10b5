// Code that the readers of replies share. A reply comes from a server, so the readers assume nothing about it.
import { describeValue, optional, options, TEXT } from "../../arguments/rules.js";
import { isObject, type JsonObject, tryStringify } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import { InvalidArgumentError } from "../../errors/bough-error.js";

/** Options for reading a reply. */
export interface ReplyOptions {
  /** The provider that is stored with the reply, and under whose name its options are kept; default: the maker of the format. */
  readonly provider?: string | undefined;
  /** The model that was asked, for responses that do not name it, such as those of `/responses/compact`. */
  readonly model?: string | undefined;
}

/** `ReplyOptions`. */
export const REPLY_OPTIONS = options({ provider: optional(TEXT), model: optional(TEXT) });

/** The error for an object that is no reply: the body of a failed request, a chunk of a stream, a response object of fetch. */
export function notAReply(given: unknown, wanted: string): InvalidArgumentError {
  const error = isObject(given) && isObject(given["error"]) ? textIn(given["error"], "message") : undefined;
  return new InvalidArgumentError("reply", wanted, error === undefined ? describeValue(given) : `the error "${error.slice(0, 200)}"`);
}

/** A member that is a text and not empty. */
export function textIn(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A text as a block; none if it is no text, or empty. */
export function textBlocks(text: unknown, more: JsonObject = {}): readonly AssistantBlock[] {
  return typeof text === "string" && text !== "" ? [{ ...more, type: "text", text }] : [];
}

/** Parses the arguments of a call: an object, or its JSON text. Keeps any other value as text in `unreadable`, for the model. */
export function parseArguments(input: unknown): JsonObject {
  if (isObject(input)) return input;
  if (input === undefined || input === null) return {};
  if (typeof input !== "string") return { unreadable: tryStringify(input) };
  if (input.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) ? value : { unreadable: input };
  } catch {
    // Not JSON.
    return { unreadable: input };
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,]*)?;base64,([A-Za-z0-9+/]*={0,2})$/;

/** A data URL or a URL of an image as a block. */
export function toDataBlock(url: string): readonly AssistantBlock[] {
  const [, mediaType, data] = DATA_URL.exec(url) ?? [];
  if (mediaType === undefined || data === undefined)
    return /^https?:\/\/\S+$/.test(url) ? [{ type: "file", mediaType: "image/*", url }] : [];
  return mediaType.startsWith("image/") ? [{ type: "image", mimeType: mediaType, data }] : [{ type: "file", mediaType, data }];
}

/** `object` without the members that are undefined; `object` itself if there are none. */
export function withoutUndefined(object: JsonObject): JsonObject {
  if (!Object.values(object).includes(undefined)) return object;
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
