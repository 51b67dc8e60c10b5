import { SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError } from "../errors/import-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { SourceFolders } from "./source-folders.js";

/** Something in a source file that could not be taken as it stands. It is reported, never dropped in silence. */
export interface ImportProblem {
  readonly code:
    | "malformed-line" // no JSON, too long, or changed while it was read: nothing of the line was imported
    | "torn-line" // the last line ends in the middle of a record: the writer was stopped
    | "invalid-record" // JSON, but no entry can be made of it: kept as a `foreign` entry
    | "missing-parent" // the parent is not in the file: attached to the record before it
    | "missing-kept-entry" // a compaction's first kept entry is not on its path: nothing kept
    | "missing-blob" // a payload that the file only refers to is not there
    | "duplicate-id" // two different records with one id: the later one got an id of its own
    | "unreadable-file"; // the file or one that it refers to cannot be read
  readonly path: string;
  /** Line in the file, from 1; null when the problem is not of one line. */
  readonly line: number | null;
  /** One line for a person: what, and what was done about it. Ids and names in it are cut, so it is short. */
  readonly message: string;
}

/** What a file says of a session before its first entry. */
export interface SourceHeader {
  /** The session's own id in that program: the same at each import. */
  readonly sessionId: SessionId;
  readonly createdAtMs?: number | undefined;
  readonly cwd?: string | undefined;
  readonly title?: string | undefined;
  /** A subagent's session is linked to the call that started it and not offered for continuing. */
  readonly kind: "conversation" | "subagent";
  readonly parent?: SourceParent | undefined;
  /** Header fields that we do not know, kept as they are. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The session that this one was forked from or started by. It may not be in the store. */
export interface SourceParent {
  readonly sessionId: SessionId;
  readonly entryId?: EntryId | undefined;
  readonly toolCallId?: string | undefined;
}

/** One record of a source, in the order in which it must be written: a parent always comes before its children. */
export type SourceRecord =
  | SourceEntry
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  | { readonly kind: "title"; readonly title: string | null; readonly source: "user" | "auto" }
  | { readonly kind: "leaf"; readonly name: string; readonly entryId: EntryId | null }
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  | { readonly kind: "problem"; readonly problem: ImportProblem };

/** An entry of a source. `payload` is what the reader made of the record; the gate judges it once more. */
export interface SourceEntry {
  readonly kind: "entry";
  /** Line in the file, from 1. */
  readonly line: number;
  /** The record's own id; where the format has none, derived from the record, so that it is the same next time. */
  readonly id: EntryId;
  /** null: a first entry. An id that was not written before is reported and replaced by the entry before this one. */
  readonly parentId: EntryId | null;
  readonly createdAtMs: number;
  readonly payload: unknown;
}

/** One session inside a source file. */
export interface SourceSession {
  readonly header: SourceHeader;
  /** The file that its records stand in, where it is not the one that was given. */
  readonly path?: string | undefined;
  /**
   * Reads the file from its start, each time it is called, in pieces of bounded size. After the last record the leaf
   * `main` stands at the last `leaf` record, or else at the last entry.
   */
  records(): Iterable<SourceRecord>;
}

/** The first bytes of a file: enough to tell its format by content, never by name alone. */
export interface FileHead {
  readonly path: string;
  /** The first complete lines that are JSON objects, at most 50 of them and 1 MiB. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

/** A format that can be imported. */
export interface SourceFormat {
  readonly name: string;
  /** Whether the file with this head is of this format. */
  detects(head: FileHead): boolean;
  /** The file of the session that started this one's, if it is where the format keeps it: its sessions include this file's. */
  starterOf?(path: string, folders: SourceFolders): string | undefined;
  /**
   * The sessions in the file: one, or several where a file holds subagents' sessions too, or has them in files beside
   * it; parents before children.
   * @param folders what the same import has learned of folders so far.
   * @throws {UnknownFormatVersionError} the file is of a version that is not known.
   */
  sessions(path: string, folders?: SourceFolders): Iterable<SourceSession>;
}

/** What was read of a file that belongs to a session, or why it could not be. */
export type ReadAttempt<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly [ImportProblem] };

/**
 * Reads a file that belongs to a session and without which the session is imported all the same.
 *
 * @param consequence what the session lacks when `path` cannot be read, for the problem that says so.
 */
export function tryRead<T>(path: string, consequence: string, read: () => T): ReadAttempt<T> {
  try {
    return { value: read(), problems: [] };
  } catch (error) {
    if (!OF_FILE.some((kind) => error instanceof kind) || !(error instanceof Error)) throw error;
    const reason = error instanceof SourceUnreadableError ? error.reason : error.message;
    return { value: undefined, problems: [{ code: "unreadable-file", path, line: null, message: `${consequence}: ${reason}` }] };
  }
}

const OF_FILE = [SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError];
