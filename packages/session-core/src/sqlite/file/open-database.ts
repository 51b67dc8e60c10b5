import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { NewerStoreError, StoreBusyError, StoreDeniedError, StoreNotLockedError } from "../../errors/store-errors.js";
import { errorCode } from "../../errors/system-error.js";
import type { ConnectionOptions } from "../../port/connection-options.js";
import { type OpenSqlite, openSqlite, openWithCiphers } from "./driver.js";
import { migrate, readVersion, SUPPORTED_VERSION } from "./migrate.js";
import { isSqliteError } from "./sqlite-errors.js";
import {
  identifyFile,
  JOURNAL_KIND_OFFSETS,
  NO_JOURNAL_FILE,
  realPathOf,
  removeUnfinishedKeyChange,
  requireStore,
  StoreFile,
  walOf,
} from "./store-file.js";
import { openerOf, StoreLock } from "./store-lock.js";

/** An open and migrated database, and its file; undefined for a database in memory. */
export interface OpenedDatabase {
  readonly database: Database.Database;
  readonly file: StoreFile | undefined;
  /**
   * A second, idle connection; undefined for a read-only store. While it is open, closing `database` neither checkpoints nor
   * deletes the WAL. This is needed if the file was replaced: the path of the WAL then belongs to the new file.
   */
  readonly lockHolder: Database.Database | undefined;
}

// SQLite must not wait for a lock, because it would block the thread. Callers retry instead.
const NO_WAIT = { timeout: 0 };

/** Opens and migrates the file and sets all pragmas. @throws the errors of `identifyFile`, and errors of SQLite. */
export function openDatabase(options: ConnectionOptions): OpenedDatabase {
  if (options.path === ":memory:") {
    const database = openSqlite(":memory:");
    migrate(database, ":memory:");
    configure(database, options);
    return { database, file: undefined, lockHolder: undefined };
  }
  const found = StoreFile.find(options.path, options.key);
  try {
    return openFile(options, found);
  } catch (error) {
    const isReplaced = found?.isReplaced === true;
    found?.release();
    // Another process has put another file in its place, perhaps with another key. The next attempt reads that one.
    throw isReplaced ? new StoreBusyError(0, { cause: error }) : error;
  }
}

function openFile(options: ConnectionOptions, present: StoreFile | undefined): OpenedDatabase {
  const { path, mode, key } = options;
  const identity = identifyFile(path, present, SUPPORTED_VERSION);
  if (mode !== "create") requireStore(path, identity);
  const lock = key === undefined ? undefined : (present?.lock ?? lockNew(path, identity.kind, key));
  const open = openerOf(lock);
  // A newer program may have written its version to the WAL only. It is read over a read-only connection, which does not
  // checkpoint the WAL into the file.
  if (hasJournal(path)) rejectNewer(path, open);
  if (mode === "create" && identity.kind === "absent") makeFolder(dirname(path));
  const database = mode === "read-only" ? openToRead(path, present, open) : openToWrite(options, identity.kind, open);
  const file = database.memory ? undefined : (present ?? StoreFile.find(path, key));
  try {
    configure(database, options);
    const lockHolder = mode === "read-only" ? undefined : openToRead(path, undefined, open);
    if (mode !== "read-only" && database.pragma("journal_mode", { simple: true }) === "wal") removeUnfinishedKeyChange(realPathOf(path));
    file?.recordOpened();
    return { database, file, lockHolder };
  } catch (error) {
    database.close();
    file?.release();
    throw error;
  }
}

/** The lock of a file that is new or empty. @throws {StoreNotLockedError} the file is a store without a lock. */
function lockNew(path: string, kind: "absent" | "empty" | "store", key: string): StoreLock {
  if (kind === "store") throw new StoreNotLockedError(path);
  return StoreLock.create(key);
}

/**
 * Creates a folder and its missing parents. `mkdirSync` with `recursive` loops forever where a folder exists and the system
 * returns ENOENT for a new folder in it, as in `/proc`.
 */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it. A dangling link also exists, but is not a folder.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/**
 * Creates an empty file that only the user may read, because sessions contain secrets; SQLite would create it with the rights that the
 * umask leaves. False: the path cannot be created or exists, as a dangling link does; SQLite then creates it, or says what is wrong.
 */
