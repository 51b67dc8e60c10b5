import { resolve } from "node:path";
import type Database from "better-sqlite3";
import { NewerStoreError, StoreClosedError, StoreReadOnlyError, StoreUnavailableError } from "../errors/store-errors.js";
import { copyDatabase } from "./backup.js";
import { SUPPORTED_VERSION, versionOf } from "./migrate.js";
import { type ConnectionOptions, type OpenedDatabase, openDatabase, openToCheck } from "./open-database.js";
import type { Query } from "./query.js";
import { isSqliteFailure, openFailure, storeFailure } from "./sqlite-errors.js";
import type { StoreFile } from "./store-file.js";

type Row = Record<string, unknown>;

/** How long ago the file was last looked at before a read, or a write, looks at it again. A write also looks after its commit. */
const LOOK_EVERY_MS = 1000;
const LOOK_BEFORE_WRITE_MS = 50;

/** How long a read rests before it tries again, where another process is recovering the journal, and how long in all. */
const READ_RETRY_MS = 5;
const READ_PATIENCE_MS = 100;

/**
 * The one door to SQLite. Everything behind it is synchronous, so that no `await` can split a transaction; every
 * failure of the file, the disk or a lock comes out as a typed error.
 */
export class Connection {
  readonly #database: Database.Database;
  /** undefined: the store is in memory. */
  readonly #file: StoreFile | undefined;
  readonly #lockHolder: Database.Database | undefined;
  readonly #statements = new Map<Query<never, unknown>, Bound>();
  #lookedAtMs = Date.now();
  /** Why this connection is of no use any more; it stays so until the store is opened anew. */
  #lossReason: string | undefined;
  readonly #beginWrite: Database.Statement;
  readonly #beginRead: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #versionNow: Database.Statement;
  /** Whether deleted text may still stand in the journal. */
  #truncateDue = false;
  readonly path: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;

  /**
   * Opens the file without waiting for a lock.
   *
   * @throws the errors of `identify`, `StoreNotFoundError`, `StoreUnavailableError`; `StoreBusyError`: another process has
   * the file to itself for a moment, try again.
   */
  static open(given: ConnectionOptions): Connection {
    // Resolved once: the working directory may change while the store is open.
    const options = given.path === ":memory:" ? given : { ...given, path: resolve(given.path) };
    try {
      return new Connection(openDatabase(options), options);
    } catch (error) {
      throw openFailure(error, options.path, options.busyTimeoutMs);
    }
  }

  private constructor({ database, file, lockHolder }: OpenedDatabase, options: ConnectionOptions) {
    this.#database = database;
    this.#file = file;
    this.#lockHolder = lockHolder;
    this.path = options.path;
    this.readOnly = options.mode === "read-only";
    this.busyTimeoutMs = options.busyTimeoutMs;
    // IMMEDIATE takes the lock first. A deferred transaction that reads and then writes fails at once with
    // SQLITE_BUSY_SNAPSHOT when another process wrote in between, whatever the busy timeout.
    this.#beginWrite = database.prepare("BEGIN IMMEDIATE");
    this.#beginRead = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
    this.#versionNow = database.prepare("PRAGMA user_version").pluck();
  }

  /**
   * Runs `body` in one write transaction: on return all of it is committed; after a throw, none of it. Never awaits inside,
   * and never waits for the lock.
   *
   * @throws {StoreBusyError} another process holds the lock; `body` was not called.
   * @throws {StoreUnavailableError} the file is not the one that was opened; what was written cannot be found there.
   * @throws {NewerStoreError} a newer program has changed the format meanwhile; nothing was written.
   */
  write<T>(body: () => T): T {
    if (this.readOnly) throw new StoreReadOnlyError(this.path);
    if (this.#database.inTransaction) return body();
    this.#requireFile(LOOK_BEFORE_WRITE_MS);
    const result = this.#typed(() => this.#transaction(() => this.#supported(body), this.#beginWrite));
    // SQLite goes on writing to a file that nobody can open any more. Looked after the commit: no moment lies between.
    this.#requireFile(0);
    return result;
  }

  #requireFile(everyMs: number): void {
    if (this.#file === undefined || !this.#database.open) return;
    const nowMs = Date.now();
    if (this.#lossReason === undefined && Math.abs(nowMs - this.#lookedAtMs) >= everyMs) {
      this.#lossReason = this.#file.lossReason();
      this.#lookedAtMs = nowMs;
    }
    if (this.#lossReason !== undefined) throw new StoreUnavailableError(this.path, `${this.#lossReason}; open the store again`);
  }

  // A newer program may have migrated the open file; what its format maintains would be missing from these rows.
  #supported<T>(body: () => T): T {
    const version = this.#versionNow.get() as number;
    if (version > SUPPORTED_VERSION) throw new NewerStoreError(this.path, version, SUPPORTED_VERSION);
    return body();
  }

  /** Runs `body` on one snapshot: what other processes commit meanwhile is not seen. */
  read<T>(body: () => T): T {
    if (this.#database.inTransaction) return body();
    this.#requireFile(LOOK_EVERY_MS);
    return this.#typed(() => this.#transaction(body, this.#beginRead));
  }

  /** The first row of the answer, or undefined. */
  get<P, R>(query: Query<P, R>, parameters: P): R | undefined {
    return this.#guard(() => {
      const { statement, bind, columns } = this.#prepared(query);
      const values = statement.get(bind(parameters as Row)) as unknown[] | undefined;
      return values && (rowOf(columns, values) as R);
    });
  }

