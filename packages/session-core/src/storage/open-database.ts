import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { NewerStoreError } from "../errors/store-errors.js";
import type { ConnectionOptions } from "./connection-options.js";
import { openSqlite } from "./driver.js";
import { isSqliteFailure } from "./failures.js";
import { identify, requirePresent } from "./identity.js";
import { migrate, SUPPORTED_VERSION, versionOf } from "./migrate.js";

/** Opens the file, brings it up to date and sets every pragma. @throws the errors of `identify`, and SQLite's own. */
export function openDatabase(options: ConnectionOptions): Database.Database {
  const file = options.path === ":memory:" ? openInMemory() : openFile(options);
  configure(file, options);
  return file;
}

function openInMemory(): Database.Database {
  const file = openSqlite(":memory:");
  migrate(file, ":memory:");
  return file;
}

function openFile(options: ConnectionOptions): Database.Database {
  const { path, mode } = options;
  const identity = identify(path, SUPPORTED_VERSION);
  if (mode !== "create") requirePresent(path, identity);
  // A newer program may have written its version into the journal only. Folding that into the file would change it,
  // so it is asked over a connection that cannot write.
  if (existsSync(`${path}-wal`)) refuseNewer(options);
  if (mode === "create" && identity.kind === "absent") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (mode === "read-only") return openToRead(options);
  const file = openSqlite(path, { timeout: options.busyTimeoutMs });
  try {
    // Sessions hold secrets: a new store is its user's alone. SQLite gives its side files the same mode.
    if (identity.kind === "absent") chmodSync(path, 0o600);
    // The schema is committed before the journal becomes a WAL, so the header of the file itself says whose it is.
    migrate(file, path);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

// Offsets in the header that say which journal the file has; 1 is the one that needs no other file.
const JOURNAL_OFFSETS = [18, 19];

/**
 * Opens a file to read it. SQLite needs a file of its own beside it, even to read; in a folder where none can be made,
 * such as on a medium that cannot be written, the store is read whole into memory.
 */
function openToRead({ path, busyTimeoutMs }: Pick<ConnectionOptions, "path" | "busyTimeoutMs">): Database.Database {
  const file = openSqlite(path, { readonly: true, timeout: busyTimeoutMs });
  try {
    versionOf(file);
    return file;
  } catch (error) {
    file.close();
    // What stands in a journal would be missing from a copy of the file alone.
    if (!isSqliteFailure(error, "SQLITE_CANTOPEN") || existsSync(`${path}-wal`)) throw error;
  }
  const bytes = readFileSync(path);
  for (const offset of JOURNAL_OFFSETS) bytes[offset] = 1;
  return openSqlite(bytes);
}

/** A further connection to a file that is open. SQLite leaves constraints unchecked where a connection can only read. */
export function openToCheck(path: string, busyTimeoutMs: number, readOnly: boolean): Database.Database {
  return readOnly ? openToRead({ path, busyTimeoutMs }) : openSqlite(path, { fileMustExist: true, timeout: busyTimeoutMs });
}

function refuseNewer({ path, busyTimeoutMs }: ConnectionOptions): void {
  const file = openSqlite(path, { readonly: true, timeout: busyTimeoutMs });
  try {
    const version = versionOf(file);
    if (version > SUPPORTED_VERSION) throw new NewerStoreError(path, version, SUPPORTED_VERSION);
  } finally {
    file.close();
  }
}

/** Every pragma is set here, each with its reason; none is left to its default. */
function configure(file: Database.Database, options: ConnectionOptions): void {
  const { mode, durability, maxBytes } = options;
  // Parents of the same session, leaves that exist, rows that go with their session.
  file.pragma("foreign_keys = ON");
  // Tree walks reread the same upper pages; 64 MiB of cache is a limit, not an allocation.
  file.pragma("cache_size = -65536");
  // Large reads go through the page cache of the system instead of being copied.
  file.pragma("mmap_size = 268435456");
  file.pragma("temp_store = MEMORY");
  if (mode === "read-only") return;
  // Deleted text is overwritten, not only unlinked (regression R21).
  file.pragma("secure_delete = ON");
  if (options.path !== ":memory:") setJournal(file, options.busyTimeoutMs);
  // Under WAL the default reads FULL until the first write and NORMAL after it, unless set.
  file.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  if (maxBytes !== undefined) file.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / 4096))}`);
}

/** Readers never wait for the writer. Switching needs the file alone for a moment and does not wait by itself. */
function setJournal(file: Database.Database, busyTimeoutMs: number): void {
  if (file.pragma("journal_mode", { simple: true }) === "wal") return;
  const deadline = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      file.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      if (!isSqliteFailure(error, "SQLITE_BUSY") || Date.now() > deadline) throw error;
      // A moment's rest without leaving this synchronous call; another process is opening the same new file.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
