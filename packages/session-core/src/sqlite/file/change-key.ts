import { chmodSync, closeSync, fstatSync, fsyncSync, openSync, realpathSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { StoreDamagedError, StoreInUseError, StoreNotFoundError, StoreNotLockedError } from "../../errors/store-errors.js";
import { fsyncFile, fsyncFolder } from "./backup.js";
import { openWithCiphers } from "./driver.js";
import { SUPPORTED_VERSION, setRandomCookie } from "./migrate.js";
import { rejectNewer } from "./open-database.js";
import { isSqliteError, requireWritable, toStoreError } from "./sqlite-errors.js";
import { identifyFile, removeUnfinishedKeyChange, requireStore, StoreFile, unfinishedKeyChange } from "./store-file.js";
import { openerOf, StoreLock } from "./store-lock.js";

/** The schema name of the new file on the connection of the old one. */
const TARGET = "target";

const OVERWRITTEN_BYTES = 1024 * 1024;

/** The keys of a change: undefined where the store is not locked. */
export interface KeyChange {
  readonly key: string | undefined;
  readonly newKey: string | undefined;
}

/**
 * Replaces the store at `path` by a copy with another key, or without one. Nobody else has the store open meanwhile. At any moment, also
 * after a power loss, `path` is the old file or the new one, with all entries. Overwrites the old file with zeros if its content must not be
 * readable any more. Returns how many other names (hard links) the old file has; it is not overwritten then.
 *
 * @throws {StoreInUseError} the store is open, in this process or in another.
 * @throws {StoreLockedError | WrongKeyError | StoreNotLockedError} the store and `key` do not fit.
 */
export function changeKey(path: string, change: KeyChange): number {
  const file = StoreFile.find(path, change.key);
  if (file === undefined) throw new StoreNotFoundError(path);
  const progress = { isReplaced: false };
  try {
    requireStore(path, identifyFile(path, file, SUPPORTED_VERSION));
    if (change.key !== undefined && file.lock === undefined) throw new StoreNotLockedError(path);
    if (file.isShared) throw new StoreInUseError(path);
    rejectNewer(path, openerOf(file.lock));
    // A link to the store keeps leading to it.
    return replaceFile(realpathSync(path), file, change.newKey, progress);
  } catch (error) {
    // Another process has changed the key, or restored a backup, since the file was found.
    if (file.isReplaced && !progress.isReplaced && !(error instanceof StoreInUseError)) throw new StoreInUseError(path, { cause: error });
    throw toStoreError(error, path, 0);
  } finally {
    file.release();
  }
}

/** `progress`: set once the new file is in place; what fails after that is no fault of another process. */
function replaceFile(path: string, file: StoreFile, newKey: string | undefined, progress: { isReplaced: boolean }): number {
  const database = openExclusively(path, file.lock);
  let old: number | undefined;
  try {
    // Locked from here on. SQLite may have opened a file that another process has replaced since: what was written after that is not in it.
    if (file.isReplaced) throw new StoreInUseError(path);
    removeUnfinishedKeyChange(path);
    const whole = unfinishedKeyChange(path);
    const newLock = newKey === undefined ? undefined : StoreLock.create(newKey);
    const rows = exportInto(database, whole, newLock);
    requireWhole(whole, newLock, rows);
    chmodSync(whole, statSync(path).mode & 0o777);
    fsyncFile(whole);
    old = openSync(path, "r+");
    renameSync(whole, path);
    progress.isReplaced = true;
    fsyncFolder(dirname(path));
    const otherNames = fstatSync(old).nlink;
    // What was locked and is not any more was readable with its key only.
    if (otherNames === 0 && newKey !== undefined) overwrite(old);
    return otherNames;
  } finally {
    removeUnfinishedKeyChange(path);
    database.close();
    // Only now: closing a descriptor releases the locks of SQLite.
    if (old !== undefined) closeSync(old);
  }
}

/** Opens the store and locks it until the connection is closed: no other connection reads or writes it. @throws {StoreInUseError} */
function openExclusively(path: string, lock: StoreLock | undefined): Database {
  requireWritable(path);
  const database = openWithCiphers(lock?.rawKey, path, { fileMustExist: true, timeout: 0 });
  try {
    // Moves the WAL into the file and deletes it.
    database.pragma("journal_mode = DELETE");
    database.pragma("locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE; COMMIT");
    // Another process can have opened the store, and closed it, between the statements.
    if (database.pragma("journal_mode", { simple: true }) !== "delete") throw new StoreInUseError(path);
    return database;
  } catch (error) {
    database.close();
    throw isSqliteError(error, "SQLITE_BUSY") ? new StoreInUseError(path, { cause: error }) : error;
  }
}

/** Rows by table. */
type RowCounts = ReadonlyMap<string, number>;

/** Copies all tables into a new file, as VACUUM does. Returns how many rows each has. */
function exportInto(database: Database, path: string, lock: StoreLock | undefined): RowCounts {
  closeSync(openSync(path, "wx", 0o600));
  const pageBytes = Number(database.pragma("page_size", { simple: true }));
  // An empty key: not locked. Without any the new file would get the key of the old one.
  database.prepare(`ATTACH ? AS ${TARGET} KEY ?`).run(path, lock?.rawKey ?? "");
  database.pragma(`${TARGET}.page_size = ${pageBytes}`);
  // The file is of use only when it is complete.
  database.pragma(`${TARGET}.journal_mode = MEMORY`);
  database.pragma(`${TARGET}.synchronous = OFF`);
  database.pragma("foreign_keys = OFF");
  database.pragma("ignore_check_constraints = ON");
  // Tables of the search index are written as they are.
  database.unsafeMode(true);
  const rows = database.transaction(() => {
    createTables(database);
    const counts = copyRows(database);
    createWithoutRows(database);
    for (const pragma of ["application_id", "user_version"])
      database.pragma(`${TARGET}.${pragma} = ${database.pragma(`main.${pragma}`, { simple: true })}`);
    return counts;
  })();
  setRandomCookie(database, TARGET);
  database.exec(`DETACH ${TARGET}`);
  return rows;
}

interface SchemaRow {
  readonly name: string;
  readonly sql: string;
}

/** Creates tables and indexes. The words behind `CREATE` are those that SQLite has written. */
function createTables(database: Database): void {
  const rowsOf = (condition: string) =>
    database.prepare<[], SchemaRow>(`SELECT name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND ${condition} ORDER BY rowid`).all();
  for (const { sql } of rowsOf("type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"))
    database.exec(sql.replace(/^CREATE TABLE /, `CREATE TABLE ${TARGET}.`));
  for (const { sql } of rowsOf("type = 'index'")) database.exec(sql.replace(/^CREATE (UNIQUE )?INDEX /, `CREATE $1INDEX ${TARGET}.`));
  // The tables of ANALYZE cannot be created by their names.
  if (rowsOf("name LIKE 'sqlite\\_stat%' ESCAPE '\\'").length > 0) database.exec(`ANALYZE ${TARGET}`);
}

function copyRows(database: Database): RowCounts {
  const counts = new Map<string, number>();
  const tables = database
    .prepare<[], string>(`SELECT name FROM ${TARGET}.sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name = 'sqlite_sequence'`)
    .pluck()
    .all();
  for (const table of tables) {
    // SQLite has written rows of its own: the numbers of the copied rows, the statistics of empty tables.
    if (table.startsWith("sqlite_")) database.exec(`DELETE FROM ${TARGET}.${table}`);
    const columns = database
      .prepare<[string], string>("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0")
      .pluck()
      .all(table)
      .map(quote)
      .join(", ");
    const copied = database.prepare(`INSERT INTO ${TARGET}.${quote(table)} (${columns}) SELECT ${columns} FROM main.${quote(table)}`);
    counts.set(table, copied.run().changes);
  }
  return counts;
}

/** Virtual tables, views and triggers have no pages of their own: their rows of the schema are all. */
function createWithoutRows(database: Database): void {
  database.pragma("writable_schema = ON");
  database.exec(
    `INSERT INTO ${TARGET}.sqlite_schema SELECT * FROM main.sqlite_schema
     WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0)`,
  );
  database.pragma("writable_schema = OFF");
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Reads the new file from the start, with the new key alone. @throws {StoreDamagedError} it is not what was written. */
function requireWhole(path: string, lock: StoreLock | undefined, rows: RowCounts): void {
  const copy = openWithCiphers(lock?.rawKey, path, { readonly: true });
  try {
    const findings = copy.pragma("quick_check(1)", { simple: true });
    if (findings !== "ok") throw new StoreDamagedError(path, { cause: findings });
    for (const [table, count] of rows) {
      const found = copy
        .prepare(`SELECT count(*) FROM ${quote(table)}`)
        .pluck()
        .get();
      if (found !== count) throw new StoreDamagedError(path, { cause: `${table} has ${found} rows instead of ${count}` });
    }
  } finally {
    copy.close();
  }
}

/** Overwrites a file that has no name any more. A file system that writes elsewhere, and a disk that moves blocks, keep what was there. */
function overwrite(file: number): void {
  const { size } = fstatSync(file);
  const zeros = Buffer.alloc(OVERWRITTEN_BYTES);
  for (let at = 0; at < size; ) at += writeSync(file, zeros, 0, Math.min(zeros.length, size - at), at);
  fsyncSync(file);
}
