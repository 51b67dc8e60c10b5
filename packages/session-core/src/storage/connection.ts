import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { NewerStoreError, StoreClosedError, StoreReadOnlyError } from "../errors/store-errors.js";
import { isSqliteFailure, storeFailure } from "./failures.js";
import { identify, requirePresent } from "./identity.js";
import { migrate, SUPPORTED_VERSION, versionOf } from "./migrate.js";
import type { Query } from "./query.js";

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

type Row = Record<string, unknown>;

/**
 * The one door to SQLite. Everything behind it is synchronous, so that no `await` can split a transaction; every
 * failure of the file, the disk or a lock comes out as a typed error.
 */
export class Connection {
  readonly #file: Database.Database;
  readonly #statements = new Map<Query<never, unknown>, Bound>();
  readonly #beginWrite: Database.Statement;
  readonly #beginRead: Database.Statement;
  readonly #commit: Database.Statement;
  readonly path: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;

  /** @throws the errors of `identify`, `StoreNotFoundError`, `StoreUnavailableError` and `StoreBusyError`. */
  static open(options: ConnectionOptions): Connection {
    try {
      return new Connection(options.path === ":memory:" ? openInMemory() : openFile(options), options);
    } catch (error) {
      throw storeFailure(error, options.path, options.busyTimeoutMs);
    }
  }

  private constructor(file: Database.Database, options: ConnectionOptions) {
    this.#file = file;
    this.path = options.path;
    this.readOnly = options.mode === "read-only";
    this.busyTimeoutMs = options.busyTimeoutMs;
    configure(file, options);
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
    return this.#guard(() => this.#transaction(body, this.#beginWrite));
  }

  /** Runs `body` on one snapshot: what other processes commit meanwhile is not seen. */
  read<T>(body: () => T): T {
    if (this.#file.inTransaction) return body();
    return this.#guard(() => this.#transaction(body, this.#beginRead));
  }

  /** The first row of the answer, or undefined. */
  get<P, R>(query: Query<P, R>, parameters: P): R | undefined {
    return this.#guard(() => {
      const { statement, bind } = this.#prepared(query);
      return statement.get(bind(parameters as Row)) as R | undefined;
    });
  }

  /** Every row of the answer. */
  all<P, R>(query: Query<P, R>, parameters: P): R[] {
    return this.#guard(() => {
      const { statement, bind } = this.#prepared(query);
      return statement.all(bind(parameters as Row)) as R[];
    });
  }

  /** The rows one by one, for answers that must not be held whole. Nothing else may run on this connection meanwhile. */
  *iterate<P, R>(query: Query<P, R>, parameters: P): IterableIterator<R> {
    const { statement, bind } = this.#guard(() => this.#prepared(query));
    yield* statement.iterate(bind(parameters as Row)) as IterableIterator<R>;
  }

  /** Runs a statement that writes. `rowid`: of the row it inserted last. */
  run<P>(query: Query<P, unknown>, parameters: P): { readonly changes: number; readonly rowid: number } {
    return this.#guard(() => {
      const { statement, bind } = this.#prepared(query);
      const result = statement.run(bind(parameters as Row));
      return { changes: result.changes, rowid: Number(result.lastInsertRowid) };
    });
  }

  /** A pragma's rows. Settings belong into `configure`; this is for checks. */
  pragma(text: string): readonly Row[] {
    return this.#guard(() => this.#file.pragma(text) as Row[]);
  }

  /** Copies the whole store into a new file while others read and write: SQLite's online backup. Pages are 4 KiB. */
  async backup(path: string, onProgress?: (donePages: number, totalPages: number) => void): Promise<void> {
    try {
      await this.#file.backup(path, {
        progress: ({ totalPages, remainingPages }) => {
          onProgress?.(totalPages - remainingPages, totalPages);
          return 2000;
        },
      });
    } catch (error) {
      throw storeFailure(error, path, this.busyTimeoutMs);
    }
  }

  /** Folds the journal into the file and empties it, so that nothing deleted is left in it. Gives up where others read. */
  truncateJournal(): void {
    if (!this.readOnly) this.pragma("wal_checkpoint(TRUNCATE)");
  }

  get open(): boolean {
    return this.#file.open;
  }

  /** Closes the file. A second call does nothing. */
  close(): void {
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
    const bound = { statement: this.#file.prepare<unknown[]>(sql), bind };
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
  readonly statement: Database.Statement<unknown[]>;
  readonly bind: (parameters: Row) => unknown[];
}

function openInMemory(): Database.Database {
  const file = new Database(":memory:");
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
  const file = new Database(path, { readonly: mode === "read-only", timeout: options.busyTimeoutMs });
  try {
    // Sessions hold secrets: a new store is its user's alone. SQLite gives its side files the same mode.
    if (identity.kind === "absent") chmodSync(path, 0o600);
    // The schema is committed before the journal becomes a WAL, so the header of the file itself says whose it is.
    if (mode !== "read-only") migrate(file, path);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function refuseNewer({ path, busyTimeoutMs }: ConnectionOptions): void {
  const file = new Database(path, { readonly: true, timeout: busyTimeoutMs });
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
