import { resolve } from "node:path";
import type Database from "better-sqlite3";
import { NewerStoreError, StoreClosedError, StoreDamagedError, StoreReadOnlyError } from "../../errors/store-errors.js";
import type { ConnectionOptions } from "../../port/connection-options.js";
import { bind } from "../../rules/declare-query.js";
import type { Query } from "../query.js";
import { copyDatabase } from "./backup.js";
import { SUPPORTED_VERSION } from "./migrate.js";
import { OldVersionViews } from "./old-version.js";
import { type OpenedDatabase, openDatabase, openToCheck, releaseFreePages } from "./open-database.js";
import { isSqliteError, toOpenError, toStoreError } from "./sqlite-errors.js";
import type { StoreFile } from "./store-file.js";

/** The maximum age of the last file check before a read and before a write, in milliseconds. A write also checks after its commit. */
const CHECK_BEFORE_READ_MS = 1000;
const CHECK_BEFORE_WRITE_MS = 50;

/** The places of each word of the search index, which FTS5 lists from the index itself. A table of each connection, so that any file has it. */
export const PLACES_OF_WORDS = "CREATE VIRTUAL TABLE temp.entry_text_place USING fts5vocab (main, entry_text, instance)";

/** Pause between retries of a read while another process recovers the WAL, and the limit of all pauses, in milliseconds. */
const READ_RETRY_MS = 5;
const READ_RETRY_LIMIT_MS = 100;

/** A row as an object, by the names of its columns. */
type Row = Record<string, unknown>;

/**
 * A connection to a store file. All queries run through it. It is synchronous, so that no `await` can split a transaction.
 * Failures of the file, the disk or a lock are thrown as typed errors.
 */
export class Connection {
  readonly #database: Database.Database;
  /** undefined for a store in memory. */
  readonly #file: StoreFile | undefined;
  readonly #durability: ConnectionOptions["durability"];
  readonly #lockHolder: Database.Database | undefined;
  readonly #statements: PreparedStatements;
  readonly #beginWrite: Database.Statement;
  readonly #beginRead: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #savepoint: { readonly set: Database.Statement; readonly release: Database.Statement };
  readonly #versionNow: Database.Statement<[], number>;
  /** Only of a read-only file of an older version. */
  #oldVersion: OldVersionViews | undefined;
  /** True if deleted text may still be in the WAL. */
  #needsTruncate = false;
  readonly path: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;

  /**
   * Opens the file without waiting for a lock.
   *
   * @throws {ForeignFileError | NewerStoreError | StoreNotFoundError | StoreUnavailableError}
   * @throws {StoreLockedError | WrongKeyError | StoreNotLockedError} the key is missing, does not fit, or is given for a store without a lock.
   * @throws {StoreBusyError} another process has an exclusive lock; try again.
   */
  static open(given: ConnectionOptions): Connection {
    // Resolved once: the working directory may change while the store is open.
    const options = given.path === ":memory:" ? given : { ...given, path: resolve(given.path) };
    try {
      return new Connection(openDatabase(options), options);
    } catch (error) {
      throw toOpenError(error, options.path, options.busyTimeoutMs);
    }
  }

  /** Use `Connection.open`. */
  constructor({ database, file, lockHolder }: OpenedDatabase, options: ConnectionOptions) {
    this.#database = database;
    this.#statements = new PreparedStatements(database);
    this.#file = file;
    this.#lockHolder = lockHolder;
    this.#durability = options.durability;
    this.path = options.path;
    this.readOnly = options.mode === "read-only";
    this.busyTimeoutMs = options.busyTimeoutMs;
    // IMMEDIATE takes the lock first. A deferred transaction that reads and then writes fails at once with
    // SQLITE_BUSY_SNAPSHOT if another process wrote in between; the busy timeout does not apply.
    this.#beginWrite = database.prepare("BEGIN IMMEDIATE");
    this.#beginRead = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
    this.#savepoint = { set: database.prepare("SAVEPOINT part"), release: database.prepare("RELEASE part") };
    this.#versionNow = database.prepare<[], number>("PRAGMA user_version").pluck();
    database.exec(PLACES_OF_WORDS);
    this.#oldVersion = this.readOnly ? OldVersionViews.create(database) : undefined;
  }

