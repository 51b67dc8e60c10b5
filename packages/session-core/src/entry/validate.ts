import type { core } from "zod";
import { InvalidEntryError } from "../errors/session-errors.js";
import { isId } from "../ids/ids.js";
import { type EntryPayload, entryPayloadSchema } from "./entry.js";
import { encodeBytes, isObject, type JsonObject } from "./json.js";
import { isProviderOptions } from "./provider-options.js";

/** A valid entry: its payload, and the id and time that the caller gave. */
export interface ValidatedEntry {
  readonly payload: EntryPayload;
  readonly id: string | undefined;
  readonly createdAtMs: number | undefined;
  /** The JSON text of the payload without its type, if it is known. */
  readonly payloadJson?: string | undefined;
  /** The same for all copies of an entry: entry/origins.ts. undefined: it has no copies but those that Bough makes. */
  readonly origin?: string | undefined;
}

/**
 * Validates an entry that a caller or a file supplied. The payload is as it is stored: see `encodeBytes`. Unknown fields are kept; `seq` and
 * `parentId`, which the store sets, are removed.
 *
 * @param inSchemaOrder Returns a copy of the payload whose known members come first, in the order of the schema; default: the given
 * order is kept if nothing has to be changed.
 * @throws {InvalidEntryError} with the path of the first invalid field.
 * @throws {UnserializableValueError} with the path of the first value that JSON cannot represent.
 */
export function validateEntry(given: unknown, inSchemaOrder = false): ValidatedEntry {
  const storable = encodeBytes(given, "entry");
  const data = !inSchemaOrder && isPlainPayload(storable) ? storable : parsePayload(storable);
  const { id, createdAtMs } = data;
  if (id !== undefined && (typeof id !== "string" || !isId(id))) {
    throw new InvalidEntryError("id", "must be 1 to 128 visible characters without spaces");
  }
  if (!isOptionalTime(createdAtMs)) {
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
  }
  return { payload: withoutPosition(data), id, createdAtMs };
}

function parsePayload(given: unknown): EntryPayload {
  if (typeof given === "string") throw new InvalidEntryError("", 'it is a text; a message of the user is appended as userMessage("…")');
  const validated = entryPayloadSchema.safeParse(given);
  if (!validated.success) throw isBareMessage(given) ? bareMessageError() : toInvalidEntryError(validated.error.issues);
  restoreProtoMembers(given, validated.data);
  return validated.data;
}

function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value);
}

/**
 * Restores members named `__proto__`, which zod leaves out of the objects it creates. They are defined, not assigned, so that
 * they do not become prototypes. Visits only the objects that zod created.
 */
function restoreProtoMembers(input: unknown, made: unknown): void {
  if (input === made || typeof made !== "object" || made === null) return;
  if (Array.isArray(made)) {
    if (Array.isArray(input)) for (let at = 0; at < made.length; at += 1) restoreProtoMembers(input[at], made[at]);
    return;
  }
  if (!isObject(input)) return;
  if (Object.hasOwn(input, "__proto__")) {
    const value: unknown = Object.getOwnPropertyDescriptor(input, "__proto__")?.value;
    Object.defineProperty(made, "__proto__", { value, enumerable: true, writable: true, configurable: true });
  }
  for (const [name, member] of Object.entries(made)) if (name !== "__proto__") restoreProtoMembers(input[name], member);
}

function bareMessageError(): InvalidEntryError {
  return new InvalidEntryError("type", 'a message is appended as { type: "message", message }; userMessage(text) makes one');
}

/** The most frequent mistake: a message in place of an entry. */
function isBareMessage(given: unknown): boolean {
  return typeof given === "object" && given !== null && "role" in given && !("type" in given);
}

function withoutPosition(data: EntryPayload): EntryPayload {
  // Most appends give no id and no time, and a copy costs as much as the validation.
  if (!("id" in data || "createdAtMs" in data || "seq" in data || "parentId" in data)) return data;
  const { id: _id, createdAtMs: _createdAtMs, seq: _seq, parentId: _parentId, ...payload } = data;
  // The rest of a union by destructuring is not the union of the rests, so the type is restated.
  return payload as EntryPayload;
}

function toInvalidEntryError(issues: readonly core.$ZodIssue[]): InvalidEntryError {
  const { path, message } = deepestIssue(issues, []);
  return new InvalidEntryError(pathText(path), message.replace(/^Invalid input: /, ""));
}

interface FoundIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

// A union reports a list of issues for each of its members. The deepest issue is of the member that the caller meant.
function deepestIssue(issues: readonly core.$ZodIssue[], base: readonly PropertyKey[]): FoundIssue {
  let deepest: FoundIssue = { path: base, message: "does not fit" };
  for (const issue of issues) {
    const path = [...base, ...issue.path];
    const here: FoundIssue =
      issue.code === "invalid_union" && issue.errors.length > 0
        ? issue.errors.map((member) => deepestIssue(member, path)).reduce(deeperOf)
        : { path, message: issue.message };
    deepest = deepest.message === "does not fit" ? here : deeperOf(deepest, here);
  }
  return deepest;
}

function deeperOf(a: FoundIssue, b: FoundIssue): FoundIssue {
  return b.path.length > a.path.length ? b : a;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((step, at) => (typeof step === "number" ? `[${step}]` : `${at > 0 ? "." : ""}${String(step)}`)).join("");
}

// Recognizes the payloads that zod would accept and return unchanged. Ten times faster than zod, which copies every object.
// A payload that is not recognized is not invalid: zod decides about it.

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
