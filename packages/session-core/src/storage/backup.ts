import { randomBytes, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { StoreInUseError, StoreUnavailableError, TargetExistsError } from "../errors/store-errors.js";
import { openSqlite } from "./driver.js";
import { identifyFile, JOURNAL_KIND_OFFSETS, NO_JOURNAL_FILE, SCHEMA_COOKIE_OFFSET } from "./file-header.js";
import { SUPPORTED_VERSION } from "./migrate.js";
import { isSqliteError, toStoreError } from "./sqlite-errors.js";
import { StoreFile } from "./store-file.js";

/** How many pages a backup copies between two pauses of the event loop. */
const BACKUP_PAGES = 2000;

/** Copies a whole database to `path`. After any failure nothing is left there. @throws {TargetExistsError}; SQLite's errors; the reason of `signal`. */
export async function copyDatabase(
  database: Database,
  path: string,
  onProgress?: (donePages: number, totalPages: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    signal?.throwIfAborted();
    prepareCopy(partial, path);
    const { totalPages: pages } = await database.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        signal?.throwIfAborted();
        onProgress?.(totalPages - remainingPages, totalPages);
        return BACKUP_PAGES;
      },
    });
    publishCopy(partial, path);
    onProgress?.(pages, pages);
  } finally {
    removeCopy(partial);
  }
}

/**
 * Makes the empty file that a copy is written into, for the user alone; SQLite gives the copy's journal the same mode.
 *
 * @throws {TargetExistsError} something is at `path`, where the copy is to go.
 */
export function prepareCopy(partial: string, path: string): void {
  if (existsSync(path)) throw new TargetExistsError(path);
  if (!existsSync(dirname(path))) throw new StoreUnavailableError(path, "its folder is missing");
  closeSync(openSync(partial, "wx", 0o600));
}

/** Gives a whole copy its name, which survives a power cut then. @throws {TargetExistsError} something appeared there meanwhile. */
export function publishCopy(partial: string, path: string): void {
  markAsCopy(partial);
  linkOrRename(partial, path);
  fsyncFolder(dirname(path));
}

/**
 * Writes a number of its own where SQLite counts changes of the schema; any number will do there. It is how an open store
 * tells that a copy was written over its file. And says that the copy has no journal of its own, so that reading it needs no
 * files beside it.
 */
function markAsCopy(partial: string): void {
  const file = openSync(partial, "r+");
  try {
    const mark = randomBytes(4);
    // A positive number: SQLite reads it as a signed one.
    mark[0] = (mark[0] ?? 0) & 0x7f;
    writeSync(file, mark, 0, mark.length, SCHEMA_COOKIE_OFFSET);
    writeSync(file, Buffer.alloc(JOURNAL_KIND_OFFSETS.length, NO_JOURNAL_FILE), 0, JOURNAL_KIND_OFFSETS.length, JOURNAL_KIND_OFFSETS[0]);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What file systems without hard links answer, such as those of memory sticks. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Gives a file its name. @throws {TargetExistsError} something is there already. */
export function linkOrRename(partial: string, path: string): void {
  try {
    // Unlike a rename, a link never takes the place of a file that appeared meanwhile.
    linkSync(partial, path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") throw new TargetExistsError(path);
    if (!lacksHardLinks(error)) throw error;
    if (existsSync(path)) throw new TargetExistsError(path);
    renameSync(partial, path);
  }
}

/** Whether a link failed because the file system knows none. */
export function lacksHardLinks(error: unknown): boolean {
  return error instanceof Error && "code" in error && NO_LINKS.has(String(error.code));
}

/** Writes the names in a folder to the disk. */
export function fsyncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Takes away what a copy leaves beside its name. */
export function removeCopy(partial: string): void {
  for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
}

/**
 * Puts a whole store in the place of the one at `path`, which keeps all it has under the name `keptAt`. The name `path`
 * leads to the old store or to the new one at any moment, also after a power cut.
 *
 * @returns whether there was a store to keep.
 * @throws {StoreInUseError} it is open, in this process or another.
 * @throws {ForeignFileError | NewerStoreError} the file at `path` is no store that may be replaced; it was left as it is.
 */
export function replaceStore(whole: string, path: string, keptAt: string): boolean {
  const present = StoreFile.find(path);
  if (present === undefined) {
    linkOrRename(whole, path);
    fsyncFolder(dirname(path));
    return false;
  }
  let alone: Database | undefined;
  try {
    identifyFile(path, present.readHeader(), SUPPORTED_VERSION);
    alone = openExclusively(path);
    keepOldStore(path, keptAt);
    renameSync(whole, path);
    fsyncFolder(dirname(path));
    return true;
  } catch (error) {
    throw toStoreError(error, path, 0);
  } finally {
    alone?.close();
    present.release();
  }
}

/**
 * Takes the whole file for this connection, its journal folded into it, so that whoever opens the store meanwhile has to
 * wait. undefined: the store is so damaged that SQLite cannot open it; who else has it open cannot be told then.
 */
function openExclusively(path: string): Database | undefined {
  const database = openSqlite(path, { fileMustExist: true, timeout: 0 });
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

// The journal of a damaged store goes with it: SQLite would fold it into the file that takes the name. It goes first, so
// that at no moment it stands beside that file.
function keepOldStore(path: string, keptAt: string): void {
  if (existsSync(keptAt)) throw new TargetExistsError(keptAt);
  const sides = ["-wal", "-shm", "-journal"].filter((side) => existsSync(`${path}${side}`));
  for (const side of sides) renameSync(`${path}${side}`, `${keptAt}${side}`);
  try {
    linkSync(path, keptAt);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    renameSync(path, keptAt);
  }
}
