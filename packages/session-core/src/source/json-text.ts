import { isObject, type JsonObject } from "./narrow.js";

/** The value that `text` says in JSON; undefined where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The JSON object that `text` holds; undefined where it holds none. */
export function parsedObject(text: string): JsonObject | undefined {
  const value = parsed(text);
  return isObject(value) ? value : undefined;
}

/** `value` as JSON; undefined where it is nested deeper than JSON.stringify, which calls itself for each level, can follow. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
