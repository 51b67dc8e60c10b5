import { isObject, type JsonObject } from "./json.js";

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

export { isObject, type JsonObject };

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
