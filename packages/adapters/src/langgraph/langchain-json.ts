import { isObject, type JsonObject } from "@bough/session-core/wire";

// The types of the JSON of LangChain's and LangGraph's serializers.

/** A message as LangChain serializes it. */
export interface SerializedMessage {
  readonly id: readonly unknown[];
  readonly kwargs: JsonObject;
}

/** True if a value is a serialized message. */
export function isMessage(json: unknown): json is SerializedMessage {
  if (!isObject(json) || json["lc"] !== 1 || json["type"] !== "constructor" || !Array.isArray(json["id"])) return false;
  const { kwargs } = json;
  if (!isObject(kwargs) || !("content" in kwargs || "content_blocks" in kwargs)) return false;
  return /Message(Chunk)?$/.test(String(json["id"].at(-1)));
}

/** The class of a message; a part of a stream has that of the whole. */
export function classOf({ id }: SerializedMessage): string {
  return String(id.at(-1)).replace(/Chunk$/, "");
}

/** A text, or undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The content of a message, which has another name where it consists of LangChain's standard blocks. */
export function contentOf({ kwargs }: SerializedMessage): unknown {
  return kwargs["content"] ?? kwargs["content_blocks"];
}
