import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { StoreClosedError, StoreReadOnlyError, StoreUnavailableError, TargetExistsError } from "../errors/store-errors.js";
import type { ConnectionOptions } from "./connection-options.js";
import { storeFailure } from "./failures.js";
import { versionOf } from "./migrate.js";
import { openDatabase, openToCheck } from "./open-database.js";
import type { Query } from "./query.js";

type Row = Record<string, unknown>;

/** How often a write makes sure that its file is still there, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** How long the emptying of the journal waits for readers, in milliseconds. */
const PATIENCE_MS = 250;

/**
 * The one door to SQLite. Everything behind it is synchronous, so that no `await` can split a transaction; every
 * failure of the file, the disk or a lock comes out as a typed error.
 */
export class Connection {
  readonly #file: Database.Database;
  readonly #statements = new Map<Query<never, unknown>, Bound>();
  #lookedAtMs = Date.now();
  /** Which file it is; undefined: none. */
  readonly #inode: number | undefined;
  readonly #beginWrite: Database.Statement;
  readonly #beginRead: Database.Statement;
  readonly #commit: Database.Statement;
  /** Whether deleted text may still stand in the journal. */
  #truncateDue = false;
  readonly path: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;

  /** @throws the errors of `identify`, `StoreNotFoundError`, `StoreUnavailableError` and `StoreBusyError`. */
  static open(options: ConnectionOptions): Connection {
    try {
      return new Connection(openDatabase(options), options);
    } catch (error) {
      throw storeFailure(error, options.path, options.busyTimeoutMs);
    }
  }

  private constructor(file: Database.Database, options: ConnectionOptions) {
    this.#file = file;
    this.path = options.path;
    this.readOnly = options.mode === "read-only";
    this.busyTimeoutMs = options.busyTimeoutMs;
    this.#inode = options.path === ":memory:" ? undefined : statSync(options.path).ino;
    // IMMEDIATE takes the lock first. A deferred transaction that reads and then writes fails at once with
    // SQLITE_BUSY_SNAPSHOT when another process wrote in between, whatever the busy timeout.
    this.#beginWrite = file.prepare("BEGIN IMMEDIATE");
    this.#beginRead = file.prepare("BEGIN");
    this.#commit = file.prepare("COMMIT");
  }

  /** Runs `body` in one write transaction: on return all of it is committed; after a throw, none of it. Never awaits inside. */
  write<T>(body: () => T): T {
    if (this.readOnly) throw new StoreReadOnlyError(this.path);
    if (this.#file.inTransaction) return body();
    this.#requireFile();
    return this.#guard(() => this.#transaction(body, this.#beginWrite));
  }

  // SQLite would go on writing to a file that nobody can open any more, and acknowledge it. To look costs 9 µs, a tenth
  // of an append, so it is done once a second.
  #requireFile(): void {
    const nowMs = Date.now();
    if (this.#inode === undefined || !this.#file.open || Math.abs(nowMs - this.#lookedAtMs) < LOOK_EVERY_MS) return;
    this.#lookedAtMs = nowMs;
    const now = statSync(this.path, { throwIfNoEntry: false })?.ino;
    if (now !== this.#inode) throw new StoreUnavailableError(this.path, "the file was deleted, moved or replaced while it was open");
  }

  /** Runs `body` on one snapshot: what other processes commit meanwhile is not seen. */
  read<T>(body: () => T): T {
    if (this.#file.inTransaction) return body();
    return this.#guard(() => this.#transaction(body, this.#beginRead));
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

  /** How many migrations the file has taken. Less than all of them only where an old file was opened to be read. */
  get version(): number {
    return this.#guard(() => versionOf(this.#file));
  }

  /** A pragma's rows. Settings belong into `configure`; this is for checks. */
  pragma(text: string): readonly Row[] {
    return this.#guard(() => this.#file.pragma(text) as Row[]);
  }

  /**
   * A pragma's rows from a connection of its own. FTS5 keeps the structure of its index with each connection, and a check
   * on one that lives on takes what another process has indexed since for damage.
   */
  freshPragma(text: string): readonly Row[] {
    if (this.path === ":memory:") return this.pragma(text);
    return this.#guard(() => {
      const fresh = openToCheck(this.path, this.busyTimeoutMs, this.readOnly);
      try {
        return fresh.pragma(text) as Row[];
      } finally {
        fresh.close();
      }
    });
  }

  /**
   * Copies the whole store into a new file while others read and write: SQLite's online backup. Pages are 4 KiB. The
   * file appears when it is whole; a backup that was stopped leaves none of its name.
   *
   * @throws {TargetExistsError} something is at `path` already.
   * @throws {StoreUnavailableError} the folder of `path` is missing or cannot be written.
   * @throws {StoreClosedError} the store was closed before the copy was whole.
   */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void): Promise<void> {
    if (!this.#file.open) throw new StoreClosedError(this.path);
    if (existsSync(path)) throw new TargetExistsError(path);
    // The driver raises an error of its own kind for this one.
    if (!existsSync(dirname(path))) throw new StoreUnavailableError(path, "its folder is missing");
    const partial = `${path}.${randomUUID()}.partial`;
    try {
      const { totalPages: pages } = await this.#file.backup(partial, {
        progress: ({ totalPages, remainingPages }) => {
          onProgress?.(totalPages - remainingPages, totalPages);
          return 2000;
        },
      });
      chmodSync(partial, 0o600);
      renameSync(partial, path);
      onProgress?.(pages, pages);
    } catch (error) {
      for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
      if (!this.#file.open) throw new StoreClosedError(this.path);
      throw storeFailure(error, path, this.busyTimeoutMs);
    }
  }

  /**
   * Folds the journal into the file and empties it, so that nothing deleted is left in it. Where another process is
   * reading, this waits a quarter of a second at most and is tried again when the store is closed.
   */
  truncateJournal(): void {
    if (this.readOnly) return;
    this.pragma(`busy_timeout = ${Math.min(PATIENCE_MS, this.busyTimeoutMs)}`);
    const [result] = this.pragma("wal_checkpoint(TRUNCATE)");
    this.#truncateDue = result?.["busy"] !== 0;
    this.pragma(`busy_timeout = ${this.busyTimeoutMs}`);
  }

  get open(): boolean {
    return this.#file.open;
  }

  /** Closes the file. A second call does nothing. */
  close(): void {
    if (this.#truncateDue && this.#file.open) this.truncateJournal();
    this.#statements.clear();
    this.#file.close();
  }

  #transaction<T>(body: () => T, begin: Database.Statement): T {
    begin.run();
    try {
      const result = body();
      this.#commit.run();
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after a full disk and the like.
      if (this.#file.inTransaction) this.#file.exec("ROLLBACK");
      throw error;
    }
  }

  #prepared<P, R>(query: Query<P, R>): Bound {
    const known = this.#statements.get(query as Query<never, unknown>);
    if (known !== undefined) return known;
    const { sql, bind } = query.compile();
    const bound = boundTo(this.#file.prepare<unknown[]>(sql), bind);
    if (!query.once) this.#statements.set(query as Query<never, unknown>, bound);
    return bound;
  }

  #guard<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      if (!this.#file.open) throw new StoreClosedError(this.path);
      throw storeFailure(error, this.path, this.busyTimeoutMs);
    }
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

// The driver's own row objects take longer to make than SQLite takes to find the rows (100,000 rows of an outline: 230 ms
// and 155 made here).
function rowOf(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {};
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at];
  return row;
}
