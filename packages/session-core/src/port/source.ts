import type { EntryPayload } from "../entry/entry.js";
import type { JsonObject } from "../entry/json.js";
import type { EntryReference } from "../entry/origins.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { PreparedEntry } from "./entry-facts.js";

/** A part of a source file that could not be imported unchanged. */
export interface ImportProblem {
  readonly code:
    | "malformed-line" // not JSON, too long, or changed while it was read: the line was not imported
    | "torn-line" // the last line ends in the middle of a record: the writer was stopped
    | "invalid-record" // JSON, but not a valid entry: imported as a `foreign` entry; or an id that no entry can have: imported with another one
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
  /** The title that the program made. An import replaces an automatic title by it, and none of a user or of a record. */
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
  /** 0: neither the record nor one before it has a time. It gets that of the session, or of the file. Parts of a millisecond are cut off. */
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
   *
   * @throws {ReadFromStartError} while it is read: the state of the position does not have what a record refers to.
   */
  records(from?: ReadingPosition): Iterable<SourceRecord>;
  /**
   * Where the last reading ended, or where its open end starts; call it after `records()` ended there. undefined: the next reading starts at
   * the beginning. Only for formats whose files grow at their end.
   */
  position?(): ReadingPosition | undefined;
}

/**
 * A reading that continues from a position met something that its state does not have: a record that refers to an earlier one, or an
 * entry that the store has with another content. Nothing of it is written; the import reads the source from its start.
 */
export class ReadFromStartError extends Error {
  override readonly name = "ReadFromStart";
}

/** Where the reading of a file ended. A later reading continues there, if the file before it is unchanged. */
export interface ReadingPosition {
  /** The end of a complete line, in bytes. */
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

/** A file of another program, as a sync read it last. */
export interface SourceFileRecord {
  readonly path: string;
  /** Differs from the stamp of the file when the file was changed since. Empty: the file is to be read again. */
  readonly stamp: string;
  /** The name of its format; null: it is of no known format. */
  readonly format: string | null;
}

/** The position at which the reading of a file ended, with a checksum of the bytes before it. */
export interface CheckedPosition extends ReadingPosition {
  /** The CRC-32 of the bytes before `offset`. */
  readonly checksum: number;
  /** The last entry before it, in the store. */
  readonly lastId: EntryId | null;
}

/** A session of such a file, as a sync read it last. */
export interface SourceSessionRecord {
  readonly path: string;
  /** Its id in its program. */
  readonly sourceId: SessionId;
  /** The session in the store; null: it was deleted there. */
  readonly sessionId: SessionId | null;
  readonly revision: string | null;
  /** Where the last reading put the leaf `main`. */
  readonly leafId: EntryId | null;
  /** The title that the last reading set, as it was stored; null: it set none. */
  readonly title: string | null;
  /** null: the next reading starts at the beginning. */
  readonly position: CheckedPosition | null;
  /** When a sync found that its program had removed it; null: it has not. */
  readonly goneAtMs: number | null;
}

/** A file of a session. */
export interface SessionSourceRow {
  readonly sessionId: SessionId;
  readonly path: string;
  /** When a sync found that its program had removed the session or the file; null: it has not. */
  readonly goneAtMs: number | null;
}

/** A session whose end, usually the last reply, its program was still writing when a sync read it. */
export interface HeldSession {
  readonly sessionId: SessionId;
  /** From this time on a sync takes the end as it is, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Options that a sync adds to an import. The import continues from the earlier sync, and the store keeps its result for the next one. */
export interface SyncedImport {
  /** The record that the last sync stored of this session, if the session is still in the store. */
  readonly known?: SourceSessionRecord | undefined;
  /** The records before it were imported by an earlier sync. Only with `known`. */
  readonly from?: CheckedPosition | undefined;
  /** The checksum of the file before a position; undefined: it changed meanwhile. Called in the transaction, after the last record. */
  checksumAt(position: ReadingPosition): number | undefined;
}

/** The records that a store keeps of the files of other programs, so that a sync reads only changes. */
export interface SourceRecords {
  /** Paths of the files of the store. Other code in this process must not open them: closing one releases the locks of SQLite on it. */
  readonly files: readonly string[];
  /** The files of other programs that syncs have read: the one at `path`, and those below it. */
  sourceFiles(path: string): Promise<readonly SourceFileRecord[]>;
  /** Records files as read. One whose stamp is empty is read again by the next sync. */
  setSourceFiles(files: readonly SourceFileRecord[]): Promise<void>;
  /** The sessions of such a file. `importSession` with `sync` adds them. */
  sourceSessions(path: string): Promise<readonly SourceSessionRecord[]>;
  /** The files of all sessions of other programs. */
  sessionSources(): Promise<readonly SessionSourceRow[]>;
  /** The sessions whose end the last sync of their file left out until a time after `nowMs`. */
  heldSessions(nowMs: number): Promise<readonly HeldSession[]>;
  /** Records that programs have removed these sessions, or have them again (null). */
  setSourcesGone(sessions: readonly Pick<SourceSessionRecord, "path" | "sourceId">[], goneAtMs: number | null): Promise<void>;
}
