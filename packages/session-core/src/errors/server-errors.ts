import { BoughError } from "./bough-error.js";

// Errors of a store on a PostgreSQL server. `server` is the address without its password: `postgres://ada@db.example.com:5432/agents`.

/**
 * The server cannot be reached: there is none, it is starting or stopping, its certificate cannot be verified, or it did not answer in
 * time. Nothing was sent, so nothing was written.
 */
export class ServerUnavailableError extends BoughError {
  readonly code = "SERVER_UNAVAILABLE";
  readonly server: string;
  readonly reason: string;

  constructor(server: string, reason: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`Cannot connect to ${server}: ${reason}. Nothing was written.`, {
      hint: "Check that the server runs and accepts connections.",
      ...options,
    });
    this.server = server;
    this.reason = reason;
  }
}

/** The server refused the login: a wrong or missing password, an unknown user, or a rule of its `pg_hba.conf`. */
export class ServerLoginError extends BoughError {
  readonly code = "SERVER_LOGIN";
  readonly server: string;
  readonly reason: string;

  constructor(server: string, reason: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`${server} refused the login: ${reason}.`, { hint: GIVE_PASSWORD, ...options });
    this.server = server;
    this.reason = reason;
  }
}

const GIVE_PASSWORD = "Give the password in the environment variable PGPASSWORD, in the file ~/.pgpass, or in the url.";

/** The server has no database with this name. */
export class DatabaseNotFoundError extends BoughError {
  readonly code = "DATABASE_NOT_FOUND";
  readonly server: string;
  readonly database: string;

  constructor(server: string, database: string, options: { cause?: unknown } = {}) {
    super(`${server}: the server has no database ${database}.`, { ...options, hint: `Create it: createdb ${database}` });
    this.server = server;
    this.database = database;
  }
}

/** The user of the connection lacks a right, for example to create the schema or to read a table. Nothing was written. */
export class ServerRightsError extends BoughError {
  readonly code = "SERVER_RIGHTS";
  readonly server: string;
  readonly reason: string;

  constructor(server: string, reason: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`${server}: ${reason}. Nothing was written.`, {
      hint: "Ask the owner of the database for the rights in docs/postgres.md.",
      ...options,
    });
    this.server = server;
    this.reason = reason;
  }
}

/** All connections of the store were in use for longer than the busy timeout. Nothing was written. */
export class PoolExhaustedError extends BoughError {
  readonly code = "POOL_EXHAUSTED";
  readonly connections: number;
  readonly waitedMs: number;

  constructor(connections: number, waitedMs: number, options: { cause?: unknown } = {}) {
    const all = connections === 1 ? "The connection of the store was" : `All ${connections} connections of the store were`;
    super(`${all} in use for ${waitedMs} ms. Nothing was written.`, {
      ...options,
      hint: "Try again, or open the store with more `connections`.",
    });
    this.connections = connections;
    this.waitedMs = waitedMs;
  }
}

/** The server, the database or the user has as many connections as it may have. Nothing was written. */
export class ServerFullError extends BoughError {
  readonly code = "SERVER_FULL";
  readonly server: string;

  constructor(server: string, reason: string, options: { cause?: unknown } = {}) {
    super(`${server} takes no more connections: ${reason}. Nothing was written.`, {
      ...options,
      hint: "Use fewer `connections` for each store, raise max_connections, or put a pooler before the server.",
    });
    this.server = server;
  }
}

/** The server is too old, or the database cannot hold a store. Nothing was written. */
export class ServerUnsuitableError extends BoughError {
  readonly code = "SERVER_UNSUITABLE";
  readonly server: string;
  readonly reason: string;

  constructor(server: string, reason: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`${server} cannot be used: ${reason}. Nothing was written.`, options);
    this.server = server;
    this.reason = reason;
  }
}

/**
 * The server ended a statement: it took longer than the `statement_timeout` of the role, the database or the server, or an administrator cancelled it.
 * Nothing was written.
 */
export class ServerTimeoutError extends BoughError {
  readonly code = "SERVER_TIMEOUT";
  readonly server: string;
  readonly reason: string;

  constructor(server: string, reason: string, options: { cause?: unknown } = {}) {
    super(`${server} ended the operation: ${reason}. Nothing was written.`, {
      ...options,
      hint: "Try again, or raise the statement_timeout of the role: ALTER ROLE name SET statement_timeout = '60s'",
    });
    this.server = server;
    this.reason = reason;
  }
}

/** The server refused a statement for a reason that has no error of its own: a value out of range, a limit, or a fault of its own. Nothing was written. */
export class ServerRefusedError extends BoughError {
  readonly code = "SERVER_REFUSED";
  readonly server: string;
  readonly reason: string;
  /** The SQLSTATE of the server, five characters. */
  readonly state: string;

  constructor(server: string, state: string, reason: string, options: { cause?: unknown } = {}) {
    super(`${server} refused the operation: ${reason} (${state}). Nothing was written.`, options);
    this.server = server;
    this.state = state;
    this.reason = reason;
  }
}

/**
 * The connection broke in the middle of an operation, and the server did not come back within the busy timeout. `written` is the
 * outcome of a write: `nothing`, or `unknown` if the commit was sent and its outcome could not be queried any more. Until then the
 * operation was retried, so no other caller sees this error.
 */
export class ConnectionLostError extends BoughError {
  readonly code = "CONNECTION_LOST";
  readonly server: string;
  readonly written: "nothing" | "unknown";

  constructor(server: string, written: "nothing" | "unknown", options: { cause?: unknown } = {}) {
    const outcome = written === "nothing" ? "Nothing was written." : "It is not known whether the operation was written.";
    const hint =
      written === "nothing"
        ? "Try again."
        : "Repeat it with the same ids: entries that were written are not written twice. Or read the session again.";
    super(`The connection to ${server} was lost. ${outcome}`, { ...options, hint });
    this.server = server;
    this.written = written;
  }
}

/** The package `@bough/postgres`, the storage engine for PostgreSQL, is not installed or cannot be loaded. */
export class PostgresDriverError extends BoughError {
  readonly code = "POSTGRES_DRIVER";

  constructor(options: { cause?: unknown } = {}) {
    super("A store on a PostgreSQL server needs the package @bough/postgres, which cannot be loaded.", {
      ...options,
      hint: "Install it: npm install @bough/postgres",
    });
  }
}

/** A store on a server does not support this operation; the hint names the alternative. Nothing was done. */
export class UnsupportedOperationError extends BoughError {
  readonly code = "UNSUPPORTED_OPERATION";

  constructor(message: string, hint: string) {
    super(message, { hint });
  }
}
