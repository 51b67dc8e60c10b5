import type { EntryType } from "../entry/entry.js";
import type { ReplyUsage } from "../entry/usage.js";
import type { EntryId } from "../ids/ids.js";
import type { StoredOperation } from "../tools/file-operations.js";

/**
 * The change that an entry makes to the state of its path: it sets the model, the thinking level or the system message, or refers to an entry.
 */
export type PathEffect =
  | "none"
  | "model"
  | "thinking"
  | "system"
  | { readonly type: "compaction"; readonly firstKeptEntryId: EntryId | null }
  | { readonly type: "branch_summary"; readonly fromId: EntryId }
  | { readonly type: "context_edit"; readonly targetId: EntryId; readonly omits: boolean };

/** The columns and rows that a store derives from a payload alone, without its place in a tree. Plain data, so that another thread can compute it. */
export interface EntryFacts {
  readonly effect: PathEffect;
  /** The number of the kind. */
  readonly kind: number;
  /** Of a tool result: the call. */
  readonly callId: string | null;
  readonly isError: boolean;
  /** Searches leave it out. */
  readonly isPrivate: boolean;
  /** The length of the JSON text without the type, in bytes of UTF-8. */
  readonly payloadBytes: number;
  /** As it is stored. */
  readonly customType: string | null;
  readonly preview: string;
  /** A person typed it. */
  readonly isTyped: boolean;
  readonly usage: ReplyUsage | undefined;
  readonly operations: readonly StoredOperation[];
}

/** The validated form of an entry of a source, as the thread that reads a file hands it to the one that writes. */
export interface PreparedEntry {
  readonly type: EntryType;
  /** The JSON text of the payload without its type. */
  readonly payloadJson: string;
  /** undefined: the thread that writes derives it. */
  readonly derived: DerivedEntry | undefined;
}

/** The columns that follow from the payload and the record of an entry. */
export interface DerivedEntry {
  /** See entry/origins.ts. undefined: it has no copies, or the record names the entry of which it is one. */
  readonly origin: string | undefined;
  readonly facts: EntryFacts;
  /** The directory of the session for which the preview was written; null: unknown. */
  readonly directory: string | null;
}
