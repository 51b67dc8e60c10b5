import { encodeBytes } from "../entry/bytes.js";
import type { EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import type { EntryId } from "../ids/ids.js";
import type { WritableEntry } from "./entry-columns.js";

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