  /**
   * Runs `body` in one write transaction and commits it; rolls back if `body` throws. Inside another transaction it only
   * runs `body`. Does not wait for the lock.
   *
   * @throws {StoreBusyError} another process holds the lock; `body` was not called.
   * @throws {StoreUnavailableError} the file at the path is no longer the one that was opened.
   * @throws {NewerStoreError} a newer program has migrated the file; nothing was written.
   */
  write<T>(body: () => T): T {
    if (this.readOnly) throw new StoreReadOnlyError(this.path);
    if (this.#database.inTransaction) return body();
    this.#checkFile(CHECK_BEFORE_WRITE_MS);
    const result = this.#withTypedErrors(() => this.#transaction(() => this.#requireSupportedVersion(body), this.#beginWrite));
    // SQLite continues to write to a deleted or replaced file. Checked after the commit, so that no such write is acknowledged.
    this.#checkFile(0);
    return result;
  }

  /**
   * Runs `body` inside the write transaction that is open; if `body` throws, what it has written is rolled back and the transaction goes on.
   * Call it inside `write`.
   */
  writePart<T>(body: () => T): T {
    this.#savepoint.set.run();
    try {
      const result = body();
      this.#savepoint.release.run();
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has rolled back the whole transaction.
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK TO part; RELEASE part");
      throw this.#toTypedError(error);
    }
  }

  /** False after SQLite has rolled back the transaction by itself. */
  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /**
   * Like `write`, but does not wait until the transaction is on the disk: for transactions that change only the form of the
   * stored data. A power loss may undo them, the latest first; earlier acknowledged transactions are not lost.
   */
  writeUnsynced<T>(body: () => T): T {
    if (this.#durability === "normal" || this.readOnly || this.#database.inTransaction || !this.#database.open) return this.write(body);
    this.#database.pragma("synchronous = NORMAL");
    try {
      return this.write(body);
    } finally {
      if (this.#database.open) this.#database.pragma("synchronous = FULL");
    }
  }

  #checkFile(everyMs: number): void {
    if (this.#database.open) this.#file?.requireCurrent(everyMs);
  }

  // A newer program may have migrated the open file. Rows written here would lack what its format maintains.
  #requireSupportedVersion<T>(body: () => T): T {
    const version = this.#versionNow.get() ?? 0;
    if (version > SUPPORTED_VERSION) throw new NewerStoreError(this.path, version, SUPPORTED_VERSION);
    return body();
  }

  /** Runs `body` in one read transaction, so that all its queries use the same snapshot. */
  read<T>(body: () => T): T {
    if (this.#database.inTransaction) return body();
    this.#checkFile(CHECK_BEFORE_READ_MS);
    return this.#withTypedErrors(() => {
      for (;;) {
        const views = this.#oldVersion;
        if (views === undefined) return this.#transaction(body, this.#beginRead);
        this.#followMigration(views);
        // Checked again as the first read of the transaction: until then it has no snapshot, and another process may migrate the file.
        const read = this.#transaction(() => (views.areOutdated ? undefined : { result: body() }), this.#beginRead);
        if (read !== undefined) return read.result;
      }
    });
  }

  /** Replaces the views of an older version after another process has migrated the file. */
  #followMigration(views: OldVersionViews): void {
    if (!views.areOutdated) return;
    this.#statements.clear();
    views.remove();
    this.#oldVersion = OldVersionViews.create(this.#database);
  }

  /** Returns the first row, or undefined. */
  get<P extends object, R>(query: Query<P, R>, parameters: P): R | undefined {
    return this.#runStatement(() => this.#statements.get(query, parameters));
  }

  /** Returns all rows. */
  all<P extends object, R>(query: Query<P, R>, parameters: P): R[] {
    return this.#runStatement(() => this.#statements.all(query, parameters));
  }

