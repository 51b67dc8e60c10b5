import { errorCode } from "@bough/session-core/engine";
import { openSqlite } from "@bough/session-core/sqlite";
import type { JsonObject } from "@bough/session-core/wire";
import type Database from "better-sqlite3";
import { SourceUnreadableError, UnknownFormatError } from "../errors.js";
import { copyDatabase, type DatabaseCopy, isReadableInPlace } from "./database-copy.js";
import type { SourceFolders } from "./source-folders.js";
import type { FileHead } from "./source-format.js";

/** The time for which a read waits for a program that locks its database, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** A longer database is read where it is, if possible: copying takes about a second for 1 GB. */
const MOST_COPIED_BYTES = 256 * 2 ** 20;

/** A value of a row. Blobs are bytes. */
export type SourceValue = string | number | bigint | Uint8Array | null;

/** Options of the opening of a database. */
export interface SourceDatabaseOptions {
  /** A longer database is read where it is, in bytes. Default: 256 MiB. 0: for a few rows of any database. */
  readonly mostCopiedBytes?: number;
}

/** A statement whose rows are arrays of these columns. */
interface PreparedQuery {
  readonly statement: Database.Statement<unknown[], unknown[]>;
  readonly columns: readonly string[];
}

/**
 * A SQLite database of another program, open for reading. It may be in use: its write-ahead log is read too, an unfinished
 * transaction is not, and no file is created or changed in its folder.
 *
 * A copy in the temporary folder is read, so all rows are of the moment of the constructor, and the other program is never
 * delayed. The copy takes the size of the database, or nothing where the file system can share blocks (APFS, Btrfs, XFS).
 *
 * A database that is longer than `mostCopiedBytes`, or that changes all the time, is read where it is if this creates no file.
 * With a write-ahead log all rows are of one moment then, and SQLite sets a mark in its index (`-shm`), which holds no data.
 * Without one, each query is of another moment and delays a writer while it runs; so `rows` reads all rows of a query at once:
 * ask for ranges.
 *
 * @example
 * const database = new SourceDatabase(path);
 * try {
 *   for (const row of database.rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY id", sessionId)) read(row);
 * } finally {
 *   database.close();
 * }
 */
export class SourceDatabase {
  readonly path: string;
  readonly #copy: DatabaseCopy | undefined;
  readonly #database: Database.Database;
  /** Readers ask the same few queries thousands of times. */
  readonly #statements = new Map<string, PreparedQuery>();
  /** True if rows are read one at a time: the open read does not block the program that writes the database. */
  readonly #isStreaming: boolean;

  /**
   * @throws {SourceNotFoundError} there is no file at `path`.
   * @throws {SourceUnreadableError} it has no permission, it is damaged, another program locks it, or there is no space for a copy.
   * @throws {UnknownFormatError} the file is no SQLite database.
   */
  constructor(path: string, { mostCopiedBytes = MOST_COPIED_BYTES }: SourceDatabaseOptions = {}) {
    this.path = path;
    const inPlace = isReadableInPlace(path);
    this.#copy = copyDatabase(path, inPlace === undefined ? Number.POSITIVE_INFINITY : mostCopiedBytes);
    if (this.#copy === undefined && inPlace === undefined) throw new SourceUnreadableError(path, BUSY);
    this.#isStreaming = this.#copy !== undefined || inPlace?.hasLog === true;
    // A transaction that was not finished is undone in the copy, which writes.
    const readonly = this.#copy?.hasJournal !== true;
    const file = this.#copy?.path ?? path;
    try {
      this.#database = this.#wrapErrors(() => openSqlite(file, { readonly, fileMustExist: true, timeout: BUSY_TIMEOUT_MS }));
    } catch (error) {
      this.#copy?.remove();
      throw error;
    }
    this.#start();
  }

  #start(): void {
    try {
      this.#wrapErrors(() => {
        this.#database.pragma("query_only = 1");
        if (this.#isStreaming) this.#database.exec("BEGIN");
        this.all("SELECT count(*) FROM sqlite_schema");
      });
      // The files stay readable while they are open, and none is left behind if the process is killed.
      this.#copy?.remove();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get isCopy(): boolean {
    return this.#copy !== undefined;
  }

