import { TooLargeError, UnserializableValueError } from "../errors/session-errors.js";

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object whose members have not been judged yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether `value` is a JSON object: no array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Most characters of JSON that are kept in one row. SQLite takes 1,000,000,000 bytes, and three bytes a character are the
 * most; a JavaScript string ends at twice as many characters.
 */
export const MAX_JSON_LENGTH = 2 ** 28;

/** The JSON text of a value that passed `assertJson`. @throws {TooLargeError} it is longer than a row can be. */
export function jsonText(value: unknown, what: string): string {
  const text = stringifyJson(value, what);
  if (text.length > MAX_JSON_LENGTH) throw new TooLargeError(what, MAX_JSON_LENGTH);
  return text;
}

function stringifyJson(value: unknown, what: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The text would be longer than any string; deep nesting was refused before.
    if (error instanceof RangeError) throw new TooLargeError(what, MAX_JSON_LENGTH, { cause: error });
    throw error;
  }
}

/** Deepest nesting that is kept; beyond it JSON.parse and SQLite's json_valid (1,000) start to refuse. */
const MAX_DEPTH = 500;

/**
 * Throws unless JSON can hold all of `value` and give it back equal; `undefined` members count as absent.
 *
 * Linear in the number of members, not in the length of texts: under a microsecond for an ordinary message.
 *
 * @throws {UnserializableValueError} naming the first member that cannot be kept.
 */
export function assertJson(value: unknown, at: string): asserts value is Json {
  if (!isJson(value, 0)) throw firstMisfit(value, at, 0);
}

// Asked of every append, so it builds no paths; those are looked for only when something does not fit.
function isJson(value: unknown, depth: number): boolean {
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
        (depth <= MAX_DEPTH && (Array.isArray(value) ? isJsonArray(value, depth) : isPlainObject(value) && isJsonObject(value, depth)))
      );
    case "bigint":
    case "function":
    case "symbol":
      return false;
  }
}

function isJsonArray(values: readonly unknown[], depth: number): boolean {
  if ("toJSON" in values) return false;
  // JSON would turn an undefined element into null; a member it leaves out.
  for (const value of values) if (value === undefined || !isJson(value, depth + 1)) return false;
  return true;
}

function isJsonObject(value: object, depth: number): boolean {
  // Hidden from the members, JSON.stringify would still call it and keep what it answers.
  if ("toJSON" in value && typeof value.toJSON === "function") return false;
  for (const key in value) if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm (a worker, a test runner) has that realm's prototype, which has none itself.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The first member that does not fit. */
function firstMisfit(value: unknown, at: string, depth: number): UnserializableValueError {
  if (typeof value !== "object" || value === null)
    return new UnserializableValueError(at, typeof value === "number" ? String(value) : `a ${typeof value}`);
  // A cycle has no end, so it meets this limit too.
  if (depth > MAX_DEPTH) return new UnserializableValueError(at.slice(0, 200), "a cycle, or more than 500 levels");
  if (!Array.isArray(value) && !isPlainObject(value)) return new UnserializableValueError(at, `a ${classNameOf(value)}`);
  const gap = Array.isArray(value) ? value.findIndex((member) => member === undefined) : -1;
  if (gap >= 0) return new UnserializableValueError(`${at}[${gap}]`, "undefined");
  for (const [key, member] of Object.entries(value)) {
    if (!isJson(member, depth + 1)) return firstMisfit(member, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
  }
  return new UnserializableValueError(at, "toJSON" in value ? "a toJSON of its own" : "a value");
}

/** A copy; where JSON cannot hold all of `value`, itself, and the gate will say which member it is. */
export function copyJson<T>(value: T, at: string): T {
  try {
    assertJson(value, at);
  } catch (error) {
    if (!(error instanceof UnserializableValueError)) throw error;
    return value;
  }
  return JSON.parse(jsonText(value, "The batch")) as T;
}

function classNameOf(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : "class instance";
}

/**
 * Freezes a value of JSON whole. Contexts share their objects, so a change by one reader would be sent to the model by
 * the next; frozen, it throws.
 */
export function freezeJson<T extends object>(value: T): T {
  // Values of JSON are frozen whole or not at all.
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) freezeJson(member);
  }
  return value;
}
