import { jsonText } from "../source/json-text.js";

/** Deeper members become text; a foreign entry wraps what it keeps in a few levels of its own. */
const MAX_DEPTH = 400;

/** A value as the store can hold it: what is nested deeper becomes JSON text, a number beyond the range of JSON its name. */
export function storable(value: unknown, depth = 0): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return jsonText(value) ?? "[nested too deep to be kept]";
  if (Array.isArray(value)) return value.map((member) => storable(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, storable(member, depth + 1)]));
}
