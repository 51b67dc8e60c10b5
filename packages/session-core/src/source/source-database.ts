import type Database from "better-sqlite3";
import { SourceUnreadableError, UnknownFormatError } from "../errors/import-errors.js";
import { openSqlite } from "../sqlite/driver.js";
import { isObject, type JsonObject } from "./json.js";
import { statPath } from "./source-file.js";

/** How long a read waits for a program that locks its database, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** A value of a row. Blobs are bytes. */
export type SourceValue = string | number | bigint | Uint8Array | null;

/**
 * A SQLite database of another program, open for reading. It may be in use: its write-ahead log is read too, and all rows are of
 * one moment, that of the first read. Nothing is written into it.
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
  readonly #database: Database.Database;

  /**
   * @throws {SourceNotFoundError} there is no file at `path`.
   * @throws {SourceUnreadableError} another program locks it, it is damaged, or it cannot be opened.
   * @throws {UnknownFormatError} the file is no SQLite database.
   */
  constructor(path: string) {
    this.path = path;
    if (!statPath(path).isFile()) throw new SourceUnreadableError(path, "it is not a file");
    this.#database = this.#wrapErrors(() => openSqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS }));
    try {
      this.#wrapErrors(() => {
        this.#database.pragma("query_only = 1");
        this.#database.exec("BEGIN");
      });
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** The rows of a query, one at a time. Only one iteration is open at a time; use `all` inside another one. */
  *rows(sql: string, ...values: readonly SourceValue[]): Generator<JsonObject, void, void> {
    const found = this.#wrapErrors(() => this.#database.prepare(sql).iterate(...values));
    for (;;) {
      const step = this.#wrapErrors(() => found.next());
      if (step.done === true) return;
      if (isObject(step.value)) yield step.value;
    }
  }

  /** All rows of a query. */
  all(sql: string, ...values: readonly SourceValue[]): readonly JsonObject[] {
    return this.#wrapErrors(() => this.#database.prepare(sql).all(...values)).filter(isObject);
  }

  /** The columns of a table; empty if there is no such table. */
  columns(table: string): ReadonlySet<string> {
    return new Set(this.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name)));
  }

  close(): void {
    this.#database.close();
  }

  #wrapErrors<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (code === "SQLITE_NOTADB") throw new UnknownFormatError(this.path, "it is no SQLite database");
      if (code.startsWith("SQLITE_")) throw new SourceUnreadableError(this.path, reasonOf(code), { cause: error });
      throw error;
    }
  }
}

function reasonOf(code: string): string {
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "another program locks it; try again";
  if (code.startsWith("SQLITE_CORRUPT")) return "the database is damaged";
  return `SQLite says ${code}`;
}
