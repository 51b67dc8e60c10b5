import type { SessionId } from "@bough/session-core";
import { type EntryReference, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";

// Sessions that Bough wrote for opencode say which entries they have. opencode drops the members of a session file that it does not know, so the
// session is in the metadata of the new one, and each entry in the id of its message or part: behind the time with which such an id begins.

/** The member of a session's metadata with the session that Bough wrote. */
const WRITTEN = "bough";

/**
 * The metadata of a session with the entries of `source`.
 *
 * @param name shown as the title of a session without one.
 */
export function writtenFrom(source: SessionId, name: string | undefined): JsonObject {
  return { [WRITTEN]: { sessionId: source, name } };
}

/** True if the title is the name of {@link writtenFrom}. */
export function isOnlyName(info: JsonObject): boolean {
  return info.title !== undefined && info.title === objectAt(objectAt(info, "metadata") ?? {}, WRITTEN)?.name;
}

/** Returns the session whose entries this one was written with; undefined: opencode began it. */
export function sourceOf(info: JsonObject): SessionId | undefined {
  return stringAt(objectAt(objectAt(info, "metadata") ?? {}, WRITTEN) ?? {}, "sessionId");
}

/** The record without the mark of {@link writtenFrom}. */
export function withoutSource(info: JsonObject): JsonObject {
  const { metadata, ...rest } = info;
  const { [WRITTEN]: _written, ...own } = objectAt(info, "metadata") ?? {};
  return metadata === undefined || (Object.keys(own).length === 0 && sourceOf(info) !== undefined) ? rest : { ...rest, metadata: own };
}

/** An id of opencode: a time, and 14 letters and digits. `time`: in 1/4096 of a millisecond. */
export function timedId(kind: "msg" | "prt", time: bigint): string {
  return `${kind}_${BigInt.asUintN(48, time).toString(16).padStart(12, "0")}${"0".repeat(14)}`;
}

/** The id of a message or part for the entry `entryId`, at the place of another one. opencode's own ids have no second `_`. */
export function idOfEntry(id: string, entryId: string): string {
  return `${id.slice(0, 16)}_${entryId}`;
}

const OF_ENTRY = /^(?:msg|prt)_[0-9a-f]{12}_(.+)$/s;

/**
 * Returns the id of the entry of a message or part, and the entry of which it is a copy.
 *
 * @param source that of {@link sourceOf}.
 */
export function entryOf(
  id: string,
  sessionId: SessionId,
  source: SessionId | undefined,
): { readonly id: string; readonly origin?: EntryReference } {
  const entryId = source === undefined ? undefined : OF_ENTRY.exec(id)?.[1];
  if (source === undefined || entryId === undefined) return { id };
  return source === sessionId ? { id: entryId } : { id, origin: { sessionId: source, entryId } };
}
