import type { Entry, EntryInput } from "../entry/entry.js";
import { copyJson } from "../entry/json.js";
import type { EntryId } from "../ids/ids.js";
import type { LeafState, SessionKey } from "./records.js";

/** One write of a batch. */
export type Write =
  /**
   * The entry is validated. It goes below the entry written before it in the batch, or below the leaf, and the leaf moves to it.
   * With `parentId` it goes below that entry (null: it is a first entry), and the leaf neither moves nor conflicts: the next
   * entry without `parentId` goes where it would go without this one. The parent may be written by the same batch.
   */
  | { readonly kind: "entry"; readonly entry: EntryInput; readonly parentId?: EntryId | null | undefined }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  /** `value: undefined` removes the value. */
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  /** `leaf`: the name of another leaf to move, which is created if the session has none of this name. Default: the leaf of the handle. */
  | { readonly kind: "moveLeaf"; readonly to: EntryId | null; readonly leaf?: string | undefined };

/**
 * What an append does if another writer moved the leaf: `error` throws `LeafMovedError`, `follow` appends below the new leaf,
 * `branch` appends below the old one, so that both writers have a branch.
 */
export type OnConflict = "error" | "follow" | "branch";

/** Writes for one leaf of one session, committed in one transaction: all of them or none. */
export interface Batch {
  readonly sessionId: SessionKey;
  readonly leafName: string;
  /** The leaf as the handle last read it. */
  readonly seen: LeafState;
  readonly onConflict: OnConflict;
  /** Throw `LeafMovedError` unless the stored leaf equals `seen`, even for labels and values. Default false. */
  readonly onlyIfSeen?: boolean | undefined;
  readonly writes: readonly Write[];
}

/** The entries of a batch in order, including those that existed already, and the leaf after it. */
export interface BatchResult {
  readonly entries: readonly Pick<Entry, "id" | "seq">[];
  readonly leaf: LeafState;
}

/** A copy of writes that have to wait, so that later changes by their owner are not written. */
export function copyWrites(writes: readonly Write[]): readonly Write[] {
  return copyJson(writes, "writes");
}
