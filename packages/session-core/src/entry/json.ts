import { TooLargeError, UnserializableValueError } from "../errors/session-errors.js";
import { quoted } from "../ids/ids.js";

/** A value that JSON can represent. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object whose members are not validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True if `value` is an object, and not an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
export const MAX_DEPTH = 500;

/** The name of the only member of an object that encodes bytes; see bytes.ts. */
export const RESERVED_NAME = "$bough.bytes";

/** True if `name` is the reserved name, with any number of `$` before it. */
export function isReservedName(name: string): boolean {
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
export function tooDeep(at: string): UnserializableValueError {
  return new UnserializableValueError(quoted(at, 60), "a cycle, or more than 500 levels");
}

/** The error for the first value that JSON cannot represent. */
function firstMisfit(value: unknown, at: string, depth: number): UnserializableValueError {
  if (typeof value !== "object" || value === null)
    return new UnserializableValueError(at, typeof value === "number" ? String(value) : `a ${typeof value}`);
  // A cycle reaches this limit too.
  if (depth > MAX_DEPTH) return tooDeep(at);
  if (!Array.isArray(value) && !isPlainObject(value)) return new UnserializableValueError(at, `a ${classNameOf(value)}`);
  const gap = Array.isArray(value) ? value.indexOf(undefined) : -1;
  if (gap >= 0) return new UnserializableValueError(`${at}[${gap}]`, "undefined");
  for (const [key, member] of Object.entries(value)) {
    if (!isJson(member, depth + 1, true)) return firstMisfit(member, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
  }
  return new UnserializableValueError(at, "toJSON" in value ? "a toJSON of its own" : "a value");
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
