import type { EntryId } from "../ids/ids.js";
import type { FileOperationKind } from "../tools/file-operations.js";
import type { ModelUsage, SessionKey, SessionRecord, SessionRow } from "./records.js";

/**
 * Reads and writes whole sessions for a copy between two stores, of whatever engines. Entries are named by their place: 1 for the first
 * that arrived in the session, 2 for the next one.
 */
export interface SessionCopies {
  /** Reads a session without its entries, all of one moment. Resolves with undefined if there is no such session. */
  state(session: SessionKey): Promise<CopiedState | undefined>;
  /** The entries after a place and up to another one, in order of arrival: as many as fit into a part, at least one if there is one. */
  entries(session: SessionKey, after: number, upTo: number): Promise<readonly CopiedEntry[]>;
  /**
   * Writes a part of a session in one transaction, and returns its row. Nothing is validated: the entries are those of another store.
   *
   * @throws {SessionExistsError} the part is the first of a new session, and there is one of this id.
   * @throws {SessionChangedError} another process has written to the session since `into` was read; nothing was written.
   */
  write(part: CopiedPart): Promise<SessionRow>;
}

/** The maximum number of entries, and of bytes of payloads, in a part of a copy; one entry may be larger. */
export const PART_ENTRIES = 500;
export const PART_BYTES = 4 * 1024 * 1024;

/** A part of a session to write. */
export interface CopiedPart {
  /** The whole session in the other store. */
  readonly state: CopiedState;
  /** The session as it is in this store; undefined: it is created. */
  readonly into: { readonly row: SessionRow; readonly entries: number } | undefined;
  /** Those that come after the entries of `into`. */
  readonly entries: readonly CopiedEntry[];
  /** True for the last part: the write then sets leaves, labels, values, usage and properties to those of `state`. */
  readonly isLast: boolean;
}

/** A session without its entries. */
export interface CopiedState {
  readonly row: SessionRow;
  readonly session: CopiedSession;
  readonly leaves: readonly { readonly name: string; readonly at: number | null }[];
  /** In the order in which they were made. */
  readonly moves: readonly CopiedMove[];
  /** By the place of their entries. */
  readonly labels: readonly { readonly at: number; readonly label: string; readonly createdAtMs: number }[];
  /** By key. `json`: the text as it is stored. */
  readonly values: readonly { readonly key: string; readonly json: string; readonly updatedAtMs: number }[];
  readonly usage: readonly CopiedUsage[];
}

/** The properties of a session; its metadata as the text that is stored. */
export interface CopiedSession extends Omit<SessionRecord, "metadata"> {
  readonly metadataJson: string | null;
}

/** The usage of one model. `inherited`: of entries that a fork copied. */
export interface CopiedUsage extends ModelUsage {
  readonly inherited: boolean;
}

/** A move of a leaf, with the places it is between. */
export interface CopiedMove {
  readonly leafName: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly resume: number | null;
  readonly movedAtMs: number;
  readonly state: "done" | "undone" | "dropped";
}

/** An entry with all that is stored of it; other entries by their places. */
export interface CopiedEntry {
  readonly place: number;
  readonly id: EntryId;
  readonly parent: number | null;
  /** Type and role as one number, as `toEntryKind` reads it. */
  readonly kind: number;
  readonly depth: number;
  readonly createdAtMs: number;
  readonly compaction: number | null;
  readonly target: number | null;
  readonly model: number | null;
  readonly thinking: number | null;
  readonly system: number | null;
  readonly callId: string | null;
  readonly isError: boolean;
  readonly omits: boolean;
  readonly inherited: boolean;
  /** The same for all copies of the entry: entry/origins.ts. */
  readonly origin: string | null;
  readonly preview: string;
  /** The payload as the text that is stored. */
  readonly payload: string;
  readonly fileOperations: readonly CopiedFileOperation[];
  /** Token counts by counter, ordered by its name. */
  readonly tokens: readonly (readonly [counter: string, tokens: number])[];
}

/** The operation of a tool call on a file. */
export interface CopiedFileOperation {
  readonly toolCallId: string;
  readonly kind: FileOperationKind;
  readonly path: string;
  readonly nested: boolean;
}

/** The member of the metadata that a session has while only a part of it was copied. */
const COPYING = "bough:copying";

/** True if only a part of a session was copied: the copy was interrupted, or still runs. */
export function isPartlyCopied({ metadataJson }: Pick<CopiedSession, "metadataJson">): boolean {
  if (metadataJson === null || !metadataJson.includes(COPYING)) return false;
  const metadata: unknown = JSON.parse(metadataJson);
  return typeof metadata === "object" && metadata !== null && COPYING in metadata;
}

/** The metadata of a session of which only a part was copied. */
export function partlyCopied(metadataJson: string | null): string {
  return JSON.stringify({ ...JSON.parse(metadataJson ?? "{}"), [COPYING]: true });
}

/** Which entries of a session a copy takes in its next part, from their sizes in order of arrival: their number. */
export function entriesInPart(sizes: readonly number[]): number {
  let bytes = 0;
  const over = sizes.findIndex((size, at) => {
    bytes += size;
    return at > 0 && bytes > PART_BYTES;
  });
  return over < 0 ? sizes.length : over;
}
