import { BoughError } from "./bough-error.js";

// Errors of a store on a PostgreSQL server. `server` is the address without its password: `postgres://ada@db.example.com:5432/agents`.

/** The failure of a server. */
export type ServerErrorCode =
  | "SERVER_UNAVAILABLE"
  | "SERVER_LOGIN"
  | "DATABASE_NOT_FOUND"
  | "SERVER_RIGHTS"
  | "SERVER_FULL"
  | "SERVER_UNSUITABLE"
  | "SERVER_TIMEOUT"
  | "SERVER_REFUSED";

/** A failure of the server: the sentence about it, and the remedy. */
interface Failure {
  readonly says: (server: string, reason: string) => string;
  readonly hint?: string;
}

const UNWRITTEN = "Nothing was written.";

const FAILURES: Readonly<Record<ServerErrorCode, Failure>> = {
  /**
   * The server cannot be reached: there is none, it is starting or stopping, its certificate cannot be verified, or it did not answer in
   * time. Nothing was sent.
   */
  SERVER_UNAVAILABLE: {
    says: (server, reason) => `Cannot connect to ${server}: ${reason}. ${UNWRITTEN}`,
    hint: "Check that the server runs and accepts connections.",
  },
  /** The server refused the login: a wrong or missing password, an unknown user, or a rule of its `pg_hba.conf`. */
  SERVER_LOGIN: {
    says: (server, reason) => `${server} refused the login: ${reason}.`,
    hint: "Give the password in the environment variable PGPASSWORD, in the file ~/.pgpass, or in the url.",
  },
  /** The server has no database with this name. */
  DATABASE_NOT_FOUND: { says: (server, reason) => `${server}: ${reason}.` },
  /** The user of the connection lacks a right, for example to create the schema or to read a table. */
  SERVER_RIGHTS: {
    says: (server, reason) => `${server}: ${reason}. ${UNWRITTEN}`,
    hint: "Ask the owner of the database for the rights in docs/postgres.md.",
  },
  /** The server, the database or the user has as many connections as it may have. */
  SERVER_FULL: {
    says: (server, reason) => `${server} takes no more connections: ${reason}. ${UNWRITTEN}`,
    hint: "Use fewer `connections` for each store, raise max_connections, or put a pooler before the server.",
  },
  /** The server is too old, or the database cannot hold a store. */
  SERVER_UNSUITABLE: { says: (server, reason) => `${server} cannot be used: ${reason}. ${UNWRITTEN}` },
  /**
   * The server ended a statement: it took longer than the `statement_timeout` of the role, the database or the server, or an administrator
   * cancelled it.
   */
  SERVER_TIMEOUT: {
    says: (server, reason) => `${server} ended the operation: ${reason}. ${UNWRITTEN}`,
    hint: "Try again, or raise the statement_timeout of the role: ALTER ROLE name SET statement_timeout = '60s'",
  },
  /** The server refused a statement for a reason that has no code of its own: a value out of range, a limit, or a fault of its own. */
  SERVER_REFUSED: { says: (server, reason) => `${server} refused the operation: ${reason}. ${UNWRITTEN}` },
};

/** A server cannot be used, or it refused an operation; `code` says why. Nothing was written. */
export class ServerError extends BoughError {
  readonly code: ServerErrorCode;
  readonly server: string;
  readonly reason: string;

  constructor(code: ServerErrorCode, server: string, reason: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    const { says, hint } = FAILURES[code];
    super(says(server, reason), { hint, ...options });
    this.code = code;
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
