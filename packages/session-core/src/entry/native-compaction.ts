import { isObject, type JsonObject } from "./json.js";

/**
 * A compaction that a provider wrote, as `details.native` of a compaction entry. `items` replace everything before the entry that are
 * not kept (`firstKeptEntryId`). The converters send them first, unchanged, to the provider and the model that they came from; other
 * models get the entry's `summary`.
 */
export interface NativeCompaction {
  /** The provider that wrote the items and reads them, as replies name it: `anthropic`, `openai`, `xai`. */
  readonly provider: string;
  /** The model that wrote the items, as the server named it; undefined: it is not known. */
  readonly model?: string | undefined;
  /** The blocks or items of the API, byte for byte, in the order in which they are sent. At least one. */
  readonly items: readonly JsonObject[];
  /** True if the entry's `summary` is the provider's own text. False: the items are encrypted, and `summary` has another origin. */
  readonly readable: boolean;
}

/** The rule of `isNativeCompaction`, for errors. */
export const NATIVE_RULE = "native must have provider, items (at least one object) and readable (a boolean)";

/** True if `value` is a compaction of a provider. */
function isNativeCompaction(value: unknown): value is NativeCompaction {
  if (!isObject(value)) return false;
  const { provider, model, items, readable } = value;
  return (
    typeof provider === "string" &&
    provider !== "" &&
    (model === undefined || typeof model === "string") &&
    Array.isArray(items) &&
    items.length > 0 &&
    items.every(isObject) &&
    typeof readable === "boolean"
  );
}

/**
 * The provider's own compaction that a compaction entry holds; undefined: Bough, a host or another program wrote its summary.
 *
 * @example
 * const block = { type: "compaction", content: "They fixed the parser." };
 * nativeCompactionOf({ details: { native: { provider: "anthropic", items: [block], readable: true } } })?.provider; // "anthropic"
 */
export function nativeCompactionOf({ details }: { readonly details?: unknown }): NativeCompaction | undefined {
  const native = isObject(details) ? details["native"] : undefined;
  return isNativeCompaction(native) ? native : undefined;
}

/** True if the details of a compaction have a valid member `native` or none. */
export function hasValidNative(details: unknown): boolean {
  return !isObject(details) || details["native"] === undefined || isNativeCompaction(details["native"]);
}
