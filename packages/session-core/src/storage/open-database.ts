import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { NewerStoreError, StoreUnavailableError } from "../errors/store-errors.js";
import { openSqlite } from "./driver.js";
import { identifyFile, JOURNAL_KIND_OFFSETS, NO_JOURNAL_FILE, requireStore } from "./file-header.js";
import { migrate, readVersion, SUPPORTED_VERSION } from "./migrate.js";
import { isSqliteError } from "./sqlite-errors.js";
import { StoreFile } from "./store-file.js";

/** `full`: what a write acknowledged survives a power cut. `normal`: a power cut may take the newest writes, never the order of things. */
export type Durability = "full" | "normal";

/** How to open a store file. */
export interface ConnectionOptions {
  readonly path: string;
  /** `create` makes the file and its folder where they are missing; the others refuse a missing file. */
  readonly mode: "create" | "read-write" | "read-only";
  readonly durability: Durability;
  /** How long a write waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Largest size of the file in bytes; a write beyond it fails like a full disk. */
  readonly maxBytes?: number | undefined;
}

/** A database that is ready to be used, and the file that it stands in; undefined: it stands in memory. */
export interface OpenedDatabase {
  readonly database: Database.Database;
  readonly file: StoreFile | undefined;
  /**
   * Holds the shared lock of the file and does nothing else; where the store cannot be written there is none. While it is
   * open, closing `database` neither folds the journal into the file nor removes the journal: right for a file that another
   * one has taken the place of, whose journal by now has the same name.
   */
  readonly lockHolder: Database.Database | undefined;
}

// SQLite never waits for a lock by itself: it would block the thread. Whoever may wait tries again.
const NO_WAIT = { timeout: 0 };

/** Opens the file, brings it up to date and sets every pragma. @throws the errors of `identify`, and SQLite's own. */
export function openDatabase(options: ConnectionOptions): OpenedDatabase {
  if (options.path === ":memory:") {
    const database = openSqlite(":memory:");
    migrate(database, ":memory:");
    configure(database, options);
    return { database, file: undefined, lockHolder: undefined };
  }
  const found = StoreFile.find(options.path);
  try {
    return openFile(options, found);
  } catch (error) {
    found?.release();
    throw error;
  }
}

function openFile(options: ConnectionOptions, found: StoreFile | undefined): OpenedDatabase {
  const { path, mode } = options;
  const identity = identifyFile(path, found?.readHeader(), SUPPORTED_VERSION);
  if (mode !== "create") requireStore(path, identity);
  // A newer program may have written its version into the journal only. Folding that into the file would change it,
  // so it is asked over a connection that cannot write.
  if (hasJournal(path)) refuseNewer(path);
  if (mode === "create" && identity.kind === "absent") makeFolder(dirname(path));
  const database = mode === "read-only" ? openToRead(path, found) : openToWrite(path, found === undefined);
  const file = database.memory ? undefined : (found ?? StoreFile.find(path));
  try {
    configure(database, options);
    const lockHolder = mode === "read-only" ? undefined : openToRead(path, undefined);
    file?.recordOpened();
    return { database, file, lockHolder };
  } catch (error) {
    database.close();
    file?.release();
    throw error;
  }
}

/**
 * Makes a folder and those above it that are missing. `mkdirSync` of Node with `recursive` never returns where a folder
 * exists and the system answers ENOENT to what is to be made in it, as `/proc` does.
 */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process made it meanwhile. A link that leads nowhere exists too, and is no folder.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

function openToWrite(path: string, isNew: boolean): Database.Database {
  const database = openSqlite(path, NO_WAIT);
  try {
    // Sessions hold secrets: a new store is its user's alone. SQLite gives its side files the same mode.
    if (isNew) chmodSync(path, 0o600);
    // A setting of new files; the default of another build of SQLite may differ.
    database.pragma("page_size = 4096");
    // The schema is committed before the journal becomes a WAL, so the header of the file itself says whose it is.
    migrate(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What SQLite reports where it cannot make the files that it needs beside a store, even to read it. */
const NO_SIDE_FILES = ["SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_READONLY_CANTINIT", "SQLITE_READONLY_RECOVERY"];

/**
 * Opens a file to read it. SQLite needs a file of its own beside it, even to read; in a folder where none can be made,
 * such as another user's or one on a medium that cannot be written, the store is read whole into memory.
 */
function openToRead(path: string, found: StoreFile | undefined): Database.Database {
  const database = openSqlite(path, { readonly: true, ...NO_WAIT });
  try {
    readVersion(database);
    return database;
  } catch (error) {
    database.close();
    if (found === undefined || !NO_SIDE_FILES.some((code) => isSqliteError(error, code))) throw error;
    // What stands in a journal would be missing from a copy of the file alone.
    if (hasJournal(path)) throw new StoreUnavailableError(path, UNREADABLE_JOURNAL, { cause: error });
  }
  const bytes = found.readAll();
  for (const offset of JOURNAL_KIND_OFFSETS) bytes[offset] = NO_JOURNAL_FILE;
  const copy = openSqlite(bytes);
  found.release();
  return copy;
}

/** A further connection to a file that is open. SQLite leaves constraints unchecked where a connection can only read. */
export function openToCheck(path: string, readOnly: boolean): Database.Database {
  return readOnly ? openToRead(path, undefined) : openSqlite(path, { fileMustExist: true, ...NO_WAIT });
}

const UNREADABLE_JOURNAL =
  "its journal (-wal) holds writes, and reading them needs permission to write in the folder; open it once as its owner, or copy both files elsewhere";

function hasJournal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function refuseNewer(path: string): void {
  const database = openSqlite(path, { readonly: true, ...NO_WAIT });
  try {
    const version = readVersion(database);
    if (version > SUPPORTED_VERSION) throw new NewerStoreError(path, version, SUPPORTED_VERSION);
  } catch (error) {
    // Whoever opens the file next says what that means, and what can be done about it.
    if (!NO_SIDE_FILES.some((code) => isSqliteError(error, code))) throw error;
  } finally {
    database.close();
  }
}

/** Every pragma is set here, each with its reason; none is left to its default. */
function configure(database: Database.Database, { mode, durability, maxBytes }: ConnectionOptions): void {
  // Parents of the same session, leaves that exist, rows that go with their session.
  database.pragma("foreign_keys = ON");
  // Tree walks reread the same upper pages; 64 MiB of cache is a limit, not an allocation.
  database.pragma("cache_size = -65536");
  // No memory map: where another program cuts a mapped file, the next access ends the process by SIGBUS.
  database.pragma("mmap_size = 0");
  database.pragma("temp_store = MEMORY");
  if (mode === "read-only") return;
  // Deleted text is overwritten, not only unlinked (regression R21).
  database.pragma("secure_delete = ON");
  // Readers never wait for the writer. Switching needs the file alone for a moment.
  if (!database.memory && database.pragma("journal_mode", { simple: true }) !== "wal") database.pragma("journal_mode = WAL");
  // Under WAL the default reads FULL until the first write and NORMAL after it, unless set.
  database.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  if (maxBytes !== undefined) {
    const pageBytes = Number(database.pragma("page_size", { simple: true }));
    database.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
  }
}
