import type { ImportProblem, SessionId } from "@bough/session-core";
import type { ReadingPosition, SourceSession } from "@bough/session-core/engine";
import { type JsonObject, parseJsonObject } from "@bough/session-core/wire";
import { SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError } from "../errors.js";
import type { SourceEnvironment } from "./agent-folders.js";
import { readStart } from "./source-file.js";
import type { SourceFolders } from "./source-folders.js";

/** The start of a file, from which its format is detected. */
export interface FileHead {
  readonly path: string;
  /** The lines that are JSON objects. */
  readonly records: readonly JsonObject[];
  /**
   * The first complete lines that are JSON objects or lists: at most 50, in the first 1 MiB; if these are few, also at most 50 behind the line
   * that goes on there.
   */
  readonly lines: readonly unknown[];
  /** The JSON value that is the whole file, if the file has at most 1 MiB; otherwise undefined. */
  readonly document: unknown;
  /** The first 1 MiB as text if the file starts like JSON, otherwise empty. */
  readonly text: string;
  readonly isSqlite: boolean;
}

/** The command that continues a session in its program. It is started in the working directory of the session. */
export interface SourceResume {
  /** Its command, which is searched in PATH. */
  readonly program: string;
  /** The arguments for the session with this id in this file. */
  args(sessionId: SessionId, file: string): readonly string[];
  /** Returns the file in which the program expects a new session, below one of its folders. undefined: its sessions cannot be written. */
  newSession?(folder: string, session: { readonly cwd: string; readonly createdAtMs: number }): NewSourceFile;
  /** The arguments with which the program takes a new file into its own store, before `args`. undefined: it reads the file itself. */
  importArgs?(file: string): readonly string[];
}

/** A session file that does not exist yet. */
export interface NewSourceFile {
  readonly sessionId: SessionId;
  readonly file: string;
}

/** A program that writes a format. */
export interface SourceAgent {
  /** Its name for people, such as `Codex`. */
  readonly name: string;
  /** The folders in which it keeps sessions; they need not exist. Relative ones, which a missing home folder leaves, are ignored. */
  folders(environment: SourceEnvironment): readonly string[];
  /** Matches the path below the folder of each file that may be a session, with `/` between names. */
  readonly files: RegExp;
  /** Matches the path below the folder of each folder that has no such files: it is not listed. */
  readonly skipped?: RegExp | undefined;
  /** Neighbouring files and folders that also belong to the sessions of this file. A sync stats each of them; they may be missing. */
  beside?(path: string): readonly string[];
  /** The part of a file of many sessions about those of this file, such as a title: when it changes, a sync reads this file. undefined: nothing. */
  noteOf?(path: string, folders: SourceFolders): string | undefined;
  /** The command that continues a session; undefined: the program continues one only from its own list of sessions. */
  readonly resume?: SourceResume;
}

/** A format that can be imported. */
export interface SourceFormat {
  readonly name: string;
  /** The programs that write it. */
  readonly agents?: readonly SourceAgent[];
  /** True if the file with this head is of this format. `folders`: those of the import, whose `sessions` may follow. */
  detects(head: FileHead, folders?: SourceFolders): boolean;
  /** True if a file belongs to a session in another file: an import of a folder does not open it. */
  isPart?(path: string, folders: SourceFolders): boolean;
  /** The file of the session that started this one, if it is at the usual place. Its sessions include those of this file. */
  starterOf?(path: string, folders: SourceFolders): string | undefined;
  /**
   * The sessions of the file, parents before children: one, or several if it has subagents, in this file or in files next to it.
   * @param folders the folders that this import has listed.
   * @param reads returns true if the sessions of a file next to this one are read too; default: all. The sessions of others are skipped, so
   * a reader may leave them out, or return them.
   * @param earlier where an earlier reading of a file ended, which will be given to `records` of its session if that has a `position`: the
   * bytes before it are unchanged. A reader that needs the whole file for a header may keep what it needs in the state. undefined: none.
   * @throws {UnknownFormatVersionError} the file is of a version that is not known.
   */
  sessions(
    path: string,
    folders?: SourceFolders,
    reads?: (path: string) => boolean,
    earlier?: (path: string) => ReadingPosition | undefined,
  ): Iterable<SourceSession>;
}

/** The result of reading a related file, or the problem. */
export type ReadAttempt<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly [ImportProblem] };

/**
 * Reads a related file of a session. If it cannot be read, the session is imported without it and a problem is reported.
 *
 * @param consequence the part that the import lacks then, for the message of the problem.
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

/**
 * Reads a small JSON object beside a session. `value` is undefined without a problem if there is no file, or one that is no object, as
 * the first `mostBytes` of a longer one are not.
 */
export function tryReadObject(
  path: string,
  folders: SourceFolders,
  mostBytes: number,
  consequence: string,
): ReadAttempt<JsonObject | undefined> {
  const read = () => (folders.has(path) ? parseJsonObject(readStart(path, mostBytes).toString("utf8")) : undefined);
  return tryRead(path, consequence, read);
}

const OF_FILE = [SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError];