function createPrivate(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function openToWrite({ path, key, onUpgrade }: ConnectionOptions, kind: "absent" | "empty" | "store", open: OpenSqlite): Database.Database {
  // A driver that does not load leaves no file.
  if (kind === "absent") (key === undefined ? openSqlite(":memory:") : openWithCiphers(undefined, ":memory:")).close();
  const isPrivate = kind !== "absent" || createPrivate(path);
  const database = open(path, NO_WAIT);
  try {
    // SQLite gives its side files the mode of the file.
    if (!isPrivate) chmodSync(path, 0o600);
    // Applies to new files only. A store has some 35 tables and indexes, each of which takes a page at least. Against pages of 4 kB
    // a store of 1.3 MB of JSONL is 9 % smaller and an import takes 2 % longer; pages of 1 kB save 2 % more and cost another 5 %.
    database.pragma("page_size = 2048");
    // The schema is committed before the switch to WAL, so that the header of the file itself identifies the store.
    database.pragma("secure_delete = ON");
    const before = migrate(database, path, undefined, onUpgrade);
    if (before > 0 && before < SUPPORTED_VERSION) releaseFreePages(database, key !== undefined);
    return database;
  } catch (error) {
    database.close();
    // Another process has created the file meanwhile, with another salt. The next attempt reads it.
    if (key !== undefined && kind !== "store" && isSqliteError(error, "SQLITE_NOTADB")) throw new StoreBusyError(0, { cause: error });
    throw error;
  }
}

/** A longer locked file keeps its free pages: its copy is made in memory. */
const MOST_VACUUMED_IN_MEMORY = 2 ** 30;

/** Error codes of SQLite where the disk, or the folder for temporary files, cannot take a copy, or another process holds the lock. */
const NO_COPY = ["SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_BUSY", "SQLITE_LOCKED"];

/**
 * Gives the free pages of the file back to the file system, if the disk has room for a second copy and no other process holds the
 * lock. Returns whether it did. A crash leaves the file as it was.
 */
export function releaseFreePages(database: Database.Database, isLocked: boolean): boolean {
  // VACUUM writes the copy to the temporary store; in memory it would take as much as the file. A temporary file is not encrypted.
  if (isLocked && bytesOf(database) > MOST_VACUUMED_IN_MEMORY) return false;
  database.pragma(`temp_store = ${isLocked ? "MEMORY" : "FILE"}`);
  try {
    database.exec("VACUUM");
    // The result is in the WAL. Without a checkpoint the file keeps its size, and the WAL has that of the copy, until no process has the
    // store open. Does nothing while another process reads.
    database.pragma("wal_checkpoint(TRUNCATE)");
    return true;
  } catch (error) {
    if (NO_COPY.some((code) => isSqliteError(error, code))) return false;
    throw error;
  } finally {
    database.pragma("temp_store = MEMORY");
  }
}

function bytesOf(database: Database.Database): number {
  return Number(database.pragma("page_count", { simple: true })) * Number(database.pragma("page_size", { simple: true }));
}

/** Error codes of SQLite if it cannot create the side files that even a read needs. */
const NO_SIDE_FILES = ["SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_READONLY_CANTINIT", "SQLITE_READONLY_RECOVERY"];

/**
 * Opens a file read-only. SQLite needs a side file (-shm) even for reads. If the folder is not writable, the whole store is
 * read into memory instead.
 */
function openToRead(path: string, file: StoreFile | undefined, open: OpenSqlite): Database.Database {
  const database = open(path, { readonly: true, ...NO_WAIT });
  try {
    readVersion(database);
    return database;
  } catch (error) {
    database.close();
    if (file === undefined || !NO_SIDE_FILES.some((code) => isSqliteError(error, code))) throw error;
    // The file alone lacks the writes in the WAL.
    if (hasJournal(path)) throw new StoreDeniedError(path, UNREADABLE_JOURNAL, { cause: error });
    if (file.lock !== undefined) throw new StoreDeniedError(path, LOCKED_IN_PLACE, { cause: error });
  }
  const bytes = file.readAll();
  for (const offset of JOURNAL_KIND_OFFSETS) bytes[offset] = NO_JOURNAL_FILE;
  const copy = openSqlite(bytes);
  file.release();
  return copy;
}

/** Opens another connection for checks. It is writable if possible, because SQLite checks no constraints on a read-only one. */
export function openToCheck(path: string, readOnly: boolean, lock: StoreLock | undefined): Database.Database {
  const open = openerOf(lock);
  return readOnly ? openToRead(path, undefined, open) : open(path, { fileMustExist: true, ...NO_WAIT });
}

const LOCKED_IN_PLACE =
  "reading a locked store in its place needs permission to write in its folder; open it as its owner, or copy it elsewhere";

const UNREADABLE_JOURNAL =
  "its journal (-wal) holds writes, and reading them needs permission to write in the folder; open it once as its owner, or copy both files elsewhere";

function hasJournal(path: string): boolean {
  return (statSync(walOf(path), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Reads the version of a store, also from its WAL, and changes nothing. @throws {NewerStoreError} */
export function rejectNewer(path: string, open: OpenSqlite): void {
  const database = open(path, { readonly: true, ...NO_WAIT });
  try {
    const version = readVersion(database);
    if (version > SUPPORTED_VERSION) throw new NewerStoreError(path, version, SUPPORTED_VERSION);
  } catch (error) {
    // The next attempt to open the file reports this error.
    if (!NO_SIDE_FILES.some((code) => isSqliteError(error, code))) throw error;
  } finally {
    database.close();
  }
}

/** Sets the pragmas of a connection. */
function configure(database: Database.Database, { mode, durability, maxBytes }: ConnectionOptions): void {
  // Foreign keys keep parents in the same session, leaves at existing entries, and delete rows with their session.
  database.pragma("foreign_keys = ON");
  // Walks of the tree read the same upper pages again; 16 MiB hold the skeletons of 100,000 entries. A limit, not an allocation.
  database.pragma("cache_size = -16384");
  // No memory map: if another program truncates a mapped file, the next access kills the process with SIGBUS.
  database.pragma("mmap_size = 0");
  database.pragma("temp_store = MEMORY");
  if (mode === "read-only") return;
  // Overwrites deleted text, which would otherwise stay in free pages.
  database.pragma("secure_delete = ON");
  // With a WAL, readers never wait for the writer. The switch needs an exclusive lock.
  if (!database.memory && database.pragma("journal_mode", { simple: true }) !== "wal") {
    database.pragma("journal_mode = WAL");
    // A read opens the WAL. Without one, the last connection to close does not remove the side files that another one has made.
    readVersion(database);
  }
  checkpointUsually(database);
  // Under WAL the default reads FULL until the first write and NORMAL after it, unless set.
  database.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  if (maxBytes !== undefined) {
    const pageBytes = Number(database.pragma("page_size", { simple: true }));
    database.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
  }
}

/** A connection, or a database that is being opened. */
interface Pragmas {
  pragma(text: string): unknown;
}

const SMALLEST_PAGE = 512;
const USUAL_BYTES = 4 * 1024 * 1024;
const BULK_BYTES = 64 * 1024 * 1024;

/** Sets the size of the WAL after which a commit also checkpoints it: SQLite's default, in bytes instead of pages. */
export function checkpointUsually(connection: Pragmas): void {
  checkpointAfter(connection, USUAL_BYTES);
}

/**
 * The same for work that writes a lot at once. A checkpoint copies all pages of the WAL into the file while the caller waits. After the
 * work, the next write behind it does that, usually one of the maintenance. Return to `checkpointUsually` in any case.
 */
export function checkpointRarely(connection: Pragmas): void {
  checkpointAfter(connection, BULK_BYTES);
}

/** The size of the pages of a connection's file, in bytes. It changes only while no other connection is open. */
const pageSizes = new WeakMap<Pragmas, number>();

function checkpointAfter(connection: Pragmas, bytes: number): void {
  const known = pageSizes.get(connection) ?? readPageSize(connection);
  pageSizes.set(connection, known);
  connection.pragma(`wal_autocheckpoint = ${Math.ceil(bytes / known)}`);
}

function readPageSize(connection: Pragmas): number {
  const rows: unknown = connection.pragma("page_size");
  const [{ page_size: pageBytes = SMALLEST_PAGE } = {}] = Array.isArray(rows) ? rows : [];
  return Number(pageBytes);
}
