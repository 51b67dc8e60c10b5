import type { EntryInput } from "../entry/entry.js";
import { assertJson, copyJson } from "../entry/json.js";
import type { EntryId, EntrySeq } from "../ids/ids.js";
import type { LeafState, NewSession, SessionKey } from "./records.js";

/** One write of a batch. */
export type Write =
  /**
   * The entry is validated. It goes below the entry written before it in the batch, or below the leaf, and the leaf moves to it.
   * With `parentId` it goes below that entry (null: it is a first entry), and the leaf neither moves nor conflicts: the next
   * entry without `parentId` goes where it would go without this one. The parent may be written by the same batch.
   */
  | { readonly kind: "entry"; readonly entry: EntryInput; readonly parentId?: EntryId | null | undefined }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  /**
   * Stores a value; `value: undefined` removes it. With the member `ifEquals`, only if the present value equals it as JSON, ignoring the
   * order of members; `ifEquals: undefined`: only if there is none. Otherwise the batch throws `ValueChangedError`.
   */
  | { readonly kind: "value"; readonly key: string; readonly value: unknown; readonly ifEquals?: unknown }
  /** Removes the values whose key starts with `prefix`, which must not be empty. */
  | { readonly kind: "deleteValues"; readonly prefix: string }
  /** `leaf`: the name of another leaf to move, which is created if the session has none of this name. Default: the leaf of the handle. */
  | { readonly kind: "moveLeaf"; readonly to: EntryId | null; readonly leaf?: string | undefined };

/**
 * The behavior of an append if another writer moved the leaf: `error` throws `LeafMovedError`, `follow` appends below the new leaf,
 * `branch` appends below the old one, so that both writers have a branch.
 */
export type OnConflict = "error" | "follow" | "branch";

/** Writes for one leaf of one session, committed in one transaction: all of them or none. */
export interface Batch<L extends LeafState = LeafState> {
  readonly sessionId: SessionKey;
  readonly leafName: string;
  /** The leaf as the handle last read it. `L`: the class of the storage that made it. */
  readonly seen: L;
  readonly onConflict: OnConflict;
  /** Throw `LeafMovedError` unless the stored leaf equals `seen`, even for labels and values. Default false. */
  readonly onlyIfSeen?: boolean | undefined;
  readonly writes: readonly Write[];
}

/** The entries of a batch in order, including those that existed already, and the leaf after it. */
export interface BatchResult {
  readonly entries: readonly { readonly id: EntryId; readonly seq: EntrySeq }[];
  readonly leaf: LeafState;
}

/** True if a write requires that its key has no value. JSON has no `undefined`, so a copy by JSON loses this condition. */
function isExpectedMissing(write: Write | undefined): boolean {
  return write?.kind === "value" && "ifEquals" in write && write.ifEquals === undefined;
}

/** A copy of writes that have to wait, so that later changes by their owner are not written. */
export function copyWrites(writes: readonly Write[]): readonly Write[] {
  const copies = copyJson(writes, "writes");
  return copies.map((copy, at) => (isExpectedMissing(writes[at]) ? { ...copy, ifEquals: undefined } : copy));
}

/** A copy of a new session that has to wait. @throws {UnserializableValueError} JSON cannot represent its metadata. */
export function copyNewSession<S extends Pick<NewSession, "metadata">>(session: S): S {
  return { ...session, metadata: session.metadata && copyJson(session.metadata, "metadata") };
}

/** Members of the metadata of a session to set; those that are undefined are to be removed. */
export type MetadataPatch = Readonly<Record<string, unknown>>;

/** A copy of a patch that has to wait. @throws {UnserializableValueError} JSON cannot represent it. */
export function copyPatch(patch: MetadataPatch): MetadataPatch {
  assertJson(patch, "metadata");
  // Member by member, because a copy by JSON would lose those that are undefined.
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, value === undefined ? undefined : copyJson(value, name)]));
}
