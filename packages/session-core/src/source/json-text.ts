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
