import type { JsonObject } from "../../source/narrow.js";
import { FILLED } from "../pi/marks.js";

/**
 * `object` with `required` members put in where it has none (or null, where pi cannot bear it), and a note of which,
 * so that reading the file again takes them out. An object that lacks nothing stays as it is.
 */
export function filled(object: JsonObject, required: JsonObject): JsonObject {
  const lacking = Object.keys(required).filter((key) => object[key] === undefined || object[key] === null);
  if (lacking.length === 0) return object;
  const before = lacking.map((key) => (object[key] === null ? [key, null] : [key]));
  return { ...object, ...Object.fromEntries(lacking.map((key) => [key, required[key]])), [FILLED]: before };
}

/** `object` with `key` replaced by `value`, and a note of what was there before. */
export function replaced(object: JsonObject, key: string, value: unknown): JsonObject {
  const noted = object[FILLED];
  const before = [...(Array.isArray(noted) ? noted : []), [key, object[key]]];
  return { ...object, [key]: value, [FILLED]: before };
}
