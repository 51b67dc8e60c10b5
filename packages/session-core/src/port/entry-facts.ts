import type { EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { ReplyUsage } from "../entry/reply-usage.js";
import type { EntryId } from "../ids/ids.js";
import type { FileOperationKind } from "../tools/file-operations.js";

/** A file that a tool call of an entry touches, as it is stored. */
export interface StoredOperation {
  readonly tool_call_id: string;
  readonly kind: FileOperationKind;
  readonly path: string;
  /** 1: a tool that the call ran touched the file, so the call has ended. */
  readonly nested: 0 | 1;
}

/** The part of a payload that the state of its path depends on. */
export type PathEffect =
  | { readonly type: "message"; readonly role: MessageRole; readonly namesModel: boolean }
  | { readonly type: "compaction"; readonly firstKeptEntryId: EntryId | null }
  | { readonly type: "branch_summary"; readonly fromId: EntryId | null }
  | { readonly type: "context_edit"; readonly targetId: EntryId; readonly omits: boolean }
  | { readonly type: Exclude<EntryType, "message" | "compaction" | "branch_summary" | "context_edit"> };

/** What a store derives from a payload alone, without its place in a tree. Plain data, so that another thread can compute it. */
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

/** The validated form of an entry of a source, computed before the import writes it. */
export interface PreparedEntry {
  /** The JSON text of the payload without its type. */
  readonly payloadJson: string;
  /** See entry/origins.ts. undefined: it has no copies. */
  readonly origin: string | undefined;
  readonly facts: EntryFacts;
  /** The directory of the session for which the preview was written; null: unknown. */
  readonly directory: string | null;
}
