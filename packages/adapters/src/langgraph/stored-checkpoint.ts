import { createHash } from "node:crypto";
import type { Entry, EntryId } from "@bough/session-core";
import { CheckpointUnreadableError } from "./errors.js";

// A checkpoint is stored as a `custom` entry whose `data` is a `StoredCheckpoint`.

/** The `customType` of a checkpoint of the graph itself, whose `checkpoint_ns` is empty. */
const CHECKPOINT = "langgraph.checkpoint";
/** The `customType` of a checkpoint of a subgraph. Listing the history of the graph does not read these. */
const SUBGRAPH = "langgraph.subgraph";

/** A value as LangGraph's serializer wrote it: JSON as JSON, any other type as base64. */
export type Packed = { readonly type: string; readonly json: unknown } | { readonly type: string; readonly base64: string };

/**
 * The kind of the parts of a channel's value: the elements of a list, or the members of an object. Each member is stored as an object
 * of one member.
 */
export type PartsKind = "list" | "members";

/** A part of a stored value: the id of the entry that has the message, or the part itself as JSON, in an array of one. */
export type StoredPart = EntryId | readonly [json: unknown];

/** After `start` parts of the value before, `remove` parts are replaced by `insert`. */
type StoredSplice = readonly [start: number, remove: number, insert: readonly StoredPart[]];

/** A value in parts as a change of an earlier one. */
export interface StoredChange {
  readonly kind: PartsKind;
  /** The checkpoint entry that has the value before the change; null: it has no parts. */
  readonly base: EntryId | null;
  /** Ascending, and none overlaps another. */
  readonly splices: readonly StoredSplice[];
  /** The size of all changes since the last one without a base, in characters. */
  readonly weight: number;
}

/** The value of a channel: as it was serialized, or as a change. */
export type StoredValue = Packed | StoredChange;

/** A checkpoint as it is stored. */
export interface StoredCheckpoint {
  /** The version of this layout. */
  readonly format: 1;
  readonly ns: string;
  readonly id: string;
  /** The id of the parent checkpoint in the same namespace. */
  readonly parent: string | null;
  /** The checkpoint without its channel values. */
  readonly checkpoint: Packed;
  readonly metadata: Packed;
  /** The entry that stores the value, for each channel that has one: this checkpoint, or an earlier one. */
  readonly at: Readonly<Record<string, EntryId>>;
  /** The values that this checkpoint stores. */
  readonly values: Readonly<Record<string, StoredValue>>;
}

/** The `customType` of the checkpoints of a namespace. */
export function checkpointType(ns: string): string {
  return ns === "" ? CHECKPOINT : SUBGRAPH;
}

/** All types of checkpoint entries. */
export const CHECKPOINT_TYPES: readonly string[] = [CHECKPOINT, SUBGRAPH];

/**
 * The checkpoint that an entry stores, or undefined if it stores none.
 *
 * @throws {CheckpointUnreadableError} a newer version of this package wrote it.
 */
export function checkpointOf(entry: Entry, threadId: string): StoredCheckpoint | undefined {
  if (entry.type !== "custom" || !CHECKPOINT_TYPES.includes(entry.customType)) return undefined;
  if (isStoredCheckpoint(entry.data)) return entry.data;
  throw new CheckpointUnreadableError(threadId, entry.id, "its layout is not known");
}

function isStoredCheckpoint(data: unknown): data is StoredCheckpoint {
  return typeof data === "object" && data !== null && "format" in data && data.format === 1;
}

/** A text as 16 characters that may stand in an id. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/**
 * The id of the entry that stores a checkpoint: its own id, with the namespace of a subgraph behind it. A checkpoint that was put again
 * with other content has a second version.
 */
export function checkpointEntryId(ns: string, id: string, version = 1): EntryId {
  // Ids of LangGraph are UUIDs. Any other text is replaced by its digest, because not every text is an id of an entry.
  const own = /^[\w-]{1,80}$/.test(id) ? id : digest(id);
  return [own, ...(ns === "" ? [] : [digest(ns)]), ...(version === 1 ? [] : [`v${version}`])].join(".");
}

/** The own member of an object. A channel may be named `constructor`, which every object inherits. */
export function memberOf<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
