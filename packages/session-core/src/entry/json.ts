import { Buffer } from "node:buffer";
import { InvalidEntryError, TooLargeError, UnserializableValueError } from "../errors/session-errors.js";
import { quoted } from "../ids/ids.js";

/** A value that JSON can represent. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object whose members are not validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True if `value` is an object, and not an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True if `value` is a list of values and not one of them. `Array.isArray` does not narrow a readonly array. */
export function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/**
 * The longest JSON text of one row, in UTF-16 code units. SQLite's limit is 1,000,000,000 bytes, and a code unit has at most
 * three bytes; JavaScript's longest string is twice as long.
 */
export const MAX_JSON_LENGTH = 2 ** 28;

/** The JSON text of a value that `assertJson` accepted. @throws {TooLargeError} it is too long for a row. */
export function jsonText(value: unknown, what: string): string {
  const text = stringifyJson(value, what);
  if (text.length > MAX_JSON_LENGTH) throw new TooLargeError(what, MAX_JSON_LENGTH);
  return text;
}

function stringifyJson(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The text would be longer than the longest string; `assertJson` rejected deep nesting before.
    if (error instanceof RangeError) throw new TooLargeError(what, MAX_JSON_LENGTH, { cause: error });
    throw error;
  }
}

/** The deepest nesting that is stored. SQLite's json_valid fails at 1,000, JSON.parse later. */
const MAX_DEPTH = 500;

/** The name of the only member of an object that encodes bytes; see bytes.ts. */
const RESERVED_NAME = "$bough.bytes";

/** True if `name` is the reserved name, with any number of `$` before it. */
function isReservedName(name: string): boolean {
  return name.endsWith(RESERVED_NAME) && /^\$*$/.test(name.slice(0, -RESERVED_NAME.length));
}

/**
 * Throws unless `JSON.parse(JSON.stringify(value))` equals `value`; `undefined` members count as missing.
 *
 * Linear in the number of members, not in the length of texts: less than a microsecond for an ordinary message.
 *
 * @throws {UnserializableValueError} with the path of the first value that JSON cannot represent.
 */
export function assertJson(value: unknown, at: string): asserts value is Json {
  if (!isJson(value, 0, true)) throw firstMisfit(value, at, 0);
}

/** True if `assertJson` accepts `value` and it has no member with a reserved name. */
export function isPlainJson(value: unknown): boolean {
  return isJson(value, 0, false);
}

const DOLLAR = 36;

// Called for every append, so it builds no paths; `firstMisfit` finds the path after a failure.
function isJson(value: unknown, depth: number, allowsReserved: boolean): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return (
        value === null ||
        (depth <= MAX_DEPTH &&
          (Array.isArray(value)
            ? isJsonArray(value, depth, allowsReserved)
            : isPlainObject(value) && isJsonObject(value, depth, allowsReserved)))
      );
    case "bigint":
    case "function":
    case "symbol":
      return false;
  }
}

function isJsonArray(values: readonly unknown[], depth: number, allowsReserved: boolean): boolean {
  if ("toJSON" in values) return false;
  // JSON.stringify writes an undefined element as null, and leaves out an undefined member.
  for (const value of values) if (value === undefined || !isJson(value, depth + 1, allowsReserved)) return false;
  return true;
}

function isJsonObject(value: JsonObject, depth: number, allowsReserved: boolean): boolean {
  // JSON.stringify calls toJSON also where it is inherited or not enumerable, and writes its result.
  if ("toJSON" in value && typeof value.toJSON === "function") return false;
  for (const key in value) {
    if (key.charCodeAt(0) === DOLLAR && !allowsReserved && isReservedName(key)) return false;
    if (!isJson(value[key], depth + 1, allowsReserved)) return false;
  }
  return true;
}

