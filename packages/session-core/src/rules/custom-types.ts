/** The kinds of entries that have a custom type, as `entry.kind` stores them: custom_message and custom. */
export const CUSTOM_KINDS = "12, 13";

/** The longest custom type that is indexed, in UTF-16 code units. */
const MAX_LENGTH = 500;

/** Returns a custom type as it is stored in `entry.custom_type`: null if it is too long for an index. */
export function toStoredCustomType(customType: unknown): string | null {
  return typeof customType === "string" && customType.length <= MAX_LENGTH ? customType : null;
}

/** Returns the custom type in the JSON text of a payload as it is stored; null if the payload is missing or cannot be read. */
export function customTypeOf(json: string | undefined): string | null {
  try {
    const payload: unknown = JSON.parse(json ?? "null");
    return typeof payload === "object" && payload !== null && "customType" in payload ? toStoredCustomType(payload.customType) : null;
  } catch {
    return null;
  }
}
