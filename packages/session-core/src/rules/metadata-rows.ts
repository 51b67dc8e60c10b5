/** The longest key and value that are indexed, in characters of the JSON text. */
const MAX_LENGTH = 500;

/** A member of the metadata of a session, as `session_metadata` stores it. */
export interface MetadataRow {
  readonly key: string;
  /** The value as JSON. */
  readonly value: string;
}

/** Returns the members of metadata by which a session is found: top-level strings, numbers, booleans and nulls of at most 500 characters. */
export function metadataRows(metadata: unknown): readonly MetadataRow[] {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return [];
  return Object.entries(metadata).flatMap(([key, member]) => {
    if (member === undefined || (typeof member === "object" && member !== null)) return [];
    const value = JSON.stringify(member);
    return key.length <= MAX_LENGTH && value.length <= MAX_LENGTH ? [{ key: key.toWellFormed(), value }] : [];
  });
}
