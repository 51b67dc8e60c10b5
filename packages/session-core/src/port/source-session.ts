import type { JsonObject } from "../entry/json-fields.js";
import type { EntryReference } from "../entry/origins.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { PreparedEntry } from "./entry-facts.js";

/** A part of a source file that could not be imported unchanged. */
export interface ImportProblem {
  readonly code:
    | "malformed-line" // not JSON, too long, or changed while it was read: the line was not imported
    | "torn-line" // the last line ends in the middle of a record: the writer was stopped
    | "invalid-record" // JSON, but not a valid entry: imported as a `foreign` entry
    | "missing-parent" // the parent is not in the file: attached to the record before it
    | "missing-kept-entry" // the first kept entry of a compaction is not on its path: imported as keeping nothing
    | "missing-blob" // a file that the record refers to is missing
    | "duplicate-id" // two different records with one id: the later one got a new id
    | "unreadable-file"; // the file or one that it refers to cannot be read
  readonly path: string;
  /** The line in the file, from 1; null if the problem is not about one line. */
  readonly line: number | null;
  /** One short line for people: the problem, and what was done. */
  readonly message: string;
}

/** The data of a session that come before its first entry. */
export interface SourceHeader {
  /** The session's id in its program; the same at each import. */
  readonly sessionId: SessionId;
  readonly createdAtMs?: number | undefined;
  readonly cwd?: string | undefined;
  readonly title?: string | undefined;
  /** A subagent's session is linked to the call that started it. */
  readonly kind: "conversation" | "subagent";
  readonly parent?: SourceParent | undefined;
  /** Unknown header fields, unchanged. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The program left the session's earlier file for this one: the leaf goes to the end of this one, unless a user placed it. */
  readonly isContinuation?: boolean | undefined;
}

/** The session from which this one was forked or started. It need not be in the store. */
export interface SourceParent {
  readonly sessionId: SessionId;
  readonly entryId?: EntryId | undefined;
  readonly toolCallId?: string | undefined;
}

/**
 * One record of a source, in the order in which it must be written: a parent always comes before its children.
 *
 * `merged`: the record at this line became no entry, because its content is part of another entry or of the session: a tool's
 * output in a reply, a usage, a repeated text. So every line is an entry, an annotation, merged or a problem, and none is lost silently.
 */
export type SourceRecord =
  | SourceEntry
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  | { readonly kind: "title"; readonly title: string | null; readonly source: "user" | "auto" }
  | { readonly kind: "leaf"; readonly name: string; readonly entryId: EntryId | null }
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  | { readonly kind: "merged"; readonly line: number }
  | OpenEnd
  | { readonly kind: "problem"; readonly problem: ImportProblem };

/**
 * The mark before records that the program may still change: the last reply while it is written, and the records after it. An import
 * leaves them out until they are complete or the file has not changed for `waitMs`. A title comes before the mark.
 */
export interface OpenEnd {
  readonly kind: "open";
  /** The time without a write after which this end is complete, in milliseconds: `QUIET_MS`, `SILENT_CALL_MS` or `RUNNING_MS`. */
  readonly waitMs: number;
  /** Where the leaf `main` is without this end. Default: at the last entry before it. */
  readonly leafId?: EntryId | null | undefined;
  /** When the program wrote this session last, if the source says so. Default: the times of the file. */
  readonly changedAtMs?: number | undefined;
}

/** An entry of a source. `payload` is not validated yet. */
export interface SourceEntry {
  readonly kind: "entry";
  /** The line in the file, from 1. */
  readonly line: number;
  /** The record's id; derived from the record if the format has none. The same at each import. */
  readonly id: EntryId;
  /** null: a first entry. An unknown id is reported and replaced by the id of the entry before this one. */
  readonly parentId: EntryId | null;
  /** The id that an earlier version of the reader gave: an entry that the store has under it keeps it. */
  readonly formerId?: EntryId | undefined;
  /** 0: neither the record nor one before it has a time. It gets that of the session, or of the file. */
  readonly createdAtMs: number;
  readonly payload: unknown;
  /** The JSON text of `payload` without its type, if the reader has it: writing the text again would take a seventh of an import. */
  readonly payloadJson?: string | undefined;
  /** The entry of which this one is a copy, if the record says so. It need not be in the store. */
  readonly origin?: EntryReference | undefined;
  /** The validated form, if another thread has computed it: see `prepareRecord`. `payload` is then read only where the store has to compare it. */
  readonly prepared?: PreparedEntry | undefined;
}

/** A session of a source file. */
export interface SourceSession {
  readonly header: SourceHeader;
  /** The file of its records, if it is not the given file. */
  readonly path?: string | undefined;
  /** Changes whenever the content of the session changes: a sync skips a session of the same revision. undefined: not known. */
  readonly revision?: string | undefined;
  /**
   * Reads the file from its start, or from the position at which an earlier reading ended, in pieces of bounded size. The leaf
   * `main` is set by the last `leaf` record, or else to the last entry.
   */
  records(from?: ReadingPosition): Iterable<SourceRecord>;
  /**
   * Where the last reading ended, or where its open end starts; call it after `records()` is exhausted or was left at its open end. undefined: the next reading starts at the beginning.
   * Only for formats whose files grow at their end.
   */
  position?(): ReadingPosition | undefined;
}

/** Where the reading of a file ended. A later reading continues there, if the file before it is unchanged. */
export interface ReadingPosition {
  /** The end of the last complete line, in bytes. */
  readonly offset: number;
  /** The number of complete lines before `offset`; blank ones count. */
  readonly line: number;
  /** The state of the reader after these lines: a small JSON value. The store has their entries, so it knows their ids. */
  readonly state: JsonObject;
}

/** The value of `waitMs` if the file gives no sign that more follows. */
export const QUIET_MS = 5_000;

/** The value of `waitMs` for a program that writes a call only when it has ended: its reply may have a call that runs. */
export const SILENT_CALL_MS = 60_000;

/**
 * The value of `waitMs` if the file shows that more follows. A reply or a command may run for minutes; a program that was killed leaves
 * the file in this state.
 */
export const RUNNING_MS = 600_000;
