import { isObject, type JsonObject, without } from "../../source/json.js";

// What Bough writes into a pi file beyond pi's own records, so that reading the file again gives the same entries.
// pi keeps fields it does not know, and shows `custom` entries to nobody.

/** Header field of a file that Bough wrote. */
export const EXPORTED_BY = "exportedBy";

/** `customType` of an entry that pi has no type for. */
export const FOREIGN_MARK = "bough.foreign";

/** `customType` of a last line that is there only because pi takes the last line of a file for the leaf. */
export const LEAF_MARK = "bough.leaf";

/** `customType` of a call's usage outside the conversation: pi's `usage` and oh-my-pi's `model_usage`. */
export const USAGE_MARKS = { usage: "pi.usage", model_usage: "omp.model_usage" } as const;

/** Field of a text block that stands for a block which pi cannot send to a model. */
export const FOREIGN_BLOCK = "boughForeign";

/** Field that lists what was filled in because pi cannot do without: `[key]` was absent, `[key, value]` had that value. */
export const FILLED = "boughFilled";

/** `object` as it was before Bough filled in what pi cannot do without. */
export function removeFilled(object: JsonObject): JsonObject {
  const filled = object[FILLED];
  if (!Array.isArray(filled)) return object;
  const before = filled.filter((item): item is [string, unknown?] => Array.isArray(item) && typeof item[0] === "string");
  const keys = [FILLED, ...before.map(([key]) => key)];
  return { ...without(object, keys), ...Object.fromEntries(before.filter((item) => item.length === 2)) };
}

/** The block behind a text block that Bough wrote in its place; undefined for any other block. */
export function readForeignBlock(block: JsonObject): JsonObject | undefined {
  return readForeign(block[FOREIGN_BLOCK]);
}

/** What Bough noted of something foreign, as the entry or block it was; undefined when it is no such note. */
export function readForeign(note: unknown): JsonObject | undefined {
  const isNote = isObject(note) && typeof note.originalType === "string" && "raw" in note;
  return isNote ? { ...note, type: "foreign" } : undefined;
}
