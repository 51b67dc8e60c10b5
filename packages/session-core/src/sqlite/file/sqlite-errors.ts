import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { MAX_JSON_LENGTH } from "../../entry/json.js";
import { TooLargeError } from "../../errors/session-errors.js";
import {
  StoreBusyError,
  StoreDamagedError,
  StoreDeniedError,
  StoreFullError,
  StoreReadOnlyError,
  StoreUnavailableError,
} from "../../errors/store-errors.js";
import { errorCode, isSystemError } from "../../errors/system-error.js";

/** An error of better-sqlite3. `code` is the name of the extended result code of SQLite. */
interface SqliteError extends Error {
  readonly code: string;
}

/** True for an error of SQLite with this result code, or with one that extends it (`SQLITE_BUSY_SNAPSHOT`). */
export function isSqliteError(error: unknown, code = "SQLITE_"): error is SqliteError {
  return errorCode(error)?.startsWith(code) === true;
}

// Messages of SQLite for a file whose tables do not match its version number, or whose schema is damaged.
const TABLES_DIFFER =
  /^(unsupported file format|invalid fts5 file format|vtable constructor failed|no such (table|column)|table \S+ has no column|foreign key mismatch|unknown function|(table|index|trigger) \S+ already exists|there is already another)/;

// Constraint errors of the tables in the schema name columns; this message is of an internal table of the search index.
const INDEX_DIFFERS = "constraint failed";

/** Converts errors of SQLite and of the file system to store errors. Returns other errors unchanged. */
export function toStoreError(error: unknown, path: string, busyTimeoutMs: number): unknown {
  if (!isSqliteError(error)) return toFileError(error, path);
  const options = { cause: error };
  const primary = error.code.split("_").slice(0, 2).join("_");
  switch (primary) {
    case "SQLITE_BUSY":
    case "SQLITE_LOCKED":
      return new StoreBusyError(busyTimeoutMs, options);
    case "SQLITE_READONLY":
      return new StoreReadOnlyError(path, options);
    case "SQLITE_FULL":
      return new StoreFullError(path, options);
    case "SQLITE_CORRUPT":
    case "SQLITE_NOTADB":
      return new StoreDamagedError(path, options);
    case "SQLITE_CANTOPEN":
      return toOpeningError(error, path);
    case "SQLITE_IOERR":
    case "SQLITE_PERM":
      return new StoreUnavailableError(path, error.message, options);
    case "SQLITE_TOOBIG":
      return new TooLargeError("A text", MAX_JSON_LENGTH, options);
    case "SQLITE_ERROR":
      return TABLES_DIFFER.test(error.message) ? new StoreDamagedError(path, options) : error;
    case "SQLITE_CONSTRAINT":
      return error.message === INDEX_DIFFERS ? new StoreDamagedError(path, options) : error;
    default:
      return error;
  }
}

/**
 * Like `toStoreError`, while a file is opened and migrated: a migration copies rows of old tables, so a violated constraint means
 * that these rows are damaged.
 */
export function toOpenError(error: unknown, path: string, busyTimeoutMs: number): unknown {
  if (isSqliteError(error, "SQLITE_CONSTRAINT")) return new StoreDamagedError(path, { cause: error });
  return toStoreError(error, path, busyTimeoutMs);
}

/** Converts errors of the file system, such as a missing folder or permission. Returns other errors unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const reason = describeFileError(error.code);
  return DENIED.has(error.code)
    ? new StoreDeniedError(path, reason, { cause: error })
    : new StoreUnavailableError(path, reason, { cause: error });
}

const DENIED: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Errors of the file system, and what to do about each. */
const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: "its folder or file may not be used by this user (EACCES); change the permissions or name another path",
  EPERM: "its folder or file may not be used by this user (EPERM); change the permissions or name another path",
  EROFS: "its file system is read-only (EROFS); name a path on another one",
  ENOENT: "its folder is missing and cannot be made (ENOENT); name another path",
  ENOTDIR: "a part of its path is a file and no folder (ENOTDIR); name another path",
  EEXIST: "a part of its path exists and is no folder (EEXIST); name another path",
  ELOOP: "links in its path lead in a circle (ELOOP); name another path",
  ENAMETOOLONG: "its path is longer than the system allows (ENAMETOOLONG); name another path",
};

/** Describes an error code of the file system; returns unknown codes unchanged. */
function describeFileError(code: string): string {
  return Object.hasOwn(FILE_REASONS, code) ? (FILE_REASONS[code] ?? code) : code;
}

/** Side files of SQLite, which one writer creates and the next one needs. */
const SIDES = ["", "-wal", "-shm", "-journal"] as const;

/** The error of a file that SQLite cannot open: it does not report what its folder, or a side file of another user, does not allow. */
function toOpeningError(error: SqliteError, path: string): unknown {
  const folder = dirname(path);
  const reason = `the folder ${folder} is not writable; change its permissions or name another path`;
  const denied = denialOf(folder, constants.W_OK | constants.X_OK, reason);
  if (denied !== undefined) return denied(path, error);
  for (const side of SIDES) {
    const file = `${path}${side}`;
    const inUse = `${file} may not be read and written by this user; change its permissions, or let its owner close the store`;
    const refused = denialOf(file, constants.R_OK | constants.W_OK, inUse);
    if (refused !== undefined && existsSync(file)) return refused(path, error);
  }
  return new StoreUnavailableError(path, error.message, { cause: error });
}

/** The error of a path that this user may not use in this way; `reason`: if its rights are why. undefined: the user may. */
function denialOf(used: string, access: number, reason: string): ((path: string, cause: Error) => Error) | undefined {
  try {
    accessSync(used, access);
    return undefined;
  } catch (denied) {
    if (!isSystemError(denied)) throw denied;
    const { code } = denied;
    return (path, cause) =>
      DENIED.has(code)
        ? new StoreDeniedError(path, reason, { cause })
        : new StoreUnavailableError(path, describeFileError(code), { cause });
  }
}

/**
 * Throws if this user may not write a file: SQLite opens it for reading then, and fails later with an error that does not say so.
 *
 * @throws errors of the file system
 */
export function requireWritable(path: string): void {
  accessSync(path, constants.R_OK | constants.W_OK);
}
