import { encodeBytes } from "../entry/bytes.js";
import type { EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import type { EntryId } from "../ids/ids.js";
import type { Fork, NewSession, SessionRecord } from "../port/records.js";
import type { WritableEntry } from "./entry-columns.js";

/** The session that a fork makes. `entryId`: where it was forked; `name`: its title if none is given. */
export function newFork(source: SessionRecord, { into, tree }: Fork, entryId: EntryId | null, name: string | null): NewSession {
  return {
    ...into,
    title: (into.title === undefined ? name : into.title) ?? undefined,
    titleSource: into.title === undefined ? "auto" : "user",
    cwd: into.cwd ?? source.cwd ?? undefined,
    metadata: into.metadata ?? (tree ? source.metadata : undefined),
    parent: { sessionId: source.id, entryId, toolCallId: null },
  };
}

/** A payload and its JSON as the copy of a path has them: a branch summary loses a `fromId` whose entry is not copied. */
export function withoutForeignBranch(
  payload: EntryPayload,
  payloadJson: string,
  isCopied: (id: EntryId) => boolean,
): Pick<WritableEntry, "payload" | "payloadJson"> {
  if (payload.type !== "branch_summary" || payload.fromId === null || isCopied(payload.fromId)) return { payload, payloadJson };
  // The branch is not part of the copy. Its id is kept in `originalFromId`.
  const { type: _type, ...rest } = { ...payload, fromId: null, originalFromId: payload.fromId };
  return { payload: { ...payload, fromId: null }, payloadJson: jsonText(encodeBytes(rest, "entry"), "The entry") };
}
