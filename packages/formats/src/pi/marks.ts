import { isObject, type JsonObject, without } from "@bough/session-core/wire";

// Fields that Bough adds to a pi file, so that reading the file gives the same entries. pi keeps unknown fields and does not
// display `custom` entries.

/** Header field of a file that Bough wrote. */
export const EXPORTED_BY = "exportedBy";

/** `customType` of an entry without a type in pi. */
export const FOREIGN_MARK = "bough.foreign";

/** `customType` of a last line that only sets the leaf: pi's leaf is the last line of the file. */
export const LEAF_MARK = "bough.leaf";

/** `customType` of usage outside the conversation: pi's `usage` and oh-my-pi's `model_usage`. */
export const USAGE_MARKS = { usage: "pi.usage", model_usage: "omp.model_usage" } as const;

/** Field of a text block that replaces a block which pi cannot send to a model. */
export const FOREIGN_BLOCK = "boughForeign";

/** Field of a text block that replaces a file, with its members but the type: pi would send the block as an image. */
export const FILE_BLOCK = "boughFile";

/** Field of the only text block of a content that is a text: pi sends the blocks of a tool result, and of a text nothing. */
export const TEXT_CONTENT = "boughText";

/** Field that lists members filled in because pi requires them: `[key]` was missing, `[key, value]` had this value. */
export const FILLED = "boughFilled";

/** `object` without the members that Bough filled in. */
export function removeFilled(object: JsonObject): JsonObject {
  const filled = object[FILLED];
  if (!Array.isArray(filled)) return object;
  const before = filled.filter((item): item is [string, unknown?] => Array.isArray(item) && typeof item[0] === "string");
  const keys = [FILLED, ...before.map(([key]) => key)];
  return { ...without(object, keys), ...Object.fromEntries(before.filter((item) => item.length === 2)) };
}

/** The foreign block that Bough replaced by this text block; undefined for any other block. */
export function readForeignBlock(block: JsonObject): JsonObject | undefined {
  return readForeign(block[FOREIGN_BLOCK]);
}

/** The file that Bough replaced by this text block; undefined for any other block. */
export function readFileBlock(block: JsonObject): JsonObject | undefined {
  const file = block[FILE_BLOCK];
  return isObject(file) ? { ...file, type: "file" } : undefined;
}

/** The foreign entry or block in a field that Bough wrote; undefined if it is none. */
export function readForeign(note: unknown): JsonObject | undefined {
  const isNote = isObject(note) && typeof note.originalType === "string" && "raw" in note;
  return isNote ? { ...note, type: "foreign" } : undefined;
}