  /** Every row of the answer. */
  all<P, R>(query: Query<P, R>, parameters: P): R[] {
    return this.#guard(() => {
      const { statement, bind, columns } = this.#prepared(query);
      return (statement.all(bind(parameters as Row)) as unknown[][]).map((values) => rowOf(columns, values) as R);
    });
  }

  /** Runs a statement that writes. `rowid`: of the row it inserted last. */
  run<P>(query: Query<P, unknown>, parameters: P): { readonly changes: number; readonly rowid: number } {
    return this.#guard(() => {
      const { statement, bind } = this.#prepared(query);
      const result = statement.run(bind(parameters as Row));
      return { changes: result.changes, rowid: Number(result.lastInsertRowid) };
    });
  }

  /** How many migrations the file has taken; less than all only where an old file was opened to be read. */
  get version(): number {
    return this.#guard(() => versionOf(this.#database));
  }

  /** A pragma's rows, for checks. */
  pragma(text: string): readonly Row[] {
    return this.#guard(() => this.#database.pragma(text) as Row[]);
  }

  /**
   * A pragma's rows from a connection of its own. FTS5 keeps the structure of its index with each connection, and a check
   * on one that lives on takes what another process has indexed since for damage.
   */
  freshPragma(text: string): readonly Row[] {
    if (this.#file === undefined) return this.pragma(text);
    return this.#guard(() => {
      const fresh = openToCheck(this.path, this.readOnly);
      try {
        return fresh.pragma(text) as Row[];
      } finally {
        fresh.close();
      }
    });
  }

  /**
   * Copies the whole store into a new file while others read and write: SQLite's online backup. Pages are 4 KiB. The
   * file is its user's alone from its first byte, and has its name only when it is whole: a backup that fails or is
   * aborted leaves nothing.
   *
   * @throws {TargetExistsError} something is at `path` already.
   * @throws {StoreUnavailableError} the folder of `path` is missing or cannot be written.
   * @throws {StoreClosedError} the store was closed before the copy was whole.
   */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void, signal?: AbortSignal): Promise<void> {
    if (!this.#database.open) throw new StoreClosedError(this.path);
    this.#requireFile(0);
    try {
      await copyDatabase(this.#database, path, onProgress, signal);
    } catch (error) {
      if (!this.#database.open) throw new StoreClosedError(this.path);
      throw storeFailure(error, path, this.busyTimeoutMs);
    }
  }

  /**
   * Folds the journal into the file and empties it, so that nothing deleted is left in it. false: another process is
   * reading or writing; it is tried again when the store is closed. Does not wait.
   */
  truncateJournal(): boolean {
    if (this.readOnly) return true;
    const [result] = this.pragma("wal_checkpoint(TRUNCATE)");
    this.#truncateDue = result?.["busy"] !== 0;
    return !this.#truncateDue;
  }

  get open(): boolean {
    return this.#database.open;
  }

  /** Closes the file, also where emptying its journal fails, which throws. */
  close(): void {
    if (!this.#database.open) return;
    this.#statements.clear();
    try {
      if (!this.#isLost()) {
        if (this.#truncateDue) this.pragma("wal_checkpoint(TRUNCATE)");
        this.#lockHolder?.close();
      }
    } finally {
      this.#database.close();
      this.#lockHolder?.close();
      this.#file?.release();
    }
  }

  /** Whether the file is another one by now, or cannot be looked at. */
  #isLost(): boolean {
    try {
      this.#requireFile(0);
      return false;
    } catch (error) {
      if (error instanceof StoreUnavailableError) return true;
      throw error;
    }
  }

  #transaction<T>(body: () => T, begin: Database.Statement): T {
    begin.run();
    try {
      const result = body();
      this.#commit.run();
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after a full disk and the like.
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  #prepared<P, R>(query: Query<P, R>): Bound {
    const known = this.#statements.get(query as Query<never, unknown>);
    if (known !== undefined) return known;
    const { sql, bind } = query.compile();
    const bound = boundTo(this.#database.prepare<unknown[]>(sql), bind);
    if (!query.once) this.#statements.set(query as Query<never, unknown>, bound);
    return bound;
  }

  /** Runs a statement. Where another process recovers the journal, a read waits for it a little. @throws {StoreBusyError} it takes longer. */
  #guard<T>(body: () => T): T {
    if (!this.#database.inTransaction) this.#requireFile(LOOK_EVERY_MS);
    const patienceMs = Math.min(this.busyTimeoutMs, READ_PATIENCE_MS);
    for (let waitedMs = 0; ; waitedMs += READ_RETRY_MS) {
      try {
        return body();
      } catch (error) {
        if (!isSqliteFailure(error, "SQLITE_BUSY") || waitedMs >= patienceMs) throw this.#failure(error, waitedMs);
        // Stops the thread, so all of it is short.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READ_RETRY_MS);
      }
    }
  }

  #typed<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown, waitedMs = this.busyTimeoutMs): unknown {
    return this.#database.open ? storeFailure(error, this.path, waitedMs) : new StoreClosedError(this.path);
  }
}

interface Bound {
  /** Answers rows as arrays. */
  readonly statement: Database.Statement<unknown[]>;
  readonly bind: (parameters: Row) => unknown[];
  /** The names of the columns of its answer. */
  readonly columns: readonly string[];
}

function boundTo(statement: Database.Statement<unknown[]>, bind: Bound["bind"]): Bound {
  if (!statement.reader) return { statement, bind, columns: [] };
  return { statement: statement.raw(), bind, columns: statement.columns().map(({ name }) => name) };
}

// The driver's own row objects take longer to make (100,000 rows of an outline: 230 ms, and 155 made here).
function rowOf(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {};
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at];
  return row;
}