  /** Returns all rows as arrays of their columns, which takes half the time; for rows that are read by the thousand. */
  allAsArrays<P extends object, R extends readonly unknown[]>(query: Query<P, R>, parameters: P): R[] {
    return this.#runStatement(() => this.#statements.allAsArrays(query, parameters));
  }

  /** Runs a statement that returns no rows; returns the number of changed rows. */
  run<P extends object>(query: Query<P, unknown>, parameters: P): number {
    return this.#runStatement(() => this.#statements.run(query, parameters));
  }

  /** The format version of the file. Lower than the supported one only if an older file is open read-only. */
  get version(): number {
    return this.#oldVersion?.version ?? SUPPORTED_VERSION;
  }

  /** Runs a pragma and returns its rows. */
  pragma(text: string): readonly Row[] {
    return this.#runStatement(() => pragmaRows(this.#database, text));
  }

  /**
   * Runs a pragma on a new connection and returns its rows. FTS5 caches the structure of its index in each connection: on an
   * old connection, `integrity_check` reports rows that another process has indexed since as damage.
   */
  freshPragma(text: string): readonly Row[] {
    if (this.#file === undefined) return this.pragma(text);
    return this.#runStatement(() => {
      const fresh = openToCheck(this.path, this.readOnly, this.#file?.lock);
      try {
        return pragmaRows(fresh, text);
      } finally {
        fresh.close();
      }
    });
  }

