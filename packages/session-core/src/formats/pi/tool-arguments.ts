import { parsed } from "../../source/json-text.js";
import { isObject, type JsonObject } from "../../source/narrow.js";

/** The arguments of a tool call as an object: some programs wrote them as JSON text, and some texts are no JSON. */
export function toolArgumentsOf(given: unknown): JsonObject {
  if (given === null || given === undefined || given === "") return {};
  const value = typeof given === "string" ? parsed(given) : given;
  return isObject(value) ? value : { raw: given };
}
