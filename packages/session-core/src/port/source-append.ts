import type { EntryPayload } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";

/** An entry of an appended source, as it is in the store. */
export interface StoredSourceEntry {
  /** The line of its record. */
  readonly line: number;
  /** The id in the source. */
  readonly sourceId: EntryId;
  /** The id in the store: another one if the session had an entry of this id with other content. */
  readonly id: EntryId;
  readonly payload: EntryPayload;
}

/**
 * The import of the next part of a source that is still written. Records of earlier parts need not be given again, and a session
 * that shares no entry with the part is extended. The functions run inside the transaction.
 */
export interface SourceAppend {
  /** The entry before this part, in the store: entries whose parent is missing go below it. null: none. */
  readonly after: EntryId | null;
  /** Where the parts before put the leaf `main`. While it is there, it follows the source also to another branch. */
  readonly leaf?: EntryId | null | undefined;
  /** Called before anything is written, with a function that reads values of the session. If it throws, nothing is written. */
  begin(value: (key: string) => unknown): void;
  /** The values to set after the entries were written; a value that is undefined is removed. */
  values(entries: readonly StoredSourceEntry[]): Iterable<readonly [key: string, value: unknown]>;
}
