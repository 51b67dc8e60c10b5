import type { EntryId, SessionId } from "../ids/ids.js";

/** Something that `verify` found not to hold. `rule` is stable. */
export interface Finding {
  readonly rule:
    | "file-damaged" // SQLite's own check
    | "dangling-reference" // a foreign key that points nowhere
    | "parent-not-older"
    | "wrong-depth"
    | "wrong-inheritance" // compaction, model, thinking or system pointer differs from the parent's path
    | "first-kept-off-path"
    | "invalid-payload"
    | "wrong-waypoint" // the short cut from an entry to one far above it is missing or leads elsewhere
    | "leaf-off-session"
    | "wrong-count" // entry_count and its like differ from the entries
    | "search-index"; // an entry is missing in the search index
  readonly sessionId: SessionId | null;
  readonly entryId: EntryId | null;
  /** One line for a person. */
  readonly message: string;
}
