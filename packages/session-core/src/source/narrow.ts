import { isObject, type JsonObject } from "../entry/json.js";

export { isObject, type JsonObject };

/** The text under `key`; undefined where there is none or something else. */
export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** The finite number under `key`; undefined where there is none or something else. */
export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The object under `key`; undefined where there is none or something else. */
export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isObject(value) ? value : undefined;
}

/** A copy of `object` without `keys`; the other members keep their order and their values. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** A copy of `object` without those of `keys` that are null: many programs write null for "nothing". */
export function withoutNulls(object: JsonObject, keys: readonly string[]): JsonObject {
  return without(
    object,
    keys.filter((key) => object[key] === null),
  );
}

/** Milliseconds since 1970 from an ISO text or a number of milliseconds; undefined where it is neither. */
export function millisecondsOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? Math.trunc(value) : Number.NaN;
  return Number.isSafeInteger(time) ? time : undefined;
}