  /**
   * Copies the store into a new file with SQLite's online backup; readers and writers may continue. The file has mode 0600,
   * and gets its name when the copy is complete; a failed or aborted backup leaves no file. Progress is in pages.
   *
   * @throws {TargetExistsError} `path` exists.
   * @throws {StoreUnavailableError} the folder of `path` is missing or cannot be written.
   * @throws {StoreClosedError} the store was closed during the copy.
   */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void, signal?: AbortSignal): Promise<void> {
    if (!this.#database.open) throw new StoreClosedError(this.path);
    this.#checkFile(0);
    try {
      await copyDatabase(this.#database, this.#file, path, onProgress, signal);
    } catch (error) {
      if (!this.#database.open) throw new StoreClosedError(this.path);
      throw toStoreError(error, path, this.busyTimeoutMs);
    }
  }

  /**
   * Checkpoints and truncates the WAL, so that it holds no deleted text. Returns false, without waiting, if another process
   * is reading or writing; `close` then tries again.
   */
  truncateJournal(): boolean {
    if (this.readOnly) return true;
    const [result] = this.pragma("wal_checkpoint(TRUNCATE)");
    this.#needsTruncate = result?.["busy"] !== 0;
    return !this.#needsTruncate;
  }

  /**
   * Gives free pages back to the file system. Returns false if the disk has no room for a second copy of the file, or another
   * process holds the lock. Reads and writes the whole file, and blocks the thread.
   */
  releaseFreePages(): boolean {
    if (this.readOnly) throw new StoreReadOnlyError(this.path);
    this.#checkFile(0);
    return this.#withTypedErrors(() => releaseFreePages(this.#database, this.#file?.lock !== undefined));
  }

  get open(): boolean {
    return this.#database.open;
  }

  /** Closes the file. Also closes it if truncating the WAL fails, and throws that error. */
  close(): void {
    if (!this.#database.open) return;
    this.#statements.clear();
    try {
      if (this.#file?.isLost !== true) {
        if (this.#needsTruncate) this.pragma("wal_checkpoint(TRUNCATE)");
        this.#lockHolder?.close();
      }
    } finally {
      this.#database.close();
      this.#lockHolder?.close();
      this.#file?.release();
    }
  }

  #transaction<T>(body: () => T, begin: Database.Statement): T {
    begin.run();
    try {
      const result = body();
      this.#commit.run();
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has rolled back already.
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Runs a statement. Retries for at most 100 ms while another process recovers the WAL. @throws {StoreBusyError} after that. */
  #runStatement<T>(body: () => T): T {
    if (!this.#database.inTransaction) this.#checkFile(CHECK_BEFORE_READ_MS);
    const limitMs = Math.min(this.busyTimeoutMs, READ_RETRY_LIMIT_MS);
    for (let waitedMs = 0; ; waitedMs += READ_RETRY_MS) {
      try {
        if (this.#oldVersion !== undefined && !this.#database.inTransaction) this.#followMigration(this.#oldVersion);
        return body();
      } catch (error) {
        if (!isSqliteError(error, "SQLITE_BUSY") || waitedMs >= limitMs) throw this.#toTypedError(error, waitedMs);
        // Blocks the thread, therefore the low limit.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READ_RETRY_MS);
      }
    }
  }

  #withTypedErrors<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw this.#toTypedError(error);
    }
  }

  #toTypedError(error: unknown, waitedMs = this.busyTimeoutMs): unknown {
    if (!this.#database.open) return new StoreClosedError(this.path);
    const typed = toStoreError(error, this.path, waitedMs);
    return typed instanceof StoreDamagedError ? (this.#findLoss() ?? typed) : typed;
  }

  /** The error of a file that is no longer the store's; undefined: it is. SQLite calls pages of another file damaged. */
  #findLoss(): unknown {
    try {
      this.#file?.requireCurrent(0);
      return undefined;
    } catch (lost) {
      return lost;
    }
  }
}

function pragmaRows(database: Database.Database, text: string): readonly Row[] {
  // better-sqlite3 types the result of every pragma as unknown; without the option `simple` it is an array of rows.
  return database.pragma(text) as Row[];
}

interface Prepared {
  /** Returns rows as arrays. */
  readonly statement: Database.Statement<unknown[], unknown[]>;
  readonly slots: readonly unknown[];
  /** The names of the result columns. */
  readonly columns: readonly string[];
}

/** The prepared statements of one database connection, by query. */
class PreparedStatements {
  readonly #database: Database.Database;
  readonly #prepared = new Map<object, Prepared>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  get<P extends object, R>(query: Query<P, R>, parameters: P): R | undefined {
    const { statement, slots, columns } = this.#prepare(query);
    const values = statement.get(bind(slots, parameters));
    return values && toRow<R>(columns, values);
  }

  all<P extends object, R>(query: Query<P, R>, parameters: P): R[] {
    const { statement, slots, columns } = this.#prepare(query);
    return statement.all(bind(slots, parameters)).map((values) => toRow<R>(columns, values));
  }

  /** Returns the rows as arrays of their columns. */
  allAsArrays<P extends object, R extends readonly unknown[]>(query: Query<P, R>, parameters: P): R[] {
    const { statement, slots } = this.#prepare(query);
    const rows: unknown = statement.all(bind(slots, parameters));
    // The query declares the type of its rows.
    return rows as R[];
  }

  /** Runs a statement that returns no rows; returns the number of changed rows. */
  run<P extends object>(query: Query<P, unknown>, parameters: P): number {
    const { statement, slots } = this.#prepare(query);
    return statement.run(bind(slots, parameters)).changes;
  }

  clear(): void {
    this.#prepared.clear();
  }

  #prepare<P extends object, R>(query: Query<P, R>): Prepared {
    const known = this.#prepared.get(query);
    if (known !== undefined) return known;
    const { sql: text, slots } = query.compile();
    const statement = this.#database.prepare<unknown[], unknown[]>(text);
    const columns = statement.reader ? statement.columns().map(({ name }) => name) : [];
    const prepared = { statement: statement.reader ? statement.raw() : statement, slots, columns };
    if (!query.isDynamic) this.#prepared.set(query, prepared);
    return prepared;
  }
}

// Faster than the row objects of better-sqlite3: 155 ms instead of 230 ms for the outline of 100,000 entries.
function toRow<R>(columns: readonly string[], values: readonly unknown[]): R {
  const row: Row = {};
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at];
    if (column !== undefined) row[column] = values[at];
  }
  // The query declares the type of its rows.
  return row as R;
}
