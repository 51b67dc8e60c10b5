import { isObject, type JsonObject } from "../../source/narrow.js";

/** The JSON object that `text` holds; undefined where it holds none. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