/** True if `value` is an object literal, or an object without a prototype. */
export function isPlainObject(value: object): value is JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of an object of another realm (a worker, a test runner) is that realm's Object.prototype, which has none.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The error for a value at the depth where a check ends: the start of its path names the member that contains it. */
function tooDeep(at: string): UnserializableValueError {
  return new UnserializableValueError(quoted(at, 60), "a cycle, or more than 500 levels");
}

/** The error for the first value that JSON cannot represent. */
function firstMisfit(value: unknown, path: string, depth: number): UnserializableValueError {
  if (typeof value !== "object" || value === null)
    return new UnserializableValueError(path, typeof value === "number" ? String(value) : `a ${typeof value}`);
  // A cycle reaches this limit too.
  if (depth > MAX_DEPTH) return tooDeep(path);
  if (!Array.isArray(value) && !isPlainObject(value)) return new UnserializableValueError(path, `a ${classNameOf(value)}`);
  const gap = Array.isArray(value) ? value.indexOf(undefined) : -1;
  if (gap >= 0) return new UnserializableValueError(`${path}[${gap}]`, "undefined");
  for (const [key, member] of Object.entries(value)) {
    if (!isJson(member, depth + 1, true))
      return firstMisfit(member, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, depth + 1);
  }
  return new UnserializableValueError(path, "toJSON" in value ? "a toJSON of its own" : "a value");
}

function classNameOf(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : "class instance";
}

/**
 * Freezes a JSON value and all its members. Contexts share objects, so a caller's change would appear in later contexts; with
 * frozen objects it throws.
 */
export function freezeJson<T extends object>(value: T): T {
  // Values are always frozen with all their members.
  if (Object.isFrozen(value)) return value;
  // Members first, and without a list of them: an object that is not frozen yet is read in a third of the time.
  if (Array.isArray(value)) for (let at = 0; at < value.length; at += 1) freezeMember(value[at]);
  else for (const name in value) freezeMember(value[name]);
  return Object.freeze(value);
}

function freezeMember(member: unknown): void {
  // Bytes cannot be frozen.
  if (typeof member === "object" && member !== null && !ArrayBuffer.isView(member)) freezeJson(member);
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Parses a JSON object; undefined if the text is not one. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Writes JSON; undefined if the nesting is too deep for JSON.stringify, which is recursive. */
export function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The text under `key`; undefined if it is missing or of another type. */
export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** The finite number under `key`; undefined if it is missing or of another type. */
export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The object under `key`; undefined if it is missing or of another type. */
export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isObject(value) ? value : undefined;
}

/** The objects in the list under `key`; empty if it is no list. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts in the list under `key`; empty if it is no list. */
export function textsAt(object: JsonObject, key: string): readonly string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((member: unknown) => typeof member === "string") : [];
}

/** A copy of `object` without `keys`, or `object` itself if it has none of them. The other members keep their order and values. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  if (!keys.some((key) => Object.hasOwn(object, key))) return object;
  const rest: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    if (keys.includes(key)) continue;
    // An assignment to this name would set the prototype.
    if (key === "__proto__") Object.defineProperty(rest, key, { value: object[key], enumerable: true, writable: true, configurable: true });
    else rest[key] = object[key];
  }
  return rest;
}

/** `object` without those of `keys` that are null: many programs write null for a missing value. */
export function withoutNulls(object: JsonObject, keys: readonly string[]): JsonObject {
  return without(
    object,
    keys.filter((key) => object[key] === null),
  );
}

/** A time in ISO format; a time out of the range of Date becomes 1970-01-01. */
export function toIsoTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString();
}

/** Milliseconds since 1970 from an ISO text or a number of milliseconds; undefined for other values. */
export function parseTime(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? Math.trunc(value) : Number.NaN;
  return Number.isSafeInteger(time) ? time : undefined;
}

/** True if two JSON texts are equal, ignoring the order of members. */
export function isSameJson(a: string, b: string): boolean {
  return a === b || canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b));
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

