import type { EntryPayload } from "../entry/entry.js";

/**
 * The payload without the reference that the tree refuses, which is kept beside it under a name of its own. undefined:
 * this type refers to nothing.
 */
export function repaired(payload: EntryPayload): EntryPayload | undefined {
  switch (payload.type) {
    case "compaction":
      // pi keeps nothing where its first kept entry is not on the path (seen by running it).
      return { ...payload, firstKeptEntryId: null, originalFirstKeptEntryId: payload.firstKeptEntryId };
    case "branch_summary":
      return { ...payload, fromId: null, originalFromId: payload.fromId };
    case "context_edit":
      return { type: "foreign", originalType: "context_edit", raw: payload };
    case "message":
    case "model_change":
    case "thinking_level_change":
    case "custom_message":
    case "custom":
    case "foreign":
      return undefined;
  }
}
