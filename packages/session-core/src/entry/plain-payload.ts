// Recognizes the payloads that zod would accept and return unchanged. Ten times faster than zod, which copies every object.
// A payload that is not recognized is not invalid: zod decides about it.
import type { EntryPayload } from "./entry.js";
import { isObject, type JsonObject } from "./json.js";
import { isProviderOptions } from "./provider-options.js";

/**
 * True if `value`, which `assertJson` accepted, is a payload that its schema accepts without changing it. Recognizes messages of
 * the system, the user, a model and a tool, and foreign entries; false for all other payloads.
 *
 * The schemas of entry.ts and message.ts remain the definition: a property compares them with this function.
 */
export function isPlainPayload(value: unknown): value is EntryPayload {
  if (!isOwnObject(value)) return false;
  switch (value["type"]) {
    case "message":
      return isEnumerable.call(value, "message") && isPlainMessage(value["message"]);
    case "foreign":
      return isForeign(value);
  }
  return false;
}

function isPlainMessage(message: unknown): boolean {
  if (!isOwnObject(message) || !isEnumerable.call(message, "role") || !isEnumerable.call(message, "content")) return false;
  const { content } = message;
  if (!hasValidOptions(message)) return false;
  switch (message["role"]) {
    case "user":
      return typeof content === "string" || areBlocks(content, isContentBlock);
    case "assistant":
      return areBlocks(content, isReplyBlock) && hasReplyFields(message);
    case "toolResult":
      return (
        hasText(message, "toolCallId") &&
        isOptionalText(message["toolName"]) &&
        typeof message["isError"] === "boolean" &&
        isEnumerable.call(message, "isError") &&
        (typeof content === "string" || areBlocks(content, isContentBlock))
      );
    case "system":
      return typeof content === "string" || areBlocks(content, isTextBlock);
  }
  return false;
}

function hasReplyFields(message: JsonObject): boolean {
  return (
    isOptionalText(message["provider"]) &&
    isOptionalText(message["model"]) &&
    isOptionalText(message["stopReason"]) &&
    isOptionalText(message["errorMessage"]) &&
    (message["usage"] === undefined || isUsage(message["usage"]))
  );
}

function isUsage(usage: unknown): boolean {
  if (!isOwnObject(usage)) return false;
  const { input, output, cacheRead, cacheWrite, totalTokens, cost } = usage;
  if (![input, output, cacheRead, cacheWrite, totalTokens].every(isOptionalCount)) return false;
  return cost === undefined || (isOwnObject(cost) && isOptionalCount(cost["total"]));
}

function areBlocks(content: unknown, isBlock: (block: JsonObject) => boolean): boolean {
  return (
    Array.isArray(content) &&
    content.every((block: unknown) => isOwnObject(block) && isEnumerable.call(block, "type") && isBlock(block) && hasValidOptions(block))
  );
}

function hasValidOptions({ providerOptions }: JsonObject): boolean {
  return providerOptions === undefined || isProviderOptions(providerOptions);
}

function isReplyBlock(block: JsonObject): boolean {
  switch (block["type"]) {
    case "toolCall":
      return hasText(block, "id") && hasText(block, "name") && isObject(block["arguments"]) && isEnumerable.call(block, "arguments");
    case "thinking":
      return (
        hasText(block, "thinking") &&
        isOptionalText(block["thinkingSignature"]) &&
        (block["redacted"] === undefined || typeof block["redacted"] === "boolean")
      );
  }
  return isContentBlock(block);
}

// Images and files are left to zod, which checks their data.
function isContentBlock(block: JsonObject): boolean {
  return isTextBlock(block) || (block["type"] === "foreign" && isForeign(block));
}

function isTextBlock(block: JsonObject): boolean {
  return block["type"] === "text" && hasText(block, "text");
}

function isForeign(value: JsonObject): boolean {
  return hasText(value, "originalType") && value["raw"] !== undefined && isEnumerable.call(value, "raw");
}

const isEnumerable = Object.prototype.propertyIsEnumerable;

// A member that JSON.stringify writes: zod also reads members that are not enumerable.
function hasText(object: JsonObject, name: string): boolean {
  return typeof object[name] === "string" && isEnumerable.call(object, name);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isOptionalCount(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && value >= 0);
}

/** True if `value` is an object without inherited members: zod reads these, and JSON.stringify omits them. */
function isOwnObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