// Bytes in the data of a host. JSON has none, so the store keeps a Uint8Array as an object with one member, its base64:
// {"$bough.bytes":"AAEC"}. An object of the host that looks like this gets one more $ before the name of its member, and loses it
// when it is read: {"$$bough.bytes":"AAEC"}.

/**
 * `value` as JSON can represent it: each Uint8Array as an object with its base64. `value` itself, not a copy, if it has no bytes and
 * no member with the reserved name; then the cost is that of `assertJson`.
 *
 * @param at The path of `value`, for errors.
 * @throws {UnserializableValueError} with the path of the first value that JSON cannot represent.
 * @throws {InvalidEntryError} bytes are in the content of a message, which goes to providers as JSON.
 * @example
 * encodeBytes({ id: 1, image: new Uint8Array([0, 1, 2]) }, "value"); // { id: 1, image: { "$bough.bytes": "AAEC" } }
 */
export function encodeBytes(value: unknown, at: string): unknown {
  if (isPlainJson(value)) return value;
  const encoded = encode(value, at, 0);
  assertJson(encoded, at);
  return encoded;
}

/** The reverse of `encodeBytes`; returns `value` itself if there is nothing to decode. */
export function decodeBytes(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isPlainJson(value)) return value;
  if (Array.isArray(value)) return value.map(decodeBytes);
  if (!isObject(value)) return value;
  const only = onlyReservedMember(value);
  if (only === undefined) return mapMembers(value, decodeBytes);
  const { name, member } = only;
  if (name !== RESERVED_NAME) return mapMembers({ [name.slice(1)]: member }, decodeBytes);
  return typeof member === "string" ? new Uint8Array(Buffer.from(member, "base64")) : value;
}

/** The value of a JSON text that `encodeBytes` prepared. Costs one search of the text if there are no bytes. */
export function parseEncoded(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return json.includes(`${RESERVED_NAME}"`) ? decodeBytes(value) : value;
}

/** A copy of `value`, bytes included; `value` itself if it cannot be stored, so that `validateEntry` reports the path. */
export function copyJson<T>(value: T, at: string): T {
  try {
    // The value can be stored, so its copy has the same type.
    return parseEncoded(jsonText(encodeBytes(value, at), "The batch")) as T;
  } catch (error) {
    if (!(error instanceof UnserializableValueError || error instanceof InvalidEntryError)) throw error;
    return value;
  }
}

/** True for a Uint8Array, also for one of another realm, such as a worker or a test runner. */
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

// Content goes to providers, whose formats have no bytes; images and files are base64 there.
const CONTENT = /^entry\.(message\.)?(content|replacement)\b/;

function encode(value: unknown, path: string, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw tooDeep(path);
  if (isBytes(value)) {
    if (CONTENT.test(path))
      throw new InvalidEntryError(path.slice("entry.".length), "bytes are kept in details and custom data; content takes base64");
    return { [RESERVED_NAME]: toBase64(value) };
  }
  // `undefined` elements and class instances are kept, so that the check after this one names them.
  if ("toJSON" in value && typeof value.toJSON === "function") return value;
  if (Array.isArray(value)) return value.map((member: unknown, index) => encode(member, `${path}[${index}]`, depth + 1));
  if (!isPlainObject(value)) return value;
  const only = onlyReservedMember(value);
  if (only !== undefined) return mapMembers({ [`$${only.name}`]: only.member }, (member) => encode(member, path, depth + 1));
  return mapMembers(value, (member, name) => encode(member, `${path}.${name}`, depth + 1));
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** The member of an object whose only member has a reserved name: `$bough.bytes` with any number of `$` before it. */
function onlyReservedMember(value: object): { readonly name: string; readonly member: unknown } | undefined {
  const members = Object.entries(value);
  const [name, member] = members[0] ?? [];
  return members.length === 1 && name !== undefined && isReservedName(name) ? { name, member } : undefined;
}

// Defined, not assigned, because an assignment to a member named `__proto__` sets the prototype.
function mapMembers(value: object, map: (member: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, name)]));
}
