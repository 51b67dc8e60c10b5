import { randomBytes, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { StoreInUseError, StoreUnavailableError, TargetExistsError } from "../../errors/store-errors.js";
import { errorCode } from "../../errors/system-error.js";
import { copyLockedFile, type OnPages } from "./copy-locked.js";
import type { OpenSqlite } from "./driver.js";
import { SUPPORTED_VERSION } from "./migrate.js";
import { isSqliteError, requireWritable, toStoreError } from "./sqlite-errors.js";
import { identifyFile, JOURNAL_KIND_OFFSETS, NO_JOURNAL_FILE, SCHEMA_COOKIE_OFFSET, StoreFile } from "./store-file.js";
import { openerOf } from "./store-lock.js";

/** The number of pages that a backup copies before it returns to the event loop. */
const BACKUP_PAGES = 2000;

/**
 * Copies a database to `path`; the copy of a locked one is locked with the same key. `file`: undefined for a database in memory. Leaves no
 * file after a failure. @throws {TargetExistsError}, errors of SQLite, `signal.reason`.
 */
export async function copyDatabase(
  database: Database,
  file: StoreFile | undefined,
  path: string,
  onProgress?: OnPages,
  signal?: AbortSignal,
): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    signal?.throwIfAborted();
    prepareCopy(partial, path);
    const pages =
      file?.lock === undefined
        ? await copyPages(database, partial, onProgress, signal)
        : await copyLockedFile(file, file.lock, partial, onProgress, signal);
    fsyncFile(partial);
    linkOrRename(partial, path);
    fsyncFolder(dirname(path));
    onProgress?.(pages, pages);
  } finally {
    removeCopy(partial);
  }
}

/** Copies with SQLite's online backup. Returns the number of pages. */
async function copyPages(database: Database, partial: string, onProgress?: OnPages, signal?: AbortSignal): Promise<number> {
  const { totalPages: pages } = await database.backup(partial, {
    progress: ({ totalPages, remainingPages }) => {
      signal?.throwIfAborted();
      onProgress?.(totalPages - remainingPages, totalPages);
      return BACKUP_PAGES;
    },
  });
  markAsCopy(partial);
  return pages;
}

/**
 * Creates the empty file for a copy with mode 0600; SQLite gives its journal the same mode.
 *
 * @throws {TargetExistsError} `path` exists.
 */
function prepareCopy(partial: string, path: string): void {
  if (existsSync(path)) throw new TargetExistsError(path);
  if (!existsSync(dirname(path))) throw new StoreUnavailableError(path, "its folder is missing");
  closeSync(openSync(partial, "wx", 0o600));
}

/**
 * Writes a random schema cookie into the header of a copy, by which an open store detects that a copy was written over its
 * file. Also sets the journal mode of the copy to DELETE, so that reading it needs no WAL.
 */
function markAsCopy(partial: string): void {
  const file = openSync(partial, "r+");
  try {
    const mark = randomBytes(4);
    // A positive number, because SQLite reads it as signed.
    mark[0] = (mark[0] ?? 0) & 0x7f;
    writeSync(file, mark, 0, mark.length, SCHEMA_COOKIE_OFFSET);
    writeSync(file, Buffer.alloc(JOURNAL_KIND_OFFSETS.length, NO_JOURNAL_FILE), 0, JOURNAL_KIND_OFFSETS.length, JOURNAL_KIND_OFFSETS[0]);
  } finally {
    closeSync(file);
  }
}

/** Flushes a file to disk. */
export function fsyncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Error codes of file systems without hard links, such as FAT. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Moves a file to a path that must not exist. @throws {TargetExistsError} */
function linkOrRename(partial: string, path: string): void {
  try {
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    linkSync(partial, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw new TargetExistsError(path);
    if (!lacksHardLinks(error)) throw error;
    if (existsSync(path)) throw new TargetExistsError(path);
    renameSync(partial, path);
  }
}

/** True if a link failed because the file system has no hard links. */
function lacksHardLinks(error: unknown): boolean {
  return NO_LINKS.has(errorCode(error) ?? "");
}

/** Flushes the entries of a folder to disk. */
export function fsyncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Removes the files of an incomplete copy. */
function removeCopy(partial: string): void {
  for (const side of ["", "-journal", "-wal", "-shm"]) rmSync(`${partial}${side}`, { force: true });
}

/**
 * Replaces the store at `path` by the file `newFile` and keeps the old store at `oldStorePath`. At any moment, also after a power loss,
 * `path` is the old store or the new one.
 *
 * @returns whether there was an old store.
 * @throws {StoreInUseError} the old store is open, in this process or in another.
 * @throws {ForeignFileError | NewerStoreError} the file at `path` is not a store, or is newer; it was not changed.
 * @throws {StoreLockedError | WrongKeyError} the old store is locked, and `key` is not its key.
 */
export function replaceStore(newFile: string, path: string, oldStorePath: string, key: string | undefined): boolean {
  const oldStore = StoreFile.find(path, key);
  if (oldStore === undefined) {
    linkOrRename(newFile, path);
    fsyncFolder(dirname(path));
    return false;
  }
  let exclusive: Database | undefined;
  try {
    identifyFile(path, oldStore, SUPPORTED_VERSION);
    exclusive = openExclusively(path, openerOf(oldStore.lock));
    // Another process may have replaced it before it was locked.
    if (oldStore.isReplaced) throw new StoreInUseError(path);
    keepOldStore(path, oldStorePath);
    renameSync(newFile, path);
    fsyncFolder(dirname(path));
    return true;
  } catch (error) {
    throw toStoreError(error, path, 0);
  } finally {
    exclusive?.close();
    oldStore.release();
  }
}

/**
 * Locks the file exclusively after a checkpoint, so that other processes cannot open it meanwhile. Returns undefined if the
 * store is so damaged that SQLite cannot open it; other users cannot be detected then.
 */
function openExclusively(path: string, open: OpenSqlite): Database | undefined {
  requireWritable(path);
  const database = open(path, { fileMustExist: true, timeout: 0 });
  try {
    database.pragma("journal_mode = DELETE");
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (isSqliteError(error, "SQLITE_BUSY")) throw new StoreInUseError(path, { cause: error });
    if (isSqliteError(error, "SQLITE_CORRUPT") || isSqliteError(error, "SQLITE_NOTADB")) return undefined;
    throw error;
  }
}

// The WAL of a damaged store is moved with it, because SQLite would apply it to the new file of the same name. It is moved
// first, so that SQLite never applies it to the new file.
function keepOldStore(path: string, oldStorePath: string): void {
  if (existsSync(oldStorePath)) throw new TargetExistsError(oldStorePath);
  const sides = ["-wal", "-shm", "-journal"].filter((side) => existsSync(`${path}${side}`));
  for (const side of sides) renameSync(`${path}${side}`, `${oldStorePath}${side}`);
  try {
    linkSync(path, oldStorePath);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    renameSync(path, oldStorePath);
  }
}