  /** The rows of a query, one at a time. A second query may run meanwhile. */
  *rows(sql: string, ...values: readonly SourceValue[]): Generator<JsonObject, void, void> {
    if (!this.#isStreaming) return yield* this.all(sql, ...values);
    const { statement, columns } = this.#wrapErrors(() => this.#prepareNew(sql));
    const found = this.#wrapErrors(() => statement.iterate(...values));
    try {
      for (;;) {
        const step = this.#wrapErrors(() => found.next());
        if (step.done === true) return;
        yield toRow(columns, step.value);
      }
    } finally {
      // An iteration that is left early would keep the database open.
      found.return?.();
    }
  }

  /** All rows of a query. */
  all(sql: string, ...values: readonly SourceValue[]): readonly JsonObject[] {
    return this.#wrapErrors(() => {
      const { statement, columns } = this.#prepare(sql);
      return statement.all(...values).map((row) => toRow(columns, row));
    });
  }

  /** The first row of a query; undefined: it has none. For a query that is asked for each of many rows. */
  first(sql: string, ...values: readonly SourceValue[]): JsonObject | undefined {
    return this.#wrapErrors(() => {
      const { statement, columns } = this.#prepare(sql);
      const row = statement.get(...values);
      return row && toRow(columns, row);
    });
  }

  #prepare(sql: string): PreparedQuery {
    const known = this.#statements.get(sql) ?? this.#prepareNew(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #prepareNew(sql: string): PreparedQuery {
    // Arrays: the driver takes longer to make objects of rows.
    const statement = this.#database.prepare<unknown[], unknown[]>(sql).raw();
    return { statement, columns: statement.columns().map(({ name }) => name) };
  }

  /** The names of the tables. */
  tables(): ReadonlySet<string> {
    return new Set(this.all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => String(name)));
  }

  /** The columns of a table; empty if there is no such table. */
  columns(table: string): ReadonlySet<string> {
    return new Set(this.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name)));
  }

  /** Closes the database and removes the copy. Call it also after an error. */
  close(): void {
    this.#database.close();
    this.#copy?.remove();
  }

  #wrapErrors<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code === "SQLITE_NOTADB") throw new UnknownFormatError(this.path, "it is no SQLite database");
      if (code.startsWith("SQLITE_")) throw new SourceUnreadableError(this.path, reasonOf(code), { cause: error });
      throw error;
    }
  }
}

function toRow(columns: readonly string[], values: readonly unknown[]): JsonObject {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at];
    if (column !== undefined) row[column] = values[at];
  }
  return row;
}

const BUSY = "another program writes it all the time or locks it; try again";

const tablesOfHead = new WeakMap<FileHead, ReadonlySet<string>>();

/** The database that was copied for its tables and not read since, of each import. */
const detected = new WeakMap<SourceFolders, SourceDatabase>();

/**
 * The tables of the file with this head; empty if it is no SQLite database. Read once, and without a copy where possible. A copy is
 * kept for {@link openDetected}.
 *
 * @param folders the import, which calls {@link closeDetected} after each file. undefined: no copy is kept.
 * @throws {SourceNotFoundError | SourceUnreadableError | UnknownFormatError} what {@link SourceDatabase} throws.
 */
export function tablesOf(head: FileHead, folders?: SourceFolders): ReadonlySet<string> {
  const known = tablesOfHead.get(head);
  if (known !== undefined) return known;
  const tables = head.isSqlite ? readDetected(head.path, folders, (database) => database.tables()) : new Set<string>();
  tablesOfHead.set(head, tables);
  return tables;
}

/** The columns of a table of the file with this head, read from the copy that {@link tablesOf} made if there is one. @throws the same. */
export function columnsOf({ path }: FileHead, table: string, folders?: SourceFolders): ReadonlySet<string> {
  return readDetected(path, folders, (database) => database.columns(table));
}

function readDetected<T>(path: string, folders: SourceFolders | undefined, read: (database: SourceDatabase) => T): T {
  const database = openDetected(path, folders, { mostCopiedBytes: 0 });
  try {
    const found = read(database);
    if (folders === undefined || !database.isCopy) database.close();
    else {
      closeDetected(folders);
      detected.set(folders, database);
    }
    return found;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a database: the copy that its detection made, or else anew. The caller closes it. @throws what {@link SourceDatabase} throws. */
export function openDetected(path: string, folders: SourceFolders | undefined, options?: SourceDatabaseOptions): SourceDatabase {
  const known = folders && detected.get(folders);
  if (folders === undefined || known?.path !== path) return new SourceDatabase(path, options);
  detected.delete(folders);
  return known;
}

/** Closes a database that was detected and that nothing reads. */
export function closeDetected(folders: SourceFolders): void {
  detected.get(folders)?.close();
  detected.delete(folders);
}

function reasonOf(code: string): string {
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return BUSY;
  // SQLite also returns this code for a transaction that has just begun, as if its program had been stopped.
  if (code === "SQLITE_READONLY_ROLLBACK") return `${BUSY}, or start that program once if it was stopped while it wrote`;
  if (code.startsWith("SQLITE_CORRUPT")) return "the database is damaged";
  return `SQLite says ${code}`;
}
