import type { EntryId } from "../ids/ids.js";

/** What was done to a file. A move touches two: where it was and where it is. */
export type FileOperationKind = "read" | "write" | "edit" | "delete" | "move";

/** One file that a tool call names, and what the call does to it. */
export interface FileTouch {
  readonly kind: FileOperationKind;
  readonly path: string;
}

/** `done`: its result is there and no error. `failed`: its result is an error. `unknown`: no result in this range. */
export type FileOperationOutcome = "done" | "failed" | "unknown";

/** One file operation of a range of a path. */
export interface FileOperation extends FileTouch {
  /** The entry that holds the call (or, of a nested call, its result). */
  readonly entryId: EntryId;
  readonly toolCallId: string;
  readonly outcome: FileOperationOutcome;
}

/** The file operations of one call, before they have a place in a session. */
export interface CallTouches {
  readonly toolCallId: string;
  readonly touches: readonly FileTouch[];
}
